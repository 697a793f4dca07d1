/** Figures beside their bars. */

import type { Browser } from 'playwright';
import { quantile, type Row } from '../measure.ts';
import type { Measured } from './probe.ts';

/** Where the pages are, and what opens them. */
export interface Bench {
  readonly browser: Browser;
  readonly url: string;
}

/** A figure in milliseconds that may be so large at most. */
export function msRow(figure: string, value: number, bar?: number): Row {
  const shown = { figure, value: `${value.toFixed(value < 10 ? 1 : 0)} ms` };
  return bar === undefined ? shown : { ...shown, bar: `<= ${bar} ms`, met: value <= bar };
}

/** Rows for the page's thread: its longest task by wall clock and by CPU time, and its total work. */
export function workRows(what: string, { longTasks, longestWorkMs, workMs, tookMs }: Measured, longest: number): Row[] {
  const most = Math.max(0, ...longTasks);
  return [
    {
      figure: `${what}: longest task`,
      value: most === 0 ? 'under 50 ms' : `${most.toFixed(0)} ms, ${longTasks.length} of 50 ms or more`,
      bar: `<= ${longest} ms`,
      met: most <= longest,
    },
    msRow(`${what}: the thread’s own work in its longest task`, longestWorkMs, longest),
    {
      figure: `${what}: work of the page’s thread`,
      value: `${workMs.toFixed(0)} ms in ${(tookMs / 1000).toFixed(1)} s`,
    },
  ];
}

/** How evenly frames came. */
export function frameRows(what: string, { frames }: Measured, bar = 34): Row[] {
  return [msRow(`${what}: 95 of 100 frames come within`, quantile(frames, 0.95), bar)];
}

/** What the slowest of 50 things that a person did had to wait for the next paint. */
export function interactionRow(what: string, { interactions }: Measured, done: number): Row {
  return msRow(`${what}: interaction to next paint, the slowest of ${done}`, Math.max(0, ...interactions), 100);
}
