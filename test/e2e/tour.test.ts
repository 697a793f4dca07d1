import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { usePlayground } from '../tools/playground.ts';

const { open, shoot } = usePlayground();

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
  async 'A stream, cut and resumed'(page) {
    await page.getByTestId('tour-act').getByText('Stop reading').click();
    await page.getByTestId('left-reading').waitFor();
    await page.getByTestId('tour-act').getByText('Read on').click();
  },
};

/** The stop that is open, by its title. */
async function titleOf(page: Page): Promise<string> {
  const heading = await page.getByTestId('tour').getByRole('heading').textContent();
  return heading?.replace(/^\d+ of \d+\s*/, '') ?? '';
}

/** Goes through the open stop; gives its title and what the tour says of it in the end. */
async function takeStop(page: Page): Promise<readonly [string, string]> {
  const title = await titleOf(page);
  await page.getByTestId('tour-begin').click();
  await acts[title]?.(page);
  await page.locator('[data-testid=tour-say][data-progress=done]').waitFor({ timeout: 60_000 });
  await shoot(page, `tour-${title.replaceAll(/\W+/g, '-')}`);
  return [title, await page.getByTestId('tour-say').textContent() ?? ''];
}

describe('the tour', () => {
  it('leads through eight real runs, in each of which the thing to see happens', async () => {
    const { page, problems } = await open();
    await page.getByTestId('open-tour').click();
    const said: (readonly [string, string])[] = [];
    for (let i = 0; i < 8; i++) {
      said.push(await takeStop(page));
      await page.getByTestId('tour-next').click();
    }
    expect(said).toEqual([
      ['A tool call', expect.stringContaining('convert_units')],
      ['An approval', expect.stringContaining('the note is gone')],
      [
        'One tool of 500',
        expect.stringMatching(/loaded “ticket_create” alone.* tokens of definitions were never sent/),
      ],
      ['An edit, and back', expect.stringContaining('You undid what the agent did')],
      ['A plan with sub-agents', expect.stringContaining('3 sub-agents did their parts')],
      ['An answer with its sources', expect.stringContaining('The number opened')],
      ['A failure, and the second try', expect.stringContaining('the second call was right')],
      ['A stream, cut and resumed', expect.stringMatching(/stopped after chunk \d+/)],
    ]);
    await page.getByTestId('tour-remove').click();
    await expect.poll(() => page.getByTestId('chat-item').count()).toBe(0);
    await shoot(page, 'tour-end');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('is gone on with after a reload, on a narrow screen and by the keyboard alone', async () => {
    const { page } = await open({ width: 360, height: 740, dark: true });
    await shoot(page, 'tour-welcome-360');
    await page.getByTestId('open-tour').press('Enter');
    await page.getByTestId('tour').waitFor();
    await page.getByTestId('tour-begin').press('Enter');
    await page.locator('[data-testid=tour-say][data-progress=done]').waitFor();
    await shoot(page, 'tour-call-360');
    await page.getByTestId('tour-how').press('Enter');
    await page.getByTestId('inspector').getByTestId('waterfall').waitFor();
    await shoot(page, 'tour-how-360');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByTestId('tour-next').press('Enter');
    expect(await titleOf(page)).toBe('An approval');
    await page.reload();
    await page.getByTestId('composer').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByTestId('switcher-query').waitFor();
    await page.keyboard.type('tour');
    await page.keyboard.press('Enter');
    await page.getByTestId('tour-begin').press('Enter');
    await page.getByTestId('approve').waitFor();
    await shoot(page, 'tour-approval-360');
    await page.context().close();
  });
});
