/** From the navigation to a page that can be written in, and to the first answer. */

import type { Page } from 'playwright';
import { vitalsOf, watchVitals } from '../../tools/browsers/vitals.ts';
import { median, type Row } from '../measure.ts';
import { longestWorkMs } from './own-work.ts';
import { type Bench, msRow } from './rows.ts';

const rounds = 5;

/** Returns the figures: the first visit of a browser that has nothing, median of some. */
export async function measureStart({ browser, url }: Bench): Promise<Row[]> {
  const byName: Record<string, number[]> = {};
  for (let i = 0; i < rounds; i++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    await watchVitals(context);
    await context.addInitScript(markStart);
    const page = await context.newPage();
    const longestWork = await longestWorkMs(page, () => visit(page, url));
    const figures = { ...await page.evaluate(marks), ...await vitalsOf(page), longestWork };
    for (const [name, value] of Object.entries(figures)) (byName[name] ??= []).push(value);
    await context.close();
  }
  const of = (name: string): number => median(byName[name] ?? []);
  const layoutShift = of('layoutShift');
  return [
    msRow('Start: first paint with content (FCP)', of('firstPaintMs')),
    msRow('Start: largest paint with content (LCP)', of('largestPaintMs'), 900),
    msRow('Start: the agent is ready', of('ready'), 1000),
    msRow('Start: from the question to its first word', of('first-word') - of('sent')),
    msRow('Start: from the question to the end of the answer', of('answered') - of('sent')),
    msRow('Start: longest task of the page’s thread', of('longestTaskMs'), 50),
    msRow('Start: the thread’s own work in its longest task', of('longestWork'), 50),
    msRow('Start: what tasks took beyond 50 ms, in all (TBT)', of('blockingMs'), 50),
    msRow('Start: interaction to next paint, the slowest (INP)', of('interactionMs'), 100),
    { figure: 'Start: layout shift (CLS)', value: layoutShift.toFixed(3), bar: '<= 0.1', met: layoutShift <= 0.1 },
  ];
}

async function visit(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.getByTestId('composer').waitFor();
  await page.getByTestId('composer').fill('What is 6 * 7?');
  await page.getByTestId('composer').press('Enter');
  await page.getByTestId('answer-footer').waitFor();
}

/** Runs in the page first: sets a mark when each element that a person waits for appears. */
function markStart(): void {
  const waited = {
    ready: '[data-testid=composer]',
    sent: '[data-role=user]',
    'first-word': '[data-testid=tool-card], .markdown',
    answered: '[data-testid=answer-footer]',
  };
  new MutationObserver(() => {
    for (const [name, selector] of Object.entries(waited)) {
      const isNew = performance.getEntriesByName(name).length === 0;
      if (isNew && document.querySelector(selector)) performance.mark(name);
    }
  }).observe(document, { childList: true, subtree: true });
}

function marks(): Record<string, number> {
  return Object.fromEntries(performance.getEntriesByType('mark').map(({ name, startTime }) => [name, startTime]));
}
