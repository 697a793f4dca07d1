/** Whether a source answers: one that has failed is left alone for a while, where an old value is at hand. */

/** Whether a source answers. */
export interface SourceHealth {
  /** Whether it has failed so recently that an old value is served without asking it. */
  readonly isFailing: boolean;
  succeeded(): void;
  failed(): void;
}

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

/** Creates the health of a source. After each failure in a row it is left alone for twice as long, up to 30 s. */
export function createSourceHealth(now: () => number): SourceHealth {
  let failures = 0;
  let until = -Infinity;
  return {
    get isFailing() {
      return now() < until;
    },
    succeeded() {
      failures = 0;
      until = -Infinity;
    },
    failed() {
      if (now() < until) return; // failures side by side are one
      until = now() + Math.min(longestPauseMs, firstPauseMs * 2 ** failures++);
    },
  };
}
