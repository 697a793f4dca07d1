/**
 * How well and how fast tools are found: ranking on the development queries beside peers, whether "nothing fits" is said, time
 * and memory at three sizes, and the tokens that a catalogue costs with and without discovery.
 */

import process from 'node:process';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createToolIndex, discoveryTools, localPrincipal } from '../../../src/index.ts';
import type { IndexedTool } from '../../../src/discovery/index.ts';
import { lowFit } from '../../../src/discovery/tool-ranking.ts';
import { collect, cpuMs, median, quantile, report, type Row } from '../measure.ts';
import { type BenchData, type CreateSearcher, loadBenchData } from './data.ts';

const ours = 'Pinnace';
const compared = ['ai-sdk toolSearch', 'minisearch tuned', 'bm25 name+desc', 'bm25 +args'];

/** Recall in percent: of the needs of a query, how many the first hits serve; every set weighs the same. */
async function measureRanking(data: BenchData): Promise<Row[]> {
  const rows = [await rankingOf(ours, createToolIndex, data)];
  for (const [name, create] of Object.entries(data.peers)) rows.push(await rankingOf(name, create, data));
  return rows;
}

async function rankingOf(name: string, create: CreateSearcher, data: BenchData): Promise<Row> {
  const sets: { set: string; r1: number; r5: number }[] = [];
  for (const set of data.sets) {
    const index = await create(data.catalog(set));
    const scores: { r1: number; r5: number }[] = [];
    for (const { query, needs } of data.loadQueries(set)) {
      scores.push(data.score(needs, (await index.search(query, 10)).map((hit) => hit.name)));
    }
    sets.push({ set, r1: mean(scores.map(({ r1 }) => r1)), r5: mean(scores.map(({ r5 }) => r5)) });
  }
  const [r1, r5] = [mean(sets.map((of) => of.r1)), mean(sets.map((of) => of.r5))];
  const each = sets.map((of) => `${of.set} ${percent(of.r1)}/${percent(of.r5)}`).join(', ');
  const bar = name === ours && { bar: '@1 >= 50, @5 >= 81', met: r1 >= 0.5 && r5 >= 0.81 };
  return { figure: `Recall @1/@5, ${name}`, value: `${percent(r1)}/${percent(r5)} (${each})`, ...bar };
}

/** The queries of one set on its own catalogue, and on one that is of other things. */
function measureFit({ catalog, loadQueries, sets }: BenchData): Row[] {
  const flaggedOf = (from: string, on: string): number => {
    const index = createToolIndex(catalog(on));
    return mean(loadQueries(from).map(({ query }) => Number(index.fit(query) < lowFit)));
  };
  const good = mean(sets.map((set) => flaggedOf(set, set)));
  const foreign = [['seal', 'toole'], ['seal', 'live'], ['rapid', 'toole'], ['mcp5k', 'toole'], [
    'mcp5k',
    'rapid',
  ]] as const;
  const impossible = mean(foreign.map(([from, on]) => flaggedOf(from, on)));
  return [
    { figure: 'Good queries flagged "nothing fits"', value: `${percent(good)} %`, bar: '<= 5 %', met: good <= 0.05 },
    {
      figure: 'Queries for other catalogues flagged (some do fit)',
      value: `${percent(impossible)} %`,
      bar: '>= 80 %',
      met: impossible >= 0.8,
    },
  ];
}

const bars: Readonly<Record<number, { readonly p99: number; readonly build: number }>> = {
  500: { p99: 0.5, build: 30 },
  5000: { p99: 1, build: 150 },
  100_000: { p99: 5, build: 2500 },
};

/** Time and memory at one size, beside a peer where the peer is quick enough. */
async function measureSize(size: number, data: BenchData): Promise<Row[]> {
  const tools = data.scaleCatalog(size);
  const queries = data.loadQueries('mcp5k').map(({ query }) => query);
  const peer = data.peers['minisearch tuned'];
  const theirs = size < 50_000 && peer ? await timesOf(peer, { tools, queries }) : undefined;
  const own = await timesOf(createToolIndex, { tools, queries });
  const { p99, build } = bars[size]!;
  return [
    {
      figure: `Query, ${size} tools`,
      value: `p50 ${own.p50.toFixed(2)} ms, p99 ${own.p99.toFixed(2)} ms (${
        own.settledP99.toFixed(2)
      } ms without the noise)`,
      bar: `p99 <= ${p99} ms`,
      met: own.p99 <= p99,
      ...(theirs && { peer: `MiniSearch p50 ${theirs.p50.toFixed(2)} ms, p99 ${theirs.p99.toFixed(2)} ms` }),
    },
    {
      figure: `Build, ${size} tools`,
      value: `${own.build.toFixed(0)} ms (CPU ${own.buildCpu.toFixed(0)} ms)`,
      bar: `<= ${build} ms`,
      met: own.build <= build,
      ...(theirs && { peer: `MiniSearch ${theirs.build.toFixed(0)} ms (CPU ${theirs.buildCpu.toFixed(0)} ms)` }),
    },
    ...measureMemory(tools),
  ];
}

