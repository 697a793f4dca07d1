/** How long a worker in Chromium holds its thread while it indexes 100,000 texts and answers queries, by the clock of the thread. */

import { join } from 'node:path';
import type { Page } from 'playwright';
import { oneFile } from '../../tools/browsers/one-file.ts';
import { textQueries, textsOf } from '../grounding/data.ts';
import type { Row } from '../measure.ts';
import type { IndexedTexts } from './index-worker.ts';
import { worksMs } from './own-work.ts';
import type { Bench } from './rows.ts';

/** Returns the figures. */
export async function measureIndexing({ browser }: Bench): Promise<Row[]> {
  const texts: IndexedTexts = { items: textsOf(100_000), queries: textQueries(100) };
  const code = await oneFile(join(import.meta.dirname, 'index-worker.ts'));
  const context = await browser.newContext();
  const page = await context.newPage();
  await serve(page, { '/texts.json': JSON.stringify(texts), '/worker.js': code, '/': '<!doctype html>' });
  await page.goto('http://localhost/');
  await page.evaluate(() => void Object.assign(globalThis, { worker: new Worker('/worker.js', { type: 'module' }) }));
  await step(page, 'load');
  const indexing = await worksMs(page, () => step(page, 'index'), 'DedicatedWorker thread');
  const asking = await worksMs(page, () => step(page, 'ask'), 'DedicatedWorker thread');
  await context.close();
  return [
    turnsRow('100,000 texts indexed in a worker: the thread’s own work in its longest task', indexing),
    turnsRow('100,000 texts searched in a worker: the thread’s own work in its longest task', asking),
  ];
}

const mostMs = 8;

function turnsRow(figure: string, works: readonly number[]): Row {
  const longest = Math.max(...works);
  const late = works.filter((ms) => ms > mostMs).length;
  return {
    figure,
    value: `${longest.toFixed(1)} ms, longer than ${mostMs} ms: ${late} of ${works.length}`,
    bar: `<= ${mostMs} ms`,
    met: longest <= mostMs,
  };
}

/** Serves these bodies by path, to the page and its worker. */
async function serve(page: Page, bodies: Readonly<Record<string, string>>): Promise<void> {
  await page.context().route('http://localhost/**', async (route) => {
    const { pathname } = new URL(route.request().url());
    const contentType = pathname.endsWith('.js') ? 'text/javascript' : 'text/html';
    await route.fulfill({ body: bodies[pathname] ?? '', contentType });
  });
}

/** Has the worker do one step, and waits until it has. */
async function step(page: Page, name: string): Promise<void> {
  await page.evaluate((sent) => {
    const { worker } = globalThis as unknown as { readonly worker: Worker }; // set above
    return new Promise<void>((resolve) => {
      worker.addEventListener('message', () => resolve(), { once: true });
      worker.postMessage(sent);
    });
  }, name);
}
