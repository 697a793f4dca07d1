/** Charts over time, from the counters of an endpoint. */

import type { Totals } from './totals.ts';

export interface Line {
  readonly label: string;
  /** One for each time; `undefined` where nothing was measured. */
  readonly values: readonly (number | undefined)[];
}

/** Lines over the same times. */
export interface Chart {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  /** In milliseconds since 1970, the oldest first. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
}

/** Two readings, one after the other. */
interface Interval {
  readonly from: Totals;
  readonly to: Totals;
}

type Measure = (interval: Interval) => number | undefined;

interface ChartShape extends Pick<Chart, 'id' | 'title' | 'unit'> {
  readonly lines: readonly (readonly [label: string, measure: Measure])[];
}

/** The most points of a line; longer histories are drawn in wider intervals. */
export const mostPoints = 60;

const shapes: readonly ChartShape[] = [
  {
    id: 'runs',
    title: 'Runs',
    unit: 'per minute',
    lines: [
      ['Completed', perMinute('completedRuns')],
      ['Failed', perMinute('failedRuns')],
      ['Stopped or waiting', perMinute('otherRuns')],
    ],
  },
  { id: 'open', title: 'Active runs', unit: 'now', lines: [['Active', ({ to }) => to.openRuns]] },
  {
    id: 'tokens',
    title: 'Tokens',
    unit: 'per minute',
    lines: [['Input', perMinute('inputTokens')], ['Output', perMinute('outputTokens')]],
  },
  {
    id: 'latency',
    title: 'Time to first token',
    unit: 'ms, average',
    lines: [['Average', ratio('firstChunkSeconds', 'firstChunks', 1000)]],
  },
  {
    id: 'errors',
    title: 'Errors',
    unit: 'per minute',
    lines: [
      ['Failed runs', perMinute('failedRuns')],
      ['Failed tool calls', perMinute('failedToolCalls')],
      ['Rejected requests', perMinute('rejectedRequests')],
    ],
  },
  { id: 'cache', title: 'Cache hit rate', unit: '% of lookups', lines: [['Hit rate', hitShare]] },
];

/** Returns the charts of the readings, the oldest first. With fewer than two readings the lines are empty. */
export function chartsOf(readings: readonly Totals[]): readonly Chart[] {
  const intervals = intervalsOf(readings);
  const times = intervals.map(({ to }) => to.at);
  return shapes.map(({ lines, ...shape }) => ({
    ...shape,
    times,
    lines: lines.map(([label, measure]) => ({ label, values: intervals.map(measure) })),
  }));
}

function intervalsOf(readings: readonly Totals[]): readonly Interval[] {
  const step = Math.max(1, Math.ceil((readings.length - 1) / mostPoints));
  const picked = readings.filter((_, i) => (readings.length - 1 - i) % step === 0); // the latest is always shown
  return picked.slice(1).flatMap((to, i) => {
    const from = picked[i];
    return from ? [{ from, to }] : [];
  });
}

type Counter = Exclude<keyof Totals, 'at'>;

/** The growth of a counter; `undefined` where it fell, as after a restart of the endpoint. */
function growth(counter: Counter, { from, to }: Interval): number | undefined {
  const grown = to[counter] - from[counter];
  return grown < 0 ? undefined : grown;
}

function perMinute(counter: Counter): Measure {
  return (interval) => {
    const grown = growth(counter, interval);
    const minutes = (interval.to.at - interval.from.at) / 60_000;
    return grown === undefined || minutes <= 0 ? undefined : grown / minutes;
  };
}

/** Returns the ratio of two growths times `factor`; `undefined` where the second did not grow. */
function ratio(above: Counter, below: Counter, factor: number): Measure {
  return (interval) => {
    const [a, b] = [growth(above, interval), growth(below, interval)];
    return a === undefined || b === undefined || b === 0 ? undefined : (a / b) * factor;
  };
}

function hitShare(interval: Interval): number | undefined {
  const [hits, misses] = [growth('cacheHits', interval), growth('cacheMisses', interval)];
  if (hits === undefined || misses === undefined || hits + misses === 0) return undefined;
  return (hits / (hits + misses)) * 100;
}
