/** The errors of a store that cannot be used, the same for every adapter. */

import { PinnaceError } from '../../src/base/errors.ts';

export function storageClosed(): PinnaceError {
  return unavailable('storage_closed', 'Cannot use the store: it is closed; open a new one', { retryable: false });
}

export function storageFull(message: string, cause?: unknown): PinnaceError {
  return unavailable('storage_full', message, { retryable: false, cause });
}

/** The error of a store that a newer version has written, in a format that is not known here. Nothing in it is touched. */
export function storageNewer(message: string, cause?: unknown): PinnaceError {
  return unavailable('storage_newer', message, { retryable: false, cause });
}

export function storageBlocked(
  message: string,
  options: { readonly retryable?: boolean; readonly cause?: unknown } = {},
): PinnaceError {
  return unavailable('storage_blocked', message, options);
}

function unavailable(reason: string, message: string, options: { retryable?: boolean; cause?: unknown }): PinnaceError {
  const { retryable = true, cause } = options;
  return new PinnaceError('unavailable', message, {
    retryable,
    details: { reason },
    ...(cause !== undefined && { cause }),
  });
}
