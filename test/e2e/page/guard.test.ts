import { describe, expect, it } from 'vitest';
import { attacks } from '../../../demo/guard/state/try-attack.ts';
import { usePlayground } from '../../tools/browsers/playground.ts';

const { open, shoot } = usePlayground();

/** What becomes of each attack at the three levels. */
const expected: Readonly<Record<string, readonly string[]>> = {
  mail: ['passed', 'asks', 'stopped'],
  bill: ['passed', 'asks', 'asks'],
  page: ['passed', 'asks', 'stopped'],
  ticket: ['passed', 'asks', 'stopped'],
  invite: ['passed', 'asks', 'stopped'],
};

describe('the page "Try to trick an agent"', () => {
  it('runs five attacks at three levels in the page, without a request', async () => {
    const { page, problems, strangers } = await open({ width: 360, height: 740 });
    await page.evaluate(() => (location.hash = '#/guard'));
    for (const { id, order } of attacks) {
      await page.getByTestId(`attack-${id}`).click();
      const verdicts = page.getByTestId('verdict');
      await expect.poll(() => verdicts.count(), { timeout: 15_000 }).toBe(3);
      expect(await verdicts.evaluateAll((all) => all.map((one) => one.getAttribute('data-verdict')))).toEqual(
        expected[id],
      );
      const guarded = page.getByTestId('level-guarded');
      expect(await guarded.textContent()).toContain('The model has never seen the order');
      expect(await page.getByTestId('level-open').textContent()).toContain('The model has read the order');
      expect(await page.locator('.guard-order').textContent()).toBe(order);
      await shoot(page, `guard-${id}`);
    }
    expect([problems, strangers]).toEqual([[], []]);
  });
});
