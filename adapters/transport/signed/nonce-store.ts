/** Which signatures have been used: each nonce counts once, whatever the instance that saw it. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { commitOwn } from '../../../src/log/own-commit.ts';
import type { CommitResult, Storage } from '../../../src/contracts/storage.ts';
import { clockSkewSeconds, maxSignatureSeconds } from './profile.ts';
import { refusal } from './refusal.ts';

/**
 * A signature from the edge of the future is accepted until `expires` and the skew behind it have passed: 120 s. A clock that is
 * read in whole seconds adds one; the rest is for a store whose clock is not ours.
 */
const nonceTtlMs = (maxSignatureSeconds + 2 * clockSkewSeconds + 5) * 1000;

/** Remembers nonces. */
export interface NonceStore {
  /**
   * Takes a nonce of a key. Of all who ask for the same, one gets it.
   *
   * @throws PinnaceError `signature_replayed` for all others; `replay_store_full` or `overloaded` where the store cannot tell:
   * then nobody gets it.
   */
  claim(keyThumbprint: string, nonce: string): Promise<void>;
}

/** Keeps nonces in a storage, for as long as their signatures could be used again. */
export function createNonceStore({ storage }: { readonly storage: Storage }): NonceStore {
  return {
    async claim(keyThumbprint, nonce) {
      const key = ['auth', 'nonce', keyThumbprint, nonce];
      const mark = crypto.randomUUID(); // finds a claim whose answer was lost
      const change = { key, value: mark, ttlMs: nonceTtlMs, ifVersion: null };
      const written = async (): Promise<string | undefined> => {
        const found = await storage.get(key);
        return found?.value === mark ? found.version : undefined;
      };
      const result = await commitOwn(storage, [change], { written }).catch((error: unknown): CommitResult => {
        throw refusal(isFull(error) ? 'replay_store_full' : 'overloaded', { cause: error });
      });
      if (!result.ok) throw refusal('signature_replayed');
    },
  };
}

function isFull(error: unknown): boolean {
  return error instanceof PinnaceError && error.details?.['reason'] === 'storage_full';
}
