/** When a log commits: at a spacing, or at once when its owner waits for it. */

/** A schedule of one log's commits. At most one runs at a time. */
export interface CommitSchedule {
  /** Lets the work run when the spacing has passed. */
  request(): void;
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
  /** The time between two runs; 0: at the end of the current turn, without a timer. */
  readonly spacingMs: number;
  readonly now: () => number;
}

/** Creates a schedule. */
export function createCommitSchedule({ work, isDue, spacingMs, now }: CommitScheduleOptions): CommitSchedule {
  let lastAt = -Infinity;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let requested = false;
  let running: Promise<void> | undefined;
  const execute = async (): Promise<void> => {
    await work();
    lastAt = now();
    running = undefined;
    if (isDue()) request();
  };
  const run = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    requested = false;
    return running ??= execute();
  };
  const request = (): void => {
    if (running || requested) return;
    requested = true;
    if (spacingMs === 0) return queueMicrotask(() => void (requested && run()));
    const waitMs = Math.min(spacingMs, Math.max(0, lastAt + spacingMs - now()));
    timer = setTimeout(() => void run(), waitMs);
  };
  return {
    request,
    run,
    get running() {
      return running;
    },
  };
}