/**
 * The queries are answered three times before the clock starts, then fifteen times. A pause of the machine hits any query: the
 * p99 without the noise is that of the queries, each by the median of its times.
 */
async function timesOf(
  create: CreateSearcher,
  { tools, queries }: { tools: readonly IndexedTool[]; queries: readonly string[] },
) {
  const builds = [];
  for (let i = 0; i < (tools.length > 50_000 ? 3 : 9); i++) builds.push(await timeOf(() => create(tools)));
  const index = await create(tools);
  for (let i = 0; i < 3; i++) for (const query of queries) await index.search(query, 5);
  const times: number[][] = queries.map(() => []);
  for (let round = 0; round < 15; round++) {
    for (const [i, query] of queries.entries()) times[i]!.push((await timeOf(() => index.search(query, 5))).wall);
  }
  return {
    build: median(builds.map(({ wall }) => wall)),
    buildCpu: median(builds.map(({ cpu }) => cpu)),
    p50: quantile(times.flat(), 0.5),
    p99: quantile(times.flat(), 0.99),
    settledP99: quantile(times.map(median), 0.99),
  };
}

function measureMemory(tools: readonly IndexedTool[]): Row[] {
  const before = heapMiB();
  const index = createToolIndex(tools);
  const heap = heapMiB() - before;
  const changes: number[] = [];
  for (const tool of tools.slice(0, 300)) {
    for (const change of [() => index.remove(tool.name), () => index.add(tool)]) {
      const start = performance.now();
      change();
      changes.push(performance.now() - start);
    }
  }
  const [p50, p99] = [median(changes), quantile(changes, 0.99)];
  return [
    {
      figure: `Memory, ${tools.length} tools`,
      value: `${heap.toFixed(1)} MiB, ${((heap * 2 ** 20) / tools.length).toFixed(0)} B each`,
      ...(tools.length > 50_000 && { bar: '<= 80 MiB', met: heap <= 80 }),
    },
    {
      figure: `Add or remove one of ${tools.length} tools`,
      value: `p50 ${p50.toFixed(3)} ms, p99 ${p99.toFixed(3)} ms`,
      bar: '<= 1 ms',
      met: p99 <= 1,
    },
  ];
}

/** What a model must read of 500 tools in every step: all of them, or the four and what one search and one load add. */
async function measureTokens({ scaleCatalog, loadQueries }: BenchData): Promise<Row[]> {
  const tools = scaleCatalog(500);
  const index = createToolIndex(tools);
  const discovery = discoveryTools(index, {
    active: new Set(),
    storage: memoryStorage(),
    principal: localPrincipal(),
    chatId: 'bench',
  });
  const four = tokensOf(
    discovery.definitions.map(({ name, description, paramsSchema }) => ({
      name,
      description,
      inputSchema: paramsSchema,
    })),
  );
  const all = tokensOf(tools.map(shown));
  const spent = await Promise.all(
    loadQueries('mcp5k').map(async ({ query, needs }) => {
      const found = await discovery.call('tool_find', { query });
      const loaded = needs.map(([name]) => index.get(name!)!);
      return four + tokensOf(found) + tokensOf(loaded.map(shown));
    }),
  );
  return [
    { figure: 'Tokens of 500 definitions (4 characters each)', value: `${all}` },
    { figure: 'Tokens of the four', value: `${four}` },
    {
      figure: 'Tokens of the four, one search and what it loads',
      value: `${median(spent)}`,
      ratio: (median(spent) / all).toFixed(3),
    },
  ];
}

function shown({ name, description, inputSchema }: IndexedTool): unknown {
  return { name, description, inputSchema };
}

function tokensOf(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / 4);
}

async function timeOf(work: () => unknown): Promise<{ readonly wall: number; readonly cpu: number }> {
  const [wall, cpu] = [performance.now(), cpuMs()];
  const result = work();
  if (result instanceof Promise) await result; // only the peers' may be: a turn of the loop is not ours to pay
  return { wall: performance.now() - wall, cpu: cpuMs() - cpu };
}

function heapMiB(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 2 ** 20;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function percent(share: number): string {
  return (share * 100).toFixed(1);
}

const data = await loadBenchData(compared);
if (data) {
  report('Finding tools', [...await measureRanking(data), ...measureFit(data), ...await measureTokens(data)]);
  for (const size of Object.keys(bars)) report(`Finding tools among ${size}`, await measureSize(Number(size), data));
}
