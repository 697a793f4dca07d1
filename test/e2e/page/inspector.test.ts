import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { writeRunFile } from '../../../demo/runs/state/run-file.ts';
import { recordOf } from '../../fixtures/page/inspector.ts';
import { longRun } from '../../fixtures/run-events.ts';
import { send, usePlayground } from '../../tools/browsers/playground.ts';

const { open, shoot } = usePlayground();

async function ask(page: Page, text: string): Promise<void> {
  const before = await page.getByTestId('answer-footer').count();
  await send(page, text);
  await page.getByTestId('answer-footer').nth(before).waitFor();
}

async function inspectLast(page: Page): Promise<void> {
  await page.getByTestId('inspect').last().click();
  await page.getByTestId('run-view').waitFor();
}

/** Opens a file as it lies on a disk. */
async function openFile(page: Page, content: string | Buffer): Promise<void> {
  await page.getByTestId('run-rows').or(page.getByTestId('runs-empty')).first().waitFor({ state: 'attached' });
  const buffer = typeof content === 'string' ? Buffer.from(content) : content;
  await page.getByTestId('run-file').setInputFiles({ name: 'run.json', mimeType: 'application/json', buffer });
}

/** Asks what rules would have said of the calls of the open run. */
async function tryRules(page: Page, picture: string): Promise<void> {
  await page.getByTestId('event-row').first().waitFor();
  await page.getByTestId('open-try-rules').click();
  await page.getByTestId('try-rules-run').click();
  await page.getByTestId('try-rules-result').getByText('2 calls: 2 allowed.').waitFor();
  const rule = { id: 'no-clock', effect: 'deny', actions: ['tool.call'], resources: ['tool:current_time'] };
  await page.getByTestId('try-rules-input').fill(JSON.stringify([rule, { effect: 'allow', actions: ['*'] }]));
  await page.getByTestId('try-rules-run').click();
  await page.getByTestId('try-rules-result').getByText('2 calls: 1 allowed, 1 denied.').waitFor();
  await page.locator('[data-decision=deny]').getByText('current_time').waitFor();
  await shoot(page, picture);
  await page.getByTestId('try-rules-input').fill('[');
  await page.getByTestId('try-rules-run').click();
  await page.getByTestId('try-rules').getByText(/not JSON/).waitFor();
  await page.keyboard.press('Escape');
}

const rows = (page: Page) => page.getByTestId('span-row');
const named = (page: Page, name: string) => page.locator(`[data-testid=span-row][data-name="${name}"]`);

