/** Answers as data. */

import type { ErrorData } from '../../src/base/errors.ts';
import { toData } from '../../src/index.ts';
import { withRoomAdvice } from '../storage/no-room.ts';

/** Returns the result of the work, or its error. Never rejects. */
export async function answer<T>(work: () => T | Promise<T>): Promise<Answer<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error: withRoomAdvice(toData(error)) };
  }
}

/** An answer. Errors cross as data: comlink would drop their codes. */
export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: ErrorData };
