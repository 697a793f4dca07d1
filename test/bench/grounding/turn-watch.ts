/** Measures the longest turn of the event loop by its own work. Reports garbage collection separately. */

import { PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as soon } from 'node:timers/promises';

/** The measured turns. */
export interface SeenTurns {
  /** Milliseconds of the longest turn, less the collections in it. */
  readonly longest: number;
  /** With them. */
  readonly withCollections: number;
}

/** Measures until the returned function is called. Another process on the same core makes a turn look longer than it is. */
export function watchTurns(): () => Promise<SeenTurns> {
  const long: { readonly from: number; readonly to: number }[] = [];
  const collections: { readonly startTime: number; readonly duration: number }[] = [];
  const observer = new PerformanceObserver((list) => void collections.push(...list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  let running = true;
  let last = performance.now();
  const look = (): void => {
    const now = performance.now();
    if (now - last > 5) long.push({ from: last, to: now });
    last = performance.now();
    if (running) setImmediate(look);
  };
  setImmediate(look);
  return async () => {
    running = false;
    await soon();
    collections.push(...observer.takeRecords());
    observer.disconnect();
    const own = long.map(({ from, to }) => {
      const inIt = collections.filter(({ startTime }) => startTime >= from && startTime < to);
      return to - from - inIt.reduce((sum, { duration }) => sum + duration, 0);
    });
    return { longest: Math.max(0, ...own), withCollections: Math.max(0, ...long.map(({ from, to }) => to - from)) };
  };
}
