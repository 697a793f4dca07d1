/** Answers as data. */

import { toData } from '../../../src/index.ts';
import { withRoomAdvice } from '../../storage/no-room.ts';
import type { Answer } from './control.ts';

/** Returns the result of the work, or its error. Never rejects. */
export async function answer<T>(work: () => T | Promise<T>): Promise<Answer<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error: withRoomAdvice(toData(error)) };
  }
}
