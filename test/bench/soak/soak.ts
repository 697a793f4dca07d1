/**
 * Twenty minutes of 100 paced runs at once, and what is left of them afterwards; `SOAK_MINUTES`, or `--minutes` of the runner, makes it
 * shorter. Whenever a request ends, the next of another kind starts.
 */

import process from 'node:process';
import { createChurn, kinds } from '../../tools/churn.ts';
import { collect, cpuMs, report } from '../measure.ts';

const minutes = Number(process.env['SOAK_MINUTES'] ?? 20);
if (!(minutes > 0)) throw new Error('SOAK_MINUTES must be a number above 0');
const [atOnce, everyMs] = [100, 100];
/** Before the first measurement: code is compiled, and caches and the storage are full. */
const warmUpMinutes = Math.min(1, minutes / 4);

/** Each measurement waits for the end of all records: how many there are depends on what else the machine does. */
const recordsMs = 45_000;
const churn = createChurn({ everyMs, limits: { totalMs: 30_000, retentionMs: 5_000 } });
const outcomes = new Map<string, number>();
let sent = 0;
let mostOpen = 0;

async function tally(kind: (typeof kinds)[number]): Promise<void> {
  const name = `${kind}: ${await churn.one(kind)}`;
  outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
}

async function churnFor(duration: number): Promise<void> {
  const running = new Set<Promise<void>>();
  const endsAt = performance.now() + duration * 60_000;
  while (performance.now() < endsAt) {
    while (running.size < atOnce) {
      const one = tally(kinds[sent++ % kinds.length] ?? 'whole').finally(() => running.delete(one));
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
  await new Promise((resolve) => setTimeout(resolve, recordsMs));
  await churn.purge();
  collect();
  const held = process.getActiveResourcesInfo();
  const timers = held.filter((kind) => kind === 'Timeout').length;
  return { heap: process.memoryUsage().heapUsed, timers, others: held.length - timers };
}

await churnFor(warmUpMinutes);
const [before, cpuBefore, sentBefore] = [await look(), cpuMs(), sent];
await churnFor(minutes);
const after = await look();
const cpu = (cpuMs() - cpuBefore) / (sent - sentBefore);
await churn.close();

const mebi = 1_048_576;
const growth = after.heap / before.heap - 1;
const wrong = [...outcomes].filter(([name]) =>
  !/whole: finish|left: left|cancelled: cancelled|twice: finish|tool: finish|stranger: 401|nonsense: 400/.test(name)
);
report(`Soak: ${minutes} minutes of ${atOnce} paced runs at once`, [
  { figure: 'requests, most runs at once', value: `${sent}, ${mostOpen}` },
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
