import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { usePlayground } from '../../tools/browsers/playground.ts';
import { tooWide, violationsInBoth } from '../../tools/screens/look.ts';

const { open, shoot } = usePlayground();

/** Which elements are whole inside the thread's visible part. */
function inSight(page: Page, testId: string): Promise<boolean[]> {
  return page.getByTestId(testId).evaluateAll((elements) =>
    elements.map((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      const dock = document.querySelector('.dock')?.getBoundingClientRect().top ?? 0;
      return top >= 0 && bottom <= dock;
    })
  );
}

describe('the first ten seconds', () => {
  it('say what Pinnace is, with four messages in sight above the composer', async () => {
    const { page, problems } = await open();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('AI agents that run in your browser');
    expect(await page.getByTestId('welcome').textContent()).toContain('Pinnace is an agent runtime in TypeScript');
    expect(await inSight(page, 'suggestion')).toEqual([true, true, true, true]);
    await expect.poll(() => page.getByTestId('agent-card').count()).toBe(8);
    await shoot(page, 'first-wide');
    expect(await violationsInBoth(page)).toEqual([]);
    expect(await tooWide(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  it('show the messages on a phone as well', async () => {
    const { page } = await open({ width: 390, height: 844 });
    expect((await inSight(page, 'suggestion')).filter(Boolean).length).toBeGreaterThanOrEqual(3);
    await shoot(page, 'first-phone');
  });

  it.each(
    [
      [0, '[data-testid=tool-card][data-state=result] >> nth=1'],
      [1, '[data-testid=approval]'],
      [2, '[data-testid=plan][data-state]'],
      [3, '[data-testid=citation]'],
    ] as const,
  )('run message %i at one click', async (at, shows) => {
    const { page, problems } = await open();
    await page.getByTestId('suggestion').nth(at).click();
    await page.locator('[data-testid=message][data-role=assistant]').locator('p, [data-testid]').first().waitFor();
    await page.locator(shows).first().waitFor();
    expect(problems).toEqual([]);
  });

  it('offer a model under a scripted answer', async () => {
    const { page } = await open();
    await page.getByTestId('suggestion').first().click();
    await page.getByTestId('answer-footer').waitFor();
    expect(await page.getByTestId('scripted').textContent()).toContain('scripted demo with real tools');
    await page.getByTestId('connect-model').click();
    await page.getByTestId('settings-dialog').waitFor();
  });

  it('choose no agent for the next chat', async () => {
    const { page } = await open();
    await page.getByTestId('suggestion').nth(1).click();
    await page.getByTestId('approval').waitFor();
    await page.keyboard.press('Control+f'); // also in a short chat
    await page.getByTestId('find-bar').waitFor();
    await page.keyboard.press('Escape');
    await page.getByTestId('new-chat').click();
    await page.getByRole('heading', { name: 'Run one of these' }).waitFor();
    expect(await page.locator('[data-testid=agent-card][data-chosen=true]').getAttribute('data-agent')).toBe(
      'navigator',
    );
  });

  it('show the messages of an agent that is chosen', async () => {
    const { page } = await open();
    await page.locator('[data-testid=agent-card][data-agent=navigator]').click();
    await page.getByRole('heading', { name: 'Try with Exact answers' }).waitFor();
    await page.locator('[data-testid=agent-card][data-agent=drill]').click();
    expect(await page.getByTestId('agent-description').textContent()).toContain('Demonstrates failures');
    expect(await page.getByTestId('suggestion').first().textContent()).toContain('flaky');
  });
});
