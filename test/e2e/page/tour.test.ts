import { describe, expect, it } from 'vitest';
import { usePlayground } from '../../tools/browsers/playground.ts';
import { happened, takeStop, titleOf } from '../../tools/browsers/tour.ts';

const { newContext, open, shoot } = usePlayground();

describe('the tour', () => {
  it('leads through nine real runs, in each of which the thing to see happens', async () => {
    const { page, problems } = await open();
    await page.getByTestId('open-tour').click();
    for (const [title, said] of happened) {
      expect(await takeStop(page)).toEqual([title, expect.stringMatching(said)]);
      await shoot(page, `tour-${title.replaceAll(/\W+/g, '-')}`);
      await page.getByTestId('tour-next').click();
    }
    await page.getByTestId('tour-remove').click();
    await expect.poll(() => page.getByTestId('chat-item').count()).toBe(0);
    await shoot(page, 'tour-end');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('ends a worker that would outlast the reload, and finishes the plan in a new one', async () => {
    const { page, problems } = await open({ context: await newContext({ lasting: true }) });
    await page.getByTestId('open-tour').click();
    await page.getByTestId('tour-step').last().click();
    const [, said] = await takeStop(page);
    expect(said).toMatch(/nothing was lost/);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('continues after a reload, on a narrow screen and by the keyboard alone', async () => {
    const { page } = await open({ width: 360, height: 740, dark: true });
    await shoot(page, 'tour-welcome-360');
    await page.getByTestId('open-tour').press('Enter');
    await page.getByTestId('tour').waitFor();
    await page.getByTestId('tour-start').press('Enter');
    await page.locator('[data-testid=tour-say][data-progress=done]').waitFor();
    await shoot(page, 'tour-call-360');
    await page.getByTestId('tour-how').press('Enter');
    await page.getByTestId('runs').getByTestId('waterfall').waitFor();
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
    await page.getByTestId('tour-start').press('Enter');
    await page.getByTestId('approve').waitFor();
    await shoot(page, 'tour-approval-360');
    await page.context().close();
  });
});
