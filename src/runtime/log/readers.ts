/** The readers of a live run. After the last one has left, the run continues for a while: another may come. */

import { PinnaceError } from '../../base/errors.ts';

/** Counts readers. */
export interface Readers {
  /** @throws PinnaceError `rate_limited` when the run has as many as it may. */
  attach(): void;
  detach(): void;
  /** The run has ended: readers that leave now have no effect. */
  stop(): void;
}

const maxReaders = 16;

/** Counts readers, and calls back `graceMs` after the last has left; never when that is infinite. */
export function createReaders({ graceMs, onAbandoned }: { graceMs: number; onAbandoned: () => void }): Readers {
  let count = 0;
  let stopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    attach() {
      if (count >= maxReaders) {
        throw new PinnaceError('rate_limited', `Cannot read the run: it has ${maxReaders} readers`, {
          retryAfterMs: 1000,
          details: { reason: 'too_many_readers' },
        });
      }
      count += 1;
      clearTimeout(timer);
    },
    detach() {
      count -= 1;
      if (count === 0 && !stopped && Number.isFinite(graceMs)) timer = setTimeout(onAbandoned, graceMs);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
