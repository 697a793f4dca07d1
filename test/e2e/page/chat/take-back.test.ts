import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { send, usePlayground } from '../../../tools/browsers/playground.ts';
import { tooWide, violationsInBoth } from '../../../tools/screens/look.ts';

const { open, shoot } = usePlayground();

async function note(page: Page, text: string): Promise<void> {
  const before = await page.getByTestId('answer-footer').count();
  await send(page, `Add a note: "${text}"`);
  await page.getByTestId('answer-footer').nth(before).waitFor();
}

describe('an answer that has acted', () => {
  it('is taken back after a look at what it did, and the chat says so', async () => {
    const { page, problems, strangers } = await open();
    await page.locator('[data-testid=agent-card][data-agent=logbook]').click();
    await note(page, 'buy rope');
    await note(page, 'buy paint');
    for (const text of ['buy paint', 'buy rope']) {
      const answer = page.locator('[data-testid=message][data-role=assistant]').filter({ hasText: text }).first();
      await answer.getByTestId('take-back-open').click();
      await page.getByTestId('take-back-calls').getByText(text).waitFor();
      expect([...await violationsInBoth(page), ...await tooWide(page)]).toEqual([]);
      await shoot(page, 'take-back');
      await page.getByTestId('take-back-confirm').click();
      await page.getByTestId('take-back-report').getByText('1 call taken back.').waitFor();
      await page.getByTestId('take-back-close').click();
      await page.getByText(`Taken back: Add a note: “${text}”.`).waitFor();
    }
    await page.reload();
    await page.getByText('Taken back: Add a note: “buy rope”.').waitFor();
    await send(page, 'List my notes');
    await page.locator('[data-testid=tool-card][data-tool=notes_list][data-state=result]').waitFor();
    expect(await page.getByTestId('message').last().innerText()).not.toMatch(/buy (?:rope|paint)/);
    expect([problems, strangers]).toEqual([[], []]);
  });

  it('is taken back by two of its steps, and the first stays', async () => {
    const { page, problems } = await open();
    await page.locator('[data-testid=agent-card][data-agent=logbook]').click();
    await send(page, 'Add a note: "buy tar", then add a note: "buy rope", then add a note: "buy paint"');
    await page.getByTestId('take-back-open').click();
    const calls = page.getByTestId('take-back-calls').getByRole('listitem');
    await expect.poll(() => calls.count()).toBe(3);
    await page.getByTestId('take-back-steps').selectOption('1');
    await expect.poll(() => calls.count()).toBe(2);
    await page.getByTestId('take-back-confirm').click();
    await page.getByTestId('take-back-report').getByText('2 calls taken back.').waitFor();
    await page.getByTestId('take-back-close').click();
    await page.getByText('Taken back: Add a note: “buy paint”; Add a note: “buy rope”.').waitFor();
    await send(page, 'List my notes');
    await page.locator('[data-testid=tool-card][data-tool=notes_list][data-state=result]').waitFor();
    const said = await page.getByTestId('message').last().innerText();
    expect([/buy tar/.test(said), /buy (?:rope|paint)/.test(said)]).toEqual([true, false]);
    expect(problems).toEqual([]);
  });
});
