/** Times one thing that is done many times. */

import { median } from '../measure.ts';

/** How often, how long, and what comes before. */
export interface Timing {
  readonly calls?: number;
  readonly budgetMs?: number;
  /** Runs before each call and is not timed. */
  readonly before?: () => void;
}

/** Microseconds of the middle call; slow ones get fewer calls. */
export function timed(run: (i: number) => void, { calls = 16_000, budgetMs = 1200, before }: Timing = {}): number {
  const times: number[] = [];
  const start = performance.now();
  for (let i = 0; i < calls && (i < 4 || performance.now() - start < budgetMs); i++) {
    before?.();
    const from = performance.now();
    run(i);
    times.push((performance.now() - from) * 1000);
  }
  return median(times.slice(times.length >> 1)); // the first half warms up
}