describe('the run inspector in the built playground', () => {
  it('opens a run from its answer as a waterfall of its model calls and tool calls', async () => {
    const { page, problems } = await open();
    await ask(page, 'Calculate (1250 * 12 + 499) / 7, and what is the current time in New York?');
    await inspectLast(page);
    await named(page, 'tool.call').first().waitFor();
    await expect.poll(() => named(page, 'run').count()).toBe(1);
    await expect.poll(() => named(page, 'step').count()).toBe(2);
    await expect.poll(() => named(page, 'model.call').count()).toBe(2);
    await expect.poll(() => named(page, 'tool.call').count()).toBe(2);
    expect(await rows(page).evaluateAll((all) => all.map((row) => row.dataset['status']))).not.toContain('pending');
    await named(page, 'model.call').first().click();
    await page.getByTestId('span-details').getByText('Input tokens', { exact: true }).waitFor();
    await shoot(page, 'inspector-timeline');
    await page.getByTestId('zoom-in').click();
    await shoot(page, 'inspector-zoomed');
    await page.getByTestId('as-table').click();
    await page.getByTestId('span-table').waitFor();
    await shoot(page, 'inspector-table');
    await page.getByTestId('run-tab-tools').click();
    const reasons = await page.getByTestId('left-out').evaluateAll((all) => all.map((one) => one.dataset['reason']));
    expect(reasons).toContain('not_allowed');
    expect(problems).toEqual([]);
  });

  it('saves a run as a file that opens again, with the prompts only when they are asked for', async () => {
    const { page, problems } = await open();
    await ask(page, 'What is 6 * 7?');
    await inspectLast(page);
    const save = async (withPrompts: boolean): Promise<string> => {
      await page.getByTestId('run-save').click();
      if (withPrompts) await page.getByTestId('save-prompts').check();
      if (withPrompts) await shoot(page, 'inspector-save');
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('save-run-now').click()]);
      expect(download.suggestedFilename()).toMatch(/^run-navigator-[\dT-]+\.json$/);
      return await readFile(await download.path(), 'utf8');
    };
    expect(await save(false)).not.toContain('6 * 7');
    const whole = await save(true);
    expect(whole).toContain('6 * 7');
    await page.getByTestId('runs-back').click();
    await page.keyboard.press('Alt+r');
    await openFile(page, whole);
    await page.getByTestId('run-summary').getByText('from a file').waitFor();
    await named(page, 'tool.call').first().waitFor();
    await page.getByTestId('run-tab-prompt').click();
    await page.getByTestId('prompt-message').getByText('What is 6 * 7?').waitFor();
    expect(problems).toEqual([]);
  });

  it('refuses a file that is none, and one that is too large, and runs nothing of what a file holds', async () => {
    const { page, problems } = await open();
    await page.getByTestId('open-runs').click();
    await openFile(page, '<script>alert(1)</script>');
    await page.getByTestId('runs-problem').getByText('it is not JSON').waitFor();
    await openFile(page, Buffer.alloc(17 * 1024 * 1024, 32));
    await page.getByTestId('runs-problem').getByText('larger than 16 MB').waitFor();
    await shoot(page, 'inspector-refused');
    const record = recordOf(longRun(20));
    const hostile = '<img src=x onerror="document.title=1">';
    const events = record.events.map((event) => ({ ...event, target: { type: 'tool', id: hostile }, action: hostile }));
    await openFile(page, writeRunFile({ ...record, events }));
    await rows(page).first().getByText(hostile).first().waitFor();
    expect(await page.locator('.inspector img').count()).toBe(0);
    expect(await page.title()).not.toBe('1');
    expect(problems).toEqual([]);
  });

  it('draws few rows of a run of 2,000 events, and is used by keyboard alone', async () => {
    const { page, problems } = await open();
    await page.getByTestId('open-runs').click();
    const record = recordOf(longRun(900));
    expect(record.events.length).toBeGreaterThan(2000);
    await openFile(page, writeRunFile(record));
    await rows(page).first().waitFor();
    expect(await rows(page).count()).toBeLessThan(80);
    await shoot(page, 'inspector-long');
    const list = page.getByTestId('waterfall');
    await list.focus();
    await page.keyboard.press('End');
    await page.locator('[data-testid=span-row][aria-selected=true]').getByText('tool_899').waitFor();
    /** The most rows that are in the page while the list is scrolled from end to end. */
    const most = await list.evaluate(async (element) => {
      let drawn = 0;
      for (let step = 0; step <= 40; step++) {
        element.scrollTop = element.scrollHeight * (step % 2 === 0 ? step / 40 : 1 - step / 40);
        await new Promise(requestAnimationFrame);
        drawn = Math.max(drawn, element.querySelectorAll('[data-testid=span-row]').length);
      }
      return drawn;
    });
    expect(most).toBeGreaterThan(5);
    expect(most).toBeLessThan(80);
    const map = await page.getByTestId('overview').boundingBox();
    if (!map) throw new Error('There is no overview');
    const draw = async (from: number, to: number): Promise<void> => {
      const y = map.y + map.height / 2;
      await page.mouse.move(map.x + map.width * from, y);
      await page.mouse.down();
      await page.mouse.move(map.x + map.width * to, y, { steps: 5 });
      await page.mouse.up();
    };
    await draw(0.2, 0.4);
    await page.locator('[data-testid=zoom-whole]:enabled').waitFor();
    await draw(0.5, 0.5);
    await page.locator('[data-testid=zoom-whole]:disabled').waitFor();
    await page.getByTestId('waterfall').hover();
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -200);
    await page.keyboard.up('Control');
    await page.locator('[data-testid=zoom-whole]:enabled').waitFor();
    await page.getByTestId('zoom-whole').click();
    await list.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.locator('[data-testid=zoom-whole]:enabled').waitFor();
    await shoot(page, 'inspector-long-zoomed');
    await page.keyboard.press('0');
    await page.locator('[data-testid=zoom-whole]:disabled').waitFor();
    await page.keyboard.press('Escape');
    await page.getByTestId('run-open-file').waitFor();
    expect(problems).toEqual([]);
  });

  it('shows a plan with its agents below the run that has begun it', async () => {
    const { page, problems } = await open();
    await page.locator('[data-testid=agent-card][data-agent=commodore]').click();
    await send(page, 'Calculate 1250 * 12; convert 5 knots to km/h');
    await page.getByTestId('answer-footer').waitFor();
    await inspectLast(page);
    await named(page, 'plan').waitFor();
    await named(page, 'agent').nth(1).waitFor();
    await named(page, 'model.call').first().waitFor();
    await shoot(page, 'inspector-plan');
    await page.getByTestId('run-tab-prompt').click();
    await page.getByTestId('prompt-view').waitFor();
    await shoot(page, 'inspector-plan-prompt');
    await page.getByTestId('run-tab-usage').click();
    await page.getByTestId('usage-view').waitFor();
    await shoot(page, 'inspector-plan-usage');
    expect(problems).toEqual([]);
  });

  it('fits a narrow screen, and the dark', async () => {
    for (const width of [360, 1280]) {
      const { page, problems } = await open({ width, dark: true });
      await ask(page, 'What is 6 * 7, and what is the current time in Tokyo?');
      await inspectLast(page);
      await named(page, 'tool.call').first().waitFor();
      await shoot(page, `inspector-dark-${width}`);
      await named(page, 'tool.call').first().click();
      for (const tab of ['timeline', 'events', 'tools', 'prompt', 'usage']) {
        await page.getByTestId(`run-tab-${tab}`).click();
        if (tab === 'events') await tryRules(page, `inspector-rules-${width}`);
        if (tab === 'prompt') await page.getByTestId('prompt-view').waitFor();
        await shoot(page, `inspector-dark-${width}-${tab}`);
        const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        expect(widths[0]).toBeLessThanOrEqual(widths[1] ?? 0);
      }
      await page.getByTestId('runs-back').click();
      await page.keyboard.press('Alt+r');
      await page.getByTestId('run-row').first().waitFor();
      await shoot(page, `inspector-dark-${width}-list`);
      expect(problems).toEqual([]);
    }
  });
});
