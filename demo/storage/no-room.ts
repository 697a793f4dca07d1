/** Advice for a full storage: the worker's error does not say what to do. */

import type { ErrorData } from '../../src/base/errors.ts';

/** What a person does about it. */
const advice =
  'The browser’s storage for this site is full: free up space on the page “Privacy and data”, then try again';

/** Returns the error; where it says that there is no room, with what helps. */
export function withRoomAdvice<E extends Pick<ErrorData, 'message' | 'details'>>(error: E): E {
  const { reason, cause } = error.details ?? {};
  return reason === 'storage_full' || cause === 'storage_full' ? { ...error, message: advice } : error;
}
