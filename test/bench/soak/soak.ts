/**
 * Ten minutes of churn, as of 100 runs a second: what is left of it afterwards. `SOAK_SECONDS` makes it shorter. Streams speak with
 * pauses, so hundreds are open at any moment.
 */

import process from 'node:process';
import { createChurn, kinds } from '../../tools/churn.ts';
import { collect, cpuMs, report } from '../measure.ts';

const seconds = Number(process.env['SOAK_SECONDS'] ?? 600);
const [perSecond, everyMs] = [100, 100];
/** Before the first measurement: code is compiled, and caches and the storage are full. */
const warmUpSeconds = Math.min(60, seconds / 4);

/** Records live for 40 s, so that the first measurement sees as many as the last. */
const churn = createChurn({ everyMs, limits: { totalMs: 30_000, retentionMs: 5_000 } });
const outcomes = new Map<string, number>();
/** A multiple of the usual number of open runs. A machine that cannot keep up gets fewer requests instead of an endless queue. */
const mostRuns = 500;
let sent = 0;
let heldBack = 0;
let mostOpen = 0;

async function tally(kind: (typeof kinds)[number]): Promise<void> {
  const name = `${kind}: ${await churn.one(kind)}`;
  outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
}

async function churnFor(duration: number): Promise<void> {
  const running = new Set<Promise<void>>();
  const startedAt = performance.now();
  let due = 0;
  while (performance.now() - startedAt < duration * 1000) {
    const now = Math.floor((performance.now() - startedAt) / 1000 * perSecond);
    for (; due < now; due++) {
      if (running.size >= mostRuns) {
        heldBack += 1;
        continue;
      }
      const kind = kinds[sent++ % kinds.length] ?? 'whole';
      const one = tally(kind).finally(() => running.delete(one));
      running.add(one);
    }
    mostOpen = Math.max(mostOpen, churn.open());
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await Promise.all(running);
  await churn.settled();
}

interface Look {
  readonly heap: number;
  readonly timers: number;
  readonly others: number;
}

async function look(): Promise<Look> {
  collect();
  const held = process.getActiveResourcesInfo();
  const timers = held.filter((kind) => kind === 'Timeout').length;
  return { heap: process.memoryUsage().heapUsed, timers, others: held.length - timers };
}

await churnFor(warmUpSeconds);
const [before, cpuBefore, sentBefore] = [await look(), cpuMs(), sent];
await churnFor(seconds);
const after = await look();
const cpu = (cpuMs() - cpuBefore) / (sent - sentBefore);
await churn.close();

const mebi = 1_048_576;
const growth = after.heap / before.heap - 1;
const wrong = [...outcomes].filter(([name]) =>
  !/whole: finish|left: left|cancelled: cancelled|twice: finish|tool: finish|stranger: 401|nonsense: 400/.test(name)
);
report(`Soak: ${seconds} s of churn at ${perSecond} requests a second`, [
  { figure: 'requests, most runs at once', value: `${sent}, ${mostOpen}` },
  {
    figure: 'requests held back, as the machine did not keep up',
    value: String(heldBack),
    bar: '0',
    met: heldBack === 0,
  },
  {
    figure: 'outcomes that are wrong',
    value: JSON.stringify(Object.fromEntries(wrong)),
    bar: '{}',
    met: wrong.length === 0,
  },
  {
    figure: 'heap after collection, after the warm-up and at the end',
    value: `${(before.heap / mebi).toFixed(1)} MiB, ${(after.heap / mebi).toFixed(1)} MiB: ${
      (growth * 100).toFixed(1)
    } %`,
    bar: '<= 10 %',
    met: growth <= 0.1,
  },
  {
    figure: 'timers, and other things that keep the process, more than after the warm-up',
    value: `${after.timers - before.timers}, ${after.others - before.others}`,
    bar: '0, 0',
    met: after.timers <= before.timers && after.others <= before.others,
  },
  { figure: 'CPU of a request', value: `${cpu.toFixed(1)} ms` },
]);
