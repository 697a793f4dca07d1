/**
 * Plans beside other schedulers: 1,000 and 10,000 tasks beside each other, and a tree of 1,111 agents. All of them wait for the same model,
 * which takes no time; what is measured is the CPU time of everything around it. Here every result is on record before it counts;
 * the others that keep anything say so. They do more for a task in other ways (channels, hooks, messages): the ratios are about
 * scheduling and nothing else.
 */

import process from 'node:process';
import { collect, cpuMs, median, ratioOf, report, type Row, skip } from '../measure.ts';
import { measureOwn } from './own.ts';
import { findPeers, type Run } from './peers.ts';
import { runFlat, runNested } from './plans.ts';

const ours = 'Pinnace, every result on record';
const warmups = 5;
const rounds = 9;

/**
 * CPU microseconds per task of each, in turn within each round. Garbage is collected once, at first: every full collection makes
 * the engine forget compiled code that rests, and what would be measured is how much code each of them has.
 */
async function measure(
  variants: Readonly<Record<string, Run>>,
  { count, tasks, slow }: { count: number; tasks: number; slow: ReadonlySet<string> },
): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = {};
  collect();
  for (let round = -warmups; round < rounds; round++) {
    for (const [name, run] of Object.entries(variants)) {
      if (slow.has(name) && round !== -warmups && round !== 0) continue;
      const size = slow.has(name) && round < 0 ? Math.ceil(count / 10) : count;
      const before = cpuMs();
      const done = await run(size);
      if (done < Math.min(size, 10)) throw new Error(`${name} did ${done} of ${size}`);
      if (round >= 0) (times[name] ??= []).push((cpuMs() - before) * 1000 / tasks);
    }
  }
  return times;
}

function rowsOf(times: Record<string, number[]>, bars: Readonly<Record<string, number>>, most: number): Row[] {
  const own = median(times[ours] ?? []);
  return Object.entries(times).map(([name, values]): Row => {
    if (name === ours) return { figure: name, value: `${own.toFixed(1)} us`, bar: `<= ${most} us`, met: own <= most };
    const ratio = values.length === rounds ? ratioOf(values, times[ours]) : median(values) / own;
    const bar = bars[name];
    return {
      figure: `beside: ${name}`,
      value: `${own.toFixed(1)} us`,
      peer: `${median(values).toFixed(1)} us`,
      ratio: `${ratio.toFixed(1)}x`,
      ...(bar !== undefined && { bar: `>= ${bar}x`, met: ratio >= bar }),
    };
  });
}

const peers = await findPeers();
if (peers.missing.length > 0) skip(`peers: ${peers.missing.join('; ')}`);
const flat = await measure({ [ours]: runFlat, ...peers.flat }, { count: 10_000, tasks: 10_000, slow: peers.slow });
const bars = { 'LangGraph Send, synchronous checkpoints': 15 };
report('10,000 tasks, 16 at once: CPU per task', rowsOf(flat, bars, 30));
const small = await measure({ [ours]: runFlat }, { count: 1000, tasks: 1000, slow: peers.slow });
report('1,000 tasks, 16 at once: CPU per task', rowsOf(small, {}, 20));
const nested = await measure({ [ours]: runNested, ...peers.nested }, { count: 10, tasks: 1111, slow: peers.slow });
report(
  'a tree of 1,111 agents: CPU per agent',
  rowsOf(nested, { 'LangGraph subgraphs': 12, 'LangGraph functional': 18 }, 40),
);
report('on their own', await measureOwn());
process.exit(0);
