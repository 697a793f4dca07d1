/** Who reads a live run. A reader that leaves does not stop it: another may come, for a while. */

import { PinnaceError } from '../../base/errors.ts';

/** Counts readers. */
export interface Readers {
  /** @throws PinnaceError `rate_limited` when the run has as many as it may. */
  attach(): void;
  detach(): void;
  /** The run has ended: who leaves now leaves nothing behind. */
  stop(): void;
}

const maxReaders = 16;

/** Gives the count of readers, which calls back when the last has been gone for `graceMs`; never, when that is infinite. */
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
