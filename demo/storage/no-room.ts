/** A full disk in a person's words: what the worker says of it does not tell what to do about it. */

import type { ErrorData } from '../../src/base/errors.ts';

/** What a person does about it. */
const advice =
  'The browser’s storage for this site is full: free up space on the page “Privacy and data”, then try again';

/** Gives the error; where it says that there is no room, with what helps. */
export function withRoomAdvice<E extends Pick<ErrorData, 'message' | 'details'>>(error: E): E {
  const { reason, cause } = error.details ?? {};
  return reason === 'storage_full' || cause === 'storage_full' ? { ...error, message: advice } : error;
}
