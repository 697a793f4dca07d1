/** Takes the tour of the playground as a visitor does. */

import type { Page } from 'playwright';

/** The visitor's steps at each stop, from its start button until the tour marks it as done. */
const acts: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  'An approval': (page) => page.getByTestId('approve').click(),
  async 'An edit, undone'(page) {
    await page.locator('[data-testid=tour-say][data-progress=yours]').waitFor();
    await page.getByTestId('tree-undo').click();
  },
  async 'A plan with sub-agents'(page) {
    await page.getByTestId('plan-question').getByRole('textbox').fill('Hamburg');
    await page.keyboard.press('Enter');
  },
  'An answer with sources': (page) => page.getByTestId('citation').last().click(),
  async 'A stream, interrupted and resumed'(page) {
    await page.getByTestId('tour-act').getByText('Stop reading').click();
    await page.getByTestId('left-reading').waitFor();
    await page.getByTestId('tour-act').getByText('Resume reading').click();
  },
  async 'Pull the plug'(page) {
    await page.locator('[data-testid=plan-node][data-address="1-1"]').waitFor();
    await page.getByTestId('tour-act').getByText('Pull the plug').click();
    await page.getByTestId('plan-question').getByRole('textbox').fill('Hamburg');
    await page.keyboard.press('Enter');
  },
};

/** The stop that is open, by its title. */
export async function titleOf(page: Page): Promise<string> {
  const heading = await page.getByTestId('tour').getByRole('heading').textContent();
  return heading?.replace(/^\d+ of \d+\s*/, '') ?? '';
}

/** Takes the open stop until the tour marks it as done; returns its title and the tour's text. */
export async function takeStop(page: Page): Promise<readonly [title: string, said: string]> {
  const title = await titleOf(page);
  await page.getByTestId('tour-start').click();
  await acts[title]?.(page);
  await page.locator('[data-testid=tour-say][data-progress=done]').waitFor({ timeout: 60_000 }).catch(async (error) => {
    const shown = await Promise.all(
      ['tour-say', 'plan'].map((id) => page.getByTestId(id).last().innerText().catch(String)),
    );
    throw new Error(`The stop “${title}” is not done; the page says: ${shown.join(' | ')}`, { cause: error });
  });
  return [title, await page.getByTestId('tour-say').textContent() ?? ''];
}

/** What the tour says in the end of each stop. */
export const happened: readonly (readonly [title: string, said: RegExp])[] = [
  ['A tool call', /convert_units/],
  ['An approval', /the note was deleted/],
  ['One tool of 500', /loaded “ticket_create” alone.* tokens of definitions were never sent/],
  ['An edit, undone', /You undid the agent’s change/],
  ['A plan with sub-agents', /3 sub-agents did their parts/],
  ['An answer with sources', /The citation opened/],
  ['A failure and a retry', /the second call succeeded/],
  ['A stream, interrupted and resumed', /stopped after chunk \d+/],
  ['Pull the plug', /kept the finished tasks, and completed the plan/],
];
