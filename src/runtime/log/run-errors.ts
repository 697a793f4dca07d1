/** The errors of reading and claiming runs. */

import { PinnaceError } from '../../base/errors.ts';

/** Two requests claimed one key at the same time. */
export function claimedAtOnce(): PinnaceError {
  return new PinnaceError(
    'conflict',
    'Cannot start the run: another request claimed its key at the same time; send it again',
  );
}

/** No run of the caller has the id. */
export function notFound(): PinnaceError {
  return new PinnaceError('not_found', 'No run has this id', { details: { reason: 'run_not_found' } });
}

/** The run is past its retention. */
export function expired(): PinnaceError {
  return new PinnaceError('run_expired', 'Cannot read the run: its retention has passed');
}

/** The run has no event of this number. */
export function badCursor(): PinnaceError {
  return new PinnaceError('last_event_id_invalid', 'Cannot resume the run: it has no event with this number');
}

/** The key belongs to another request. */
export function reused(): PinnaceError {
  return new PinnaceError(
    'idempotency_key_reused',
    'Cannot start the run: its idempotency key was used for another request; use a new key',
  );
}
