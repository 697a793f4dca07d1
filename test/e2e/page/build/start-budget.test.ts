import { gzipSync } from 'node:zlib';
import type { Page, Request } from 'playwright';
import { beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { send, usePlayground } from '../../../tools/browsers/playground.ts';
import { type Vitals, vitalsOf, watchVitals } from '../../../tools/browsers/vitals.ts';

const { newContext } = usePlayground();

/** What a first visit may cost, in counts that are the same on every machine: sizes gzipped, in kB of 1,000 bytes. Times are printed, and have their bars in `npm run bench -- page`. */
const budgets = {
  requests: 20,
  pageScripts: 97, // 12 of them are fetched once the page is idle: the palette, other tabs; the reader of Markdown comes with the first key or click
  styles: 20,
  workerScripts: 284, // 2 of them read what models and servers send as it is meant, 4 of them keep prompts growing, 5 continue runs after a kill, 12 know what a run has read, 9 what waits and is due
  elements: 300,
  elementsAnswered: 450,
  layoutShift: 0.1,
};

interface Fetched {
  readonly url: string;
  readonly kind: 'page' | 'worker' | 'style' | 'other';
  readonly kb: number;
}

let page: Page;
const requests: Request[] = [];
let atStart: readonly Fetched[];
let elements: number;

const count = () => page.evaluate(() => document.querySelectorAll('*').length);

async function fetched(request: Request): Promise<Fetched> {
  const url = request.url();
  const body = await (await request.response())?.body() ?? Buffer.alloc(0);
  const isWorker = /\/worker-[^/]*\.js$/.test(url) || request.headers()['referer']?.includes('/worker-') === true;
  const kind = request.resourceType() === 'stylesheet' || url.endsWith('.css')
    ? 'style'
    : !url.endsWith('.js')
    ? 'other'
    : isWorker
    ? 'worker'
    : 'page';
  return { url, kind, kb: gzipSync(body, { level: 9 }).length / 1000 };
}

function kbOf(kind: Fetched['kind']): number {
  return atStart.filter((one) => one.kind === kind).reduce((sum, { kb }) => sum + kb, 0);
}

beforeAll(async () => {
  const context = await newContext({ reducedMotion: 'no-preference' });
  await watchVitals(context);
  page = await context.newPage();
  page.on('request', (request) => request.url().startsWith('data:') || requests.push(request));
  await page.goto(inject('playground'));
  await page.getByTestId('composer').waitFor();
  elements = await count();
  // What is fetched once the page is idle.
  for (const later of ['palette', 'settle-in']) {
    await vi.waitUntil(() => requests.some((request) => request.url().includes(`/${later}-`)), { timeout: 60_000 });
  }
  await page.waitForLoadState('networkidle');
  atStart = await Promise.all(requests.map(fetched));
  console.log(
    atStart.map(({ url, kind, kb }) => `${kind.padEnd(6)} ${kb.toFixed(1).padStart(6)} kB ${url}`).join('\n'),
  );
});

/** One figure a line. */
function tableOf(vitals: Vitals): string {
  return Object.entries(vitals).map(([name, value]: [string, number]) =>
    `${name.padEnd(15)} ${name.endsWith('Ms') ? `${value.toFixed(0).padStart(6)} ms` : value.toFixed(3).padStart(6)}`
  ).join('\n');
}

describe('the start of the playground', () => {
  it('requests few files from its own server, and none from elsewhere', () => {
    expect(atStart.filter(({ url }) => !url.startsWith(inject('playground')))).toEqual([]);
    expect(atStart.length).toBeLessThanOrEqual(budgets.requests);
    expect(new Set(atStart.map(({ url }) => url)).size).toBe(atStart.length);
  });

  it.each(
    [
      ['scripts of the page', 'page', budgets.pageScripts],
      ['styles', 'style', budgets.styles],
      ['scripts of the worker', 'worker', budgets.workerScripts],
    ] as const,
  )('loads %s within their budget', (_, kind, budget) => {
    const kb = kbOf(kind);
    expect(kb).toBeGreaterThan(1);
    expect(kb).toBeLessThanOrEqual(budget);
  });

  it('answers the first question with few elements, and fetches the reader of Markdown alone', async () => {
    expect(elements).toBeLessThanOrEqual(budgets.elements);
    const before = requests.length;
    await send(page, 'What is 6 * 7?');
    await page.getByTestId('answer-footer').waitFor();
    const fetchedSince = requests.slice(before).map((request) => request.url());
    expect(fetchedSince).toEqual([expect.stringContaining('/assets/markdown-')]);
    expect(await count()).toBeLessThanOrEqual(budgets.elementsAnswered);
  });

  it('has been painted, has answered keys, and has moved nothing by itself', async () => {
    const vitals = await vitalsOf(page);
    console.log(tableOf(vitals));
    expect(vitals.firstPaintMs).toBeGreaterThan(0);
    expect(vitals.largestPaintMs).toBeGreaterThanOrEqual(vitals.firstPaintMs);
    expect(vitals.layoutShift).toBeLessThanOrEqual(budgets.layoutShift);
  });
});
