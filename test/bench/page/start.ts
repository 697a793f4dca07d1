/** From the navigation to a page that can be written in, and to the first answer. */

import { median, type Row } from '../measure.ts';
import { type Bench, msRow } from './rows.ts';

const rounds = 5;

/** Gives the figures: the first visit of a browser that has nothing, median of some. */
export async function measureStart({ browser, url }: Bench): Promise<Row[]> {
  const seen: Record<string, number[]> = {};
  for (let i = 0; i < rounds; i++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.addInitScript(watchStart);
    await page.goto(url);
    await page.getByTestId('composer').waitFor();
    await page.getByTestId('composer').fill('What is 6 * 7?');
    await page.getByTestId('composer').press('Enter');
    await page.getByTestId('answer-footer').waitFor();
    for (const [name, ms] of Object.entries(await page.evaluate(entries))) (seen[name] ??= []).push(ms);
    await context.close();
  }
  const of = (name: string): number => median(seen[name] ?? []);
  return [
    msRow('Start: first paint with content', of('paint')),
    msRow('Start: the agent can be asked', of('ready'), 2000),
    msRow('Start: from the question to its first word', of('first-word') - of('asked')),
    msRow('Start: from the question to the end of the answer', of('answered') - of('asked')),
    msRow('Start: longest task of the page’s thread', of('longest'), 50),
  ];
}

/** Runs in the page before all else: leaves marks when what a person waits for is there. */
function watchStart(): void {
  const waited = {
    ready: '[data-testid=composer]',
    asked: '[data-role=user]',
    'first-word': '[data-testid=tool-card], .markdown',
    answered: '[data-testid=answer-footer]',
  };
  new MutationObserver(() => {
    for (const [name, selector] of Object.entries(waited)) {
      const isNew = performance.getEntriesByName(name).length === 0;
      if (isNew && document.querySelector(selector)) performance.mark(name);
    }
  }).observe(document, { childList: true, subtree: true });
  new PerformanceObserver(() => undefined).observe({ type: 'longtask', buffered: true });
}

/** Runs in the page. */
function entries(): Promise<Record<string, number>> {
  const marks = performance.getEntriesByType('mark').map(({ name, startTime }) => [name, startTime] as const);
  const paint = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN;
  return new Promise((resolve) => {
    new PerformanceObserver((list, observer) => {
      observer.disconnect();
      const longest = Math.max(...list.getEntries().map(({ duration }) => duration));
      resolve({ ...Object.fromEntries(marks), paint, longest });
    }).observe({ type: 'longtask', buffered: true });
    setTimeout(() => resolve({ ...Object.fromEntries(marks), paint, longest: 0 }), 500);
  });
}
