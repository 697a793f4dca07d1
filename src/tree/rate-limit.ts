/** A token bucket: so many calls at once, refilled at a steady rate. */

import type { Rate } from './limits.ts';

/** Counts the calls of one agent. */
export interface Bucket {
  /** Takes one call; gives 0, or the time until one is free. */
  take(rate: Rate, now: number): number;
}

/** Gives a full bucket. */
export function createBucket(): Bucket {
  let used = 0;
  let at = 0;
  return {
    take({ perSecond, burst }, now) {
      used = Math.max(0, used - (Math.max(0, now - at) / 1000) * perSecond);
      at = now;
      const missing = used + 1 - burst;
      if (missing > 1e-9) return Math.max(1, Math.ceil((missing / perSecond) * 1000 - 1e-6));
      used++;
      return 0;
    },
  };
}
