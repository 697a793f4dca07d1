/** Admits as many starts of runs as the endpoint can serve within its objective. */

import { PinnaceError } from '../../../src/base/errors.ts';

/** The longest that a start may take when the composition does not say, in milliseconds. */
export const defaultStartObjectiveMs = 2_000;

/** What admission works with. */
export interface AdmissionOptions {
  /** The longest that a start may take, in milliseconds. */
  readonly objectiveMs: number;
  readonly now: () => number;
}

/** The starts in progress. */
export interface Admission {
  /** How many there are. */
  readonly starting: number;
  /**
   * Counts a start, and returns the function that says that it is over.
   *
   * @throws PinnaceError `overloaded` (503) with the reason `start_objective` and the time after which a retry may be served.
   */
  enter(): () => void;
}

/** With fewer starts in progress, their times say how far away the storage is, and not how much the endpoint can serve. */
const fewest = 8;
/** The share of the last start in the average. */
const weight = 1 / 16;
const leastRetryMs = 1_000;

/**
 * Creates admission with nothing in progress. It learns the time between the ends of two starts while many are in progress. A new one
 * has to wait for those before it, so it is refused when that takes longer than the objective, and when no start has ended for as long.
 */
export function createAdmission({ objectiveMs, now }: AdmissionOptions): Admission {
  let starting = 0;
  let betweenMs = 0;
  let lastAt = now();
  const expectedMs = (): number => {
    if (starting < fewest) return 0;
    const silentMs = Math.max(0, now() - lastAt);
    return silentMs > objectiveMs ? Infinity : (starting + 1) * betweenMs;
  };
  const leave = (): void => {
    if (starting >= fewest) betweenMs += (Math.max(0, now() - lastAt) - betweenMs) * weight;
    lastAt = now();
    starting -= 1;
  };
  return {
    get starting() {
      return starting;
    },
    enter() {
      const waitMs = expectedMs();
      if (waitMs > objectiveMs) throw overloaded(Math.min(waitMs - objectiveMs, objectiveMs));
      if (starting === 0) lastAt = now();
      starting += 1;
      let isOver = false;
      return () => {
        if (!isOver) leave();
        isOver = true;
      };
    },
  };
}

function overloaded(overMs: number): PinnaceError {
  return new PinnaceError('overloaded', 'The endpoint cannot start the run in time: try again later', {
    retryAfterMs: Math.max(leastRetryMs, Math.ceil(overMs)),
    details: { reason: 'start_objective' },
  });
}
