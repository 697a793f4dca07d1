/**
 * The tree beside its peers, in one run: load, expand all, a page by offset, toggle and page, move and page; then what only Pinnace
 * has. `--small` leaves the trees of a million nodes out. Run with `--expose-gc`.
 */

import process from 'node:process';
import * as v from 'valibot';
import { createTree, type TreeRow, treeTools } from '../../../src/index.ts';
import { collect, cpuMs, median, report, type Row } from '../measure.ts';
import { findPeers } from './peers.ts';
import { type Load, naiveMap, naiveNested, pinnace, type Subject } from './subject.ts';
import { balanced, type BenchTree, chain, random, wide } from './trees.ts';

interface Figures {
  readonly load: number;
  readonly bytes: number;
  readonly expandAll: number;
  readonly page: number;
  readonly toggle: number;
  readonly move: number;
}

/** Microseconds of the middle call; slow ones get fewer calls. */
function timed(run: (i: number) => void, { calls = 16_000, budgetMs = 1200 } = {}): number {
  const times: number[] = [];
  const start = performance.now();
  for (let i = 0; i < calls && (i < 4 || performance.now() - start < budgetMs); i++) {
    const before = performance.now();
    run(i);
    times.push((performance.now() - before) * 1000);
  }
  return median(times.slice(times.length >> 1)); // the first half warms up
}

function held(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function measure(load: Load, tree: BenchTree): Figures {
  const { rows, toggled, moved, from, to } = tree;
  const times: number[] = [];
  let subject: Subject | undefined;
  let bytes = 0;
  for (let i = 0; i < 3; i++) {
    subject = undefined;
    const before = held();
    const start = cpuMs();
    subject = load(rows);
    times.push(cpuMs() - start);
    bytes = (held() - before) / rows.length;
    if (times[0]! > 5000) break;
  }
  const shown = subject!;
  const offset = Math.max(0, Math.floor(rows.length * 0.7) - 100);
  const expandAll = timed((i) => {
    if (i % 2 === 0) shown.expandAll();
    else shown.collapseAll();
    shown.page(0, 50);
  }, { calls: 40 });
  shown.expandAll();
  const page = timed((i) => shown.page(offset + (i % 50), 50));
  const toggle = timed(() => {
    shown.toggle(toggled);
    shown.page(offset, 50);
  });
  shown.expandAll(); // whatever the toggles left
  const move = timed((i) => {
    shown.move(moved, i % 2 === 0 ? to : from);
    shown.page(offset, 50);
  });
  return { load: median(times), bytes, expandAll, page, toggle, move };
}

interface Bars {
  readonly load: number;
  readonly expandAll: number;
  readonly toggle: number;
  readonly move: number;
  readonly page: number;
}

const bars: Readonly<Record<string, Bars>> = {
  'balanced 111111': { load: 1.6, expandAll: 30, toggle: 50, move: 70, page: 10 },
  'balanced 1111111': { load: 1.1, expandAll: 200, toggle: 300, move: 360, page: 15 },
};

function attempt(name: string, load: Load, tree: BenchTree): Figures | undefined {
  try {
    return measure(load, tree);
  } catch (error) {
    console.log(`${tree.name}: ${name} fails (${String(error).slice(0, 80)})`);
    return undefined;
  }
}

function compare(tree: BenchTree, variants: Readonly<Record<string, Load>>): void {
  const results = new Map<string, Figures>();
  for (const [name, load] of Object.entries(variants)) {
    const figures = attempt(name, load, tree);
    if (figures) results.set(name, figures);
  }
  console.log(`\n${tree.name}: load in ms of CPU, memory in bytes per node, the rest in microseconds`);
  console.table(Object.fromEntries([...results].map(([name, figures]) => [name, rounded(figures)])));
  const ours = results.get('Pinnace');
  const bar = bars[tree.name];
  if (!ours) return;
  results.delete('Pinnace');
  report(tree.name, rowsOf(ours, results, bar));
}

function rounded(figures: Figures): Record<string, number> {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Number(value.toPrecision(3))]));
}

function rowsOf(ours: Figures, others: ReadonlyMap<string, Figures>, bar: Bars | undefined): Row[] {
  const best = (name: keyof Figures): [string, number] =>
    [...others].map(([peer, figures]): [string, number] => [peer, figures[name]]).toSorted((a, b) => a[1] - b[1])[0]!;
  const faster = (name: 'expandAll' | 'toggle' | 'move', figure: string): Row => {
    const [peer, theirs] = best(name);
    const ratio = theirs / ours[name];
    const met = bar && { bar: `>= ${bar[name]}x`, met: ratio >= bar[name] };
    return {
      figure,
      value: `${ours[name].toFixed(1)} us`,
      peer: `${peer} ${theirs.toFixed(0)} us`,
      ratio: `${ratio.toFixed(0)}x`,
      ...met,
    };
  };
  const loadRatio = ours.load / (others.get('hand-written Map')?.load ?? NaN);
  return [
    {
      figure: 'load',
      value: `${ours.load.toFixed(0)} ms`,
      peer: 'hand-written Map',
      ratio: loadRatio.toFixed(2),
      ...(bar && { bar: `<= ${bar.load}`, met: loadRatio <= bar.load }),
    },
    {
      figure: 'memory besides payload and id',
      value: `${ours.bytes.toFixed(0)} B/node`,
      bar: '<= 110',
      met: ours.bytes <= 110,
    },
    faster('expandAll', 'expand or collapse all, and page'),
    faster('toggle', 'toggle and page'),
    faster('move', 'move and page'),
    {
      figure: 'page by offset',
      value: `${ours.page.toFixed(1)} us`,
      ...(bar && { bar: `<= ${bar.page} us`, met: ours.page <= bar.page }),
    },
  ];
}

