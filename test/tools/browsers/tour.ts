/** The tour of the playground, gone through as a visitor does. */

import type { Page } from 'playwright';

/** What the visitor does at each stop, after the button that begins it, until the tour says that it has happened. */
const acts: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  'An approval': (page) => page.getByTestId('approve').click(),
  async 'An edit, and back'(page) {
    await page.locator('[data-testid=tour-say][data-progress=yours]').waitFor();
    await page.getByTestId('tree-undo').click();
  },
  async 'A plan with sub-agents'(page) {
    await page.getByTestId('plan-question').getByRole('textbox').fill('Hamburg');
    await page.keyboard.press('Enter');
  },
  'An answer with its sources': (page) => page.getByTestId('citation').last().click(),
  async 'A stream, interrupted and resumed'(page) {
    await page.getByTestId('tour-act').getByText('Stop reading').click();
    await page.getByTestId('left-reading').waitFor();
    await page.getByTestId('tour-act').getByText('Resume reading').click();
  },
};

/** The stop that is open, by its title. */
export async function titleOf(page: Page): Promise<string> {
  const heading = await page.getByTestId('tour').getByRole('heading').textContent();
  return heading?.replace(/^\d+ of \d+\s*/, '') ?? '';
}

/** Goes through the open stop until the tour says that it has happened; gives its title and what the tour says then. */
export async function takeStop(page: Page): Promise<readonly [title: string, said: string]> {
  const title = await titleOf(page);
  await page.getByTestId('tour-begin').click();
  await acts[title]?.(page);
  await page.locator('[data-testid=tour-say][data-progress=done]').waitFor({ timeout: 60_000 });
  return [title, await page.getByTestId('tour-say').textContent() ?? ''];
}

/** What the tour says in the end of each stop. */
export const happened: readonly (readonly [title: string, said: RegExp])[] = [
  ['A tool call', /convert_units/],
  ['An approval', /the note was deleted/],
  ['One tool of 500', /loaded “ticket_create” alone.* tokens of definitions were never sent/],
  ['An edit, and back', /You undid the agent’s change/],
  ['A plan with sub-agents', /3 sub-agents did their parts/],
  ['An answer with its sources', /The citation opened/],
  ['A failure, and the second try', /the second call succeeded/],
  ['A stream, interrupted and resumed', /stopped after chunk \d+/],
];
