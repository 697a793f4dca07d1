/**
 * How well and how fast tools are found: ranking on the development queries beside peers, whether "nothing fits" is said, time
 * and memory at three sizes, and the tokens that a catalogue costs with and without discovery.
 */

import process from 'node:process';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createToolIndex, discoveryTools, type IndexedTool, localPrincipal } from '../../../src/index.ts';
import { lowFit } from '../../../src/discovery/fit.ts';
import { collect, cpuMs, median, quantile, report, type Row } from '../measure.ts';
import { type BenchData, type CreateSearcher, loadBenchData } from './data.ts';

const ours = 'Pinnace';
const compared = ['ai-sdk toolSearch', 'minisearch tuned', 'bm25 name+desc', 'bm25 +args'];

/** Recall in percent: of the needs of a query, how many the first hits serve; every set weighs the same. */
async function measureRanking(data: BenchData): Promise<Row[]> {
  const systems: [string, CreateSearcher][] = [
    [ours, createToolIndex],
    ...compared.map((name) => [name, data.peers[name]!] as [string, CreateSearcher]),
  ];
  const rows: Row[] = [];
  for (const [name, create] of systems) {
    try {
      rows.push(await rankingOf(name, create, data));
    } catch (error) {
      rows.push({ figure: `Recall, ${name}`, value: `not measured: ${String(error).slice(0, 60)}` });
    }
  }
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
  const bar = name === ours && { bar: '@1 >= 48, @5 >= 78', met: r1 >= 0.48 && r5 >= 0.78 };
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

/** Time and memory at one size; the queries are answered three times before the clock starts. */
function measureSize(size: number, { scaleCatalog, loadQueries }: BenchData): Row[] {
  const tools = scaleCatalog(size);
  const queries = loadQueries('mcp5k').map(({ query }) => query);
  const builds = Array.from({ length: size > 50_000 ? 3 : 9 }, () => timeOf(() => createToolIndex(tools)));
  const before = heapMiB();
  const index = createToolIndex(tools);
  const heap = heapMiB() - before;
  for (let i = 0; i < 3; i++) for (const query of queries) index.search(query, 5);
  const times = Array.from({ length: 5 }, () => queries.map((query) => timeOf(() => index.search(query, 5)).wall))
    .flat();
  const changes = tools.slice(0, 300).flatMap((
    tool,
  ) => [timeOf(() => index.remove(tool.name)).wall, timeOf(() => index.add(tool)).wall]);
  const { p99, build } = bars[size]!;
  const [buildWall, queryP99] = [median(builds.map(({ wall }) => wall)), quantile(times, 0.99)];
  const of = `${size} tools`;
  return [
    {
      figure: `Query, ${of}`,
      value: `p50 ${quantile(times, 0.5).toFixed(2)} ms, p99 ${queryP99.toFixed(2)} ms`,
      bar: `p99 <= ${p99} ms`,
      met: queryP99 <= p99,
    },
    {
      figure: `Build, ${of}`,
      value: `${buildWall.toFixed(0)} ms (CPU ${median(builds.map(({ cpu }) => cpu)).toFixed(0)} ms)`,
      bar: `<= ${build} ms`,
      met: buildWall <= build,
    },
    {
      figure: `Memory, ${of}`,
      value: `${heap.toFixed(1)} MiB, ${((heap * 1024 * 1024) / size).toFixed(0)} B each`,
      ...(size > 50_000 && { bar: '<= 80 MiB', met: heap <= 80 }),
    },
    {
      figure: `Add or remove one, ${of}`,
      value: `p50 ${median(changes).toFixed(3)} ms, p99 ${quantile(changes, 0.99).toFixed(3)} ms`,
      ...(size === 5000 && { bar: '<= 1 ms', met: quantile(changes, 0.99) <= 1 }),
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

function timeOf(work: () => unknown): { readonly wall: number; readonly cpu: number } {
  const [wall, cpu] = [performance.now(), cpuMs()];
  work();
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

const data = await loadBenchData();
if (data) {
  report('Finding tools', [...await measureRanking(data), ...measureFit(data), ...await measureTokens(data)]);
  report('Finding tools among many', Object.keys(bars).flatMap((size) => measureSize(Number(size), data)));
}
