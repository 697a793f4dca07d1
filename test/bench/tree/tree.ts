/**
 * The tree beside its peers, in one run: load, expand all, a page by offset, toggle and page, move and page; then what only Pinnace
 * has. Run with `--expose-gc`.
 */

import process from 'node:process';
import { collect, cpuMs, median, report, type Row, skip } from '../measure.ts';
import { measureOwn } from './own.ts';
import { findPeers } from './peers.ts';
import { type Load, naiveMap, naiveNested, pinnace, type Subject } from './subject.ts';
import { timed } from './timed.ts';
import { balanced, type BenchTree, chain, random, wide } from './trees.ts';

interface Figures {
  readonly load: number;
  readonly bytes: number;
  readonly expandAll: number;
  readonly page: number;
  readonly toggle: number;
  readonly move: number;
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
  const expandAll = timed(() => {
    shown.expandAll();
    shown.page(offset, 50);
  }, { calls: 400, before: () => shown.collapseAll() });
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
    faster('expandAll', 'expand all and page'),
    faster('toggle', 'toggle and page'),
    faster('move', 'move and page'),
    {
      figure: 'page by offset',
      value: `${ours.page.toFixed(1)} us`,
      ...(bar && { bar: `<= ${bar.page} us`, met: ours.page <= bar.page }),
    },
  ];
}

const { peers, missing } = await findPeers();
if (missing.length > 0) skip(`peers: ${missing.join('; ')}`);
const own = { 'Pinnace': pinnace, 'hand-written Map': naiveMap };
const { immer: _, mutative: __, ...fast } = peers; // those two copy all that there is for each change
const { 'headless-tree': ___, ...flat } = fast; // walks a path as long as the tree is deep, for every node
const nested = { 'nested objects': naiveNested };

/** What is measured, by name; `--only=` picks one, `--small` leaves out the trees of a million nodes. */
const parts: Readonly<Record<string, () => void | Promise<void>>> = {
  balanced: () => compare(balanced(5), { ...own, ...nested, ...peers }),
  wide: () => compare(wide(100_000), { ...own, ...nested, ...fast }),
  random: () => compare(random(100_000), { ...own, ...nested, ...fast }),
  chain: () => compare(chain(100_000), { ...own, ...nested, ...flat }),
  tools: () => measureOwn(balanced(5), false),
  largeBalanced: () => compare(balanced(6), { ...own, ...flat }),
  largeWide: () => compare(wide(1_000_000), own),
  largeChain: () => compare(chain(1_000_000), own),
  largeTools: () => measureOwn(balanced(6), true),
};
const only = process.argv.find((argument) => argument.startsWith('--only='))?.slice(7);
for (const [name, run] of Object.entries(parts)) {
  if (only === undefined ? !(name.startsWith('large') && process.argv.includes('--small')) : only === name) await run();
}
