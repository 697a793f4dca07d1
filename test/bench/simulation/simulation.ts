/**
 * How far it scales: N isolates over one database, as a discrete-event model fed with what a run costs here and with what is
 * published of databases. Draws `bench-results/scaling.svg`.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { report, type Row } from '../measure.ts';
import { chartOf, type Line } from './chart.ts';
import { type Database, type Outcome, type RunCost, simulate } from './model.ts';
import { measureRun } from './run-cost.ts';

interface Place {
  readonly name: string;
  readonly database: Database;
}

/**
 * Deno Deploy publishes reads of 7 ms in the database's own region and of 94 ms from Frankfurt; its database stands on
 * FoundationDB, which publishes commits of 1.5 to 2.5 ms and 46,000 writes a second for one core, 820,000 for its largest
 * cluster measured (8.2 million operations, a tenth of them writes). How many cores serve one database is not published.
 */
const [writesOfOneCore, writesOfCluster] = [46_000, 820_000];
const file: Place = {
  name: 'Deno KV, one file',
  // Measured on a local disk: a read 0.05 ms, a commit 1.2 ms, one after the other.
  database: { readMs: 0.05, commitMs: 0.1, operationMs: 1.2, changeMs: 0.01 },
};
const served = (name: string, readMs: number, writesPerSecond: number): Place => ({
  name,
  database: { readMs, commitMs: 2, operationMs: 0, changeMs: 1000 / writesPerSecond },
});
const places = [
  file,
  served('Deno Deploy, same\nregion, one core', 7, writesOfOneCore),
  served('Deno Deploy, same\nregion, large cluster', 7, writesOfCluster),
  served('Deno Deploy, database\noverseas, large cluster', 94, writesOfCluster),
];

/** Isolates are added so that no CPU is used for more than this share, nor holds more streams than this. */
const [cpuShare, streamsPerIsolate] = [0.5, 500];
/** Beyond this wait for the first byte, without the model's own, it is broken. */
const limitMs = 2_000;
/** A larger load is a slice of it: so many times less load, fewer isolates and a slower database behave alike. */
const simulatedPerSecond = 25;

function isolatesFor(cost: RunCost, runsPerSecond: number): number {
  const byCpu = runsPerSecond * (cost.startCpuMs + cost.streamCpuMs) / 1000 / cpuShare;
  const byStreams = runsPerSecond * cost.answerMs / 1000 / streamsPerIsolate;
  return Math.ceil(Math.max(byCpu, byStreams, 1));
}

interface Result extends Outcome {
  readonly isolates: number;
}

function at(runsPerSecond: number, cost: RunCost, { database }: Place, grouped = true): Result {
  const slices = Math.max(1, runsPerSecond / simulatedPerSecond);
  const isolates = isolatesFor(cost, runsPerSecond);
  const outcome = simulate({
    cost,
    database: {
      ...database,
      operationMs: database.operationMs * slices,
      changeMs: database.changeMs * slices,
    },
    isolates: Math.max(1, Math.round(isolates / slices)),
    runsPerSecond: runsPerSecond / slices,
    seconds: 20,
    warmUpSeconds: 15,
    grouped,
    seed: 1,
  });
  return {
    ...outcome,
    isolates,
    operationsPerSecond: outcome.operationsPerSecond * slices,
    changesPerSecond: outcome.changesPerSecond * slices,
    bytesPerSecond: outcome.bytesPerSecond * slices,
  };
}

/** The largest load at which 99 of 100 first bytes come in time, to a tenth. */
function breakingPoint(cost: RunCost, place: Place): number {
  let [low, high] = [1, 200_000];
  if (at(high, cost, place).firstByteMs.p99 <= limitMs) return high;
  while (high / low > 1.1) {
    const middle = Math.sqrt(low * high);
    if (at(middle, cost, place).firstByteMs.p99 <= limitMs) low = middle;
    else high = middle;
  }
  return low;
}

const round = (value: number): string => Number.isNaN(value) ? 'none' : Math.round(value).toLocaleString('en');

function rowOf(load: number, spacingMs: number, cost: RunCost, place: Place): Row {
  const { isolates, firstByteMs, operationsPerSecond, bytesPerSecond, cpuUse, databaseUse } = at(load, cost, place);
  const wanted = load * (cost.startCommits + cost.streamCommits) * cost.changes;
  const breaks = `breaks at the database: ${round(wanted)} writes/s are wanted`;
  const holds = [
    `${round(cpuUse * 100)} % CPU`,
    `first byte p50 ${round(firstByteMs.p50)}, p99 ${round(firstByteMs.p99)} ms`,
    `${round(operationsPerSecond)} operations/s`,
    `${round(bytesPerSecond / 1e6)} MB/s`,
    `database ${round(databaseUse * 100)} %`,
  ];
  return {
    figure: `${round(load)} runs/s, ${place.name.replaceAll('\n', ' ')}, spacing ${spacingMs} ms`,
    value: `${round(isolates)} isolates; ${firstByteMs.p99 <= limitMs ? holds.join('; ') : breaks}`,
  };
}

const spacings = [20, 250];
const rows: Row[] = [];
const lines: Line[] = [];
for (const spacingMs of spacings) {
  const cost = await measureRun(spacingMs);
  rows.push({
    figure: `one run, 300 tokens in 10 s, spacing ${spacingMs} ms`,
    value: `${
      (cost.startCpuMs + cost.streamCpuMs).toFixed(1)
    } ms CPU, ${cost.startCommits} + ${cost.streamCommits} commits of ${cost.changes.toFixed(1)} changes, ${
      round(cost.bytes)
    } B`,
  });
  for (const place of places) {
    for (const load of [10, 1_000, 100_000]) rows.push(rowOf(load, spacingMs, cost, place));
    rows.push({
      figure: `holds up to, ${place.name.replaceAll('\n', ' ')}, spacing ${spacingMs} ms`,
      value: `${round(breakingPoint(cost, place))} runs/s`,
    });
  }
  if (spacingMs === spacings.at(-1)) {
    for (const place of places) {
      const points = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000].map((load) => ({
        load,
        waitMs: at(load, cost, place).firstByteMs.p99,
      }));
      lines.push({ name: place.name, points });
    }
  }
  const [grouped, single] = [true, false].map((isGrouped) => at(1_000, cost, places[2] ?? file, isGrouped));
  rows.push({
    figure: `operations/s at 1,000 runs/s, grouped beside one by one, spacing ${spacingMs} ms`,
    value: round(grouped?.operationsPerSecond ?? NaN),
    peer: round(single?.operationsPerSecond ?? NaN),
    ratio: ((single?.operationsPerSecond ?? NaN) / (grouped?.operationsPerSecond ?? NaN)).toFixed(1),
  });
}
const folder = join(import.meta.dirname, '../../../bench-results');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'scaling.svg'), chartOf(lines));
report('How far it scales, simulated', rows);
