/** Whether a source answers. After a failure, callers that have an old value do not ask it for a while. */

/** Whether a source answers. */
export interface SourceHealth {
  /** Whether it failed so recently that callers use an old value without asking it. */
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