function row(figure: string, us: number, most: number): Row {
  return { figure, value: `${us.toFixed(1)} us`, bar: `<= ${most} us`, met: us <= most };
}

/** What the peers do not have: absolute figures. */
async function measureOwn({ name, rows }: BenchTree, isLarge: boolean): Promise<void> {
  const tree = createTree({ payloadTypes: { item: v.looseObject({}) }, rows, source: 'trusted' });
  const view = tree.view({ defaultExpanded: true });
  const at = (i: number): string => `n${Math.floor(rows.length * 0.9) - i}`;
  const last = rows.length - 1;
  report(`${name}: one tree`, [
    row('rank of a node', timed((i) => view.rankOf(at(i))), isLarge ? 15 : 3),
    row('size of a subtree', timed((i) => tree.sizeOf(at(i))), isLarge ? 15 : 3),
    row('is inside', timed((i) => tree.isInside(at(i), 'n1')), isLarge ? 15 : 3),
    row(
      'children at 90 %',
      timed((i) => tree.children('n0', { offset: Math.floor(last * 0.9) - i, limit: 50 })),
      isLarge ? 30 : 15,
    ),
    row('one more view', timed(() => tree.view().close(), { calls: 50 }), isLarge ? 2000 : 1000),
    ...await measureTools(tree, isLarge),
  ]);
}

async function measureTools(tree: ReturnType<typeof createTree>, isLarge: boolean): Promise<Row[]> {
  const tools = treeTools(tree, {
    agentId: 'bench',
    role: 'editor',
    limits: { searchMs: 60_000, maxPageSize: 2_000_000 },
  });
  const rootNodeId = tree.rootId!;
  const first = await tools.call('get_node', { nodeId: 'n1' });
  let version = first.ok ? first.output.version : '';
  const calls: number[] = [];
  for (let i = 0; i < 4000; i++) {
    const before = performance.now();
    const outcome = await tools.call(i % 2 === 0 ? 'expand_node' : 'collapse_node', {
      nodeId: 'n1',
      versionToken: version,
    });
    calls.push((performance.now() - before) * 1000);
    if (outcome.ok) version = outcome.output.version;
  }
  const search = async (value: string): Promise<number> => {
    const before = performance.now();
    const outcome = await tools.call('search', {
      rootNodeId,
      filters: [{ path: 'name', op: 'contains', value }],
      limit: 10,
    });
    if (!outcome.ok) throw new Error(outcome.error.message);
    return performance.now() - before;
  };
  const cold = await search('no such word');
  const warm = median(await Promise.all(Array.from({ length: 9 }, () => search('no such word'))));
  const scanned = timed(() => scan([...tree.rows()]), { calls: 8 }) / 1000;
  const overhead = median(calls.slice(2000));
  return [
    { figure: 'expand_node as a tool call', value: `${overhead.toFixed(1)} us`, bar: '<= 15 us', met: overhead <= 15 },
    {
      figure: `search all (first time ${cold.toFixed(0)} ms)`,
      value: `${warm.toFixed(1)} ms`,
      peer: `all objects ${scanned.toFixed(1)} ms`,
      ratio: `${(scanned / warm).toFixed(1)}x`,
      bar: isLarge ? '<= 60 ms per million' : '>= 5x',
      met: isLarge ? warm <= 60 * (tree.size / 1e6) : scanned / warm >= 5,
    },
  ];
}

function scan(rows: readonly TreeRow[]): number {
  return rows.filter(({ payload }) => String(payload.name).toLowerCase().includes('no such word')).length;
}

const { peers, missing } = await findPeers();
if (missing.length > 0) console.log(`Peers left out: ${missing.join('; ')}`);
const own = { 'Pinnace': pinnace, 'hand-written Map': naiveMap };
const { immer: _, mutative: __, ...fast } = peers; // those two copy all that there is for each change
compare(balanced(5), { ...own, 'nested objects': naiveNested, ...peers });
for (const tree of [wide(100_000), random(100_000), chain(100_000)]) {
  compare(tree, { ...own, 'nested objects': naiveNested, ...fast });
}
await measureOwn(balanced(5), false);
if (!process.argv.includes('--small')) {
  const { 'VS Code': vscode, TanStack } = peers; // the others take minutes for a million nodes
  compare(balanced(6), { ...own, ...(vscode && { 'VS Code': vscode }), ...(TanStack && { TanStack }) });
  compare(wide(1_000_000), own);
  compare(chain(1_000_000), own);
  await measureOwn(balanced(6), true);
}
