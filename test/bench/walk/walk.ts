/**
 * A new visitor's walk through the built playground, with a stopwatch: `npm run bench -- walk`. A person also reads and types; the
 * figures are what the page adds to that, and how many clicks, texts and keys it takes.
 */

import process from 'node:process';
import type { Browser, Page } from 'playwright';
import { report, type Row } from '../measure.ts';
import { slowDown, slowness } from '../page/slow-cpu.ts';
import { withPlayground } from '../page/with-playground.ts';
import { steps } from './steps.ts';
import { createVisitor, type Visitor } from './visitor.ts';

await withPlayground(async ({ browser, url }) => {
  const rows = await walk(browser, url);
  rows.push(await slowStart(browser, url));
  report('A new visitor’s walk in Chromium', rows);
});
process.exit(0);

/** Takes every step in one visit of a browser that has nothing. */
async function walk(browser: Browser, url: string): Promise<Row[]> {
  const visitor = await open(browser);
  const rows: Row[] = [];
  const startedAt = performance.now();
  for (const { figure, bar, act } of steps(url)) {
    const before = visitor.actions();
    const ms = await act(visitor);
    const actions = visitor.actions() - before;
    const total = ((performance.now() - startedAt) / 1000).toFixed(1);
    const value = `${(ms / 1000).toFixed(2)} s, ${actions} ${actions === 1 ? 'action' : 'actions'}, at ${total} s`;
    rows.push(bar === undefined ? { figure, value } : { figure, value, bar: `<= ${bar} s`, met: ms <= bar * 1000 });
  }
  await visitor.page.context().close();
  return rows;
}

/** The first step once more, on a slower computer. */
async function slowStart(browser: Browser, url: string): Promise<Row> {
  const visitor = await open(browser);
  await slowDown(visitor.page);
  const [first] = steps(url);
  const ms = await first.act(visitor);
  await visitor.page.context().close();
  return {
    figure: `Usable with a CPU ${slowness} times slower`,
    value: `${(ms / 1000).toFixed(2)} s`,
    bar: '<= 2.5 s',
    met: ms <= 2500,
  };
}

async function open(browser: Browser): Promise<Visitor> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page: Page = await context.newPage();
  return createVisitor(page);
}
