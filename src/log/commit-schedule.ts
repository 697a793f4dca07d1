/** When a log commits: at a tick, or at once when its owner waits for it or the log was silent. */

import type { CommitTick } from './commit-tick.ts';

/** A schedule of one log's commits. At most one runs at a time. */
export interface CommitSchedule {
  /**
   * Lets the work run at the next tick; at the end of the task where `soon` is set, or where it has not run for a spacing.
   */
  request(options?: { readonly soon?: boolean | undefined }): void;
  /** Runs the work now, unless it is running. Resolves when it has run. */
  run(): Promise<void>;
  /** The run in progress. */
  readonly running: Promise<void> | undefined;
}

/** What a schedule runs, and when. */
export interface CommitScheduleOptions {
  /** Never rejects. */
  readonly work: () => Promise<void>;
  /** Whether there is work left after a run. */
  readonly isDue: () => boolean;
  readonly tick: CommitTick;
  readonly now: () => number;
}

/** What is added in one task goes together: an end is never committed in two parts. */
function atEndOfTask(run: () => unknown): () => void {
  const timer = setTimeout(run);
  return () => clearTimeout(timer);
}

const turn = Promise.resolve();

/** Creates a schedule. */
export function createCommitSchedule({ work, isDue, tick, now }: CommitScheduleOptions): CommitSchedule {
  let lastAt = -Infinity;
  let requested = false;
  let cancel: (() => void) | undefined;
  let running: Promise<void> | undefined;
  const execute = async (): Promise<void> => {
    lastAt = now();
    await turn; // the calls of a step are added one after the other, and go into one commit
    await work();
    running = undefined;
    if (isDue()) request();
  };
  const run = (): Promise<void> => {
    requested = false;
    cancel?.();
    cancel = undefined;
    return running ??= execute();
  };
  const request = ({ soon = false } = {}): void => {
    if (running || (requested && !soon)) return;
    cancel?.();
    requested = true;
    const mayWait = !soon && now() - lastAt < tick.spacingMs;
    cancel = mayWait || tick.spacingMs === 0 ? tick.wait(run) : atEndOfTask(run);
  };
  return {
    request,
    run,
    get running() {
      return running;
    },
  };
}
