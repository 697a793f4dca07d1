/** Compares what a wrong call throws with the whole message that a developer reads. */

import { describe, expect, it } from 'vitest';
import { PinnaceError } from '../../../src/base/errors.ts';

export type Mistake = readonly [title: string, call: () => unknown, message: string];

/** Lists the mistakes of an entry as tests: each is an `invalid_argument` with the whole message, unless `code` says otherwise. */
export function expectMistakes(
  entry: string,
  mistakes: readonly Mistake[],
  code: PinnaceError['code'] = 'invalid_argument',
): void {
  describe(`mistakes with ${entry}`, () => {
    it.each(mistakes)('explains %s', async (_, call, message) => {
      const thrown = await errorOf(call);
      expect(thrown).toBeInstanceOf(PinnaceError);
      expect(thrown).toMatchObject({ message, code });
    });
  });
}

async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return 'it was accepted';
}

/** What a JavaScript caller passes, past the types. */
export function untyped(value: unknown): never {
  return value as never;
}
