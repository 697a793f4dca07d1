/** One timer, which is set again whenever the next time changes. */

import { longestTimeoutMs } from '../../base/timer.ts';

/** Calls back at one time at most. */
export interface Alarm {
  /** Sets the time of the next call, in milliseconds since 1970; `Infinity` for a distant one. Replaces the time set before. */
  set(at: number): void;
  clear(): void;
}

/** Creates an alarm that is not set. A time beyond the longest timeout calls back earlier. */
export function createAlarm(onDue: () => void, now: () => number): Alarm {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current = Infinity;
  return {
    set(at) {
      if (at === current) return;
      clearTimeout(timer);
      current = at;
      timer = setTimeout(() => {
        current = Infinity;
        onDue();
      }, Math.min(longestTimeoutMs, Math.max(0, at - now())));
    },
    clear: () => clearTimeout(timer),
  };
}
