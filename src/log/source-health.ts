/** Whether a source answers. After a failure, callers with a stale value do not call it for a while. */

/** Whether a source answers. */
export interface SourceHealth {
  /** Whether it failed so recently that callers use a stale value without a call. */
  readonly isFailing: boolean;
  succeeded(): void;
  failed(): void;
}

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

/** Creates the health of a source. Each further failure doubles the pause, up to 30 s. */
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
      if (now() < until) return; // parallel failures count once
      until = now() + Math.min(longestPauseMs, firstPauseMs * 2 ** failures++);
    },
  };
}
