import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright';
import { describe, expect, it } from 'vitest';
import { type EvalCase, fromJsonLines } from '../../../../src/evals/index.ts';
import { fillRecord } from '../../../tools/browsers/mcp-server.ts';
import { send, usePlayground } from '../../../tools/browsers/playground.ts';

const { open, shoot } = usePlayground();

const totals = (page: Page) => page.getByTestId('eval-totals');
const cases = (page: Page) => page.getByTestId('eval-case');

/** Asks, and saves the run as a test case. */
async function record(page: Page, text: string): Promise<void> {
  const before = await page.getByTestId('answer-footer').count();
  await send(page, text);
  await page.getByTestId('answer-footer').nth(before).waitFor();
  await page.getByTestId('inspect').last().click();
  await page.getByTestId('save-case').click();
  await page.getByTestId('open-evals').waitFor();
}

const go = (page: Page, hash: string) => page.evaluate((to) => void (location.hash = to), hash);

async function run(page: Page): Promise<void> {
  await page.getByTestId('eval-run').click();
  await page.locator('[data-testid=evals][aria-busy=false]').waitFor();
}

async function download(page: Page, button: string): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByTestId(button).click()]);
  return await readFile(await file.path(), 'utf8');
}

describe('test cases in the playground', () => {
  it('are saved from runs, run with recorded answers, and downloaded for the command line', async () => {
    const { page, problems } = await open();
    await record(page, 'What is 6 * 7?');
    await page.getByTestId('runs-back').click();
    await record(page, 'Convert 26.2 miles to kilometers');
    await page.getByTestId('open-evals').click();
    await cases(page).nth(1).waitFor();
    expect(new URL(page.url()).hash).toMatch(/^#\/runs\/tests\b/);
    await page.getByTestId('eval-answers').selectOption('replay');
    await run(page);
    await totals(page).getByText('0 passed, 2 failed, 2 answers not recorded').waitFor();
    await cases(page).first().locator('summary').first().click();
    await page.getByTestId('eval-why').first().getByText('not recorded').waitFor();
    await page.getByTestId('eval-answers').selectOption('auto');
    await run(page);
    await totals(page).getByText('2 passed, 0 failed').waitFor();
    await page.getByTestId('eval-comparison').getByText('2 cases better, 0 worse').waitFor();
    await page.getByTestId('eval-answers').selectOption('replay');
    await run(page);
    await page.getByTestId('eval-comparison').getByText('0 cases better, 0 worse').waitFor();
    await shoot(page, 'evals-passed');
    const saved = fromJsonLines<EvalCase>(await download(page, 'eval-save-cases'));
    expect(saved.map(({ v, agent, expected }) => [v, agent.id, expected.state])).toEqual([
      [1, 'navigator', 'completed'],
      [1, 'navigator', 'completed'],
    ]);
    const tape = fromJsonLines<{ readonly parts: readonly unknown[] }>(await download(page, 'eval-save-tape'));
    expect(tape).toHaveLength(4);
    await page.reload();
    await totals(page).getByText('2 passed, 0 failed').waitFor();
    expect(problems).toEqual([]);
  });

  it('show what a new revision of the agent does differently', async () => {
    const { page, problems } = await open();
    await record(page, 'What is 6 * 7?');
    await page.getByTestId('open-evals').click();
    await run(page);
    await totals(page).getByText('1 passed, 0 failed').waitFor();
    await go(page, '#/agents/agent/navigator/edit');
    await fillRecord(page, { entryTools: 'current_time' });
    await page.getByTestId('record-save').click();
    await page.getByTestId('record-page').waitFor();
    await go(page, '#/runs/evals');
    await run(page);
    await totals(page).getByText('0 passed, 1 failed').waitFor();
    await page.getByTestId('eval-comparison').getByText('0 cases better, 1 worse').waitFor();
    await cases(page).locator('summary').first().click();
    await page.getByTestId('eval-before').getByTestId('fork-mark').getByText('Not in the latest').waitFor();
    await shoot(page, 'evals-worse');
    await page.getByTestId('eval-agent').selectOption('recorded');
    await run(page);
    await totals(page).getByText('1 passed, 0 failed').waitFor();
    await page.getByTestId('eval-comparison').getByText('1 case better, 0 worse').waitFor();
    await page.getByTestId('eval-remove').click();
    await page.getByTestId('evals-empty').waitFor();
    expect(problems).toEqual([]);
  });
});
