/** Stores used nonces: each is accepted once, by one instance. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { commitOwn } from '../../../src/log/own-commit.ts';
import type { CommitResult, Storage } from '../../../src/contracts/storage.ts';
import { clockSkewSeconds, maxSignatureSeconds } from './profile.ts';
import { refusal } from './refusal.ts';

/**
 * A signature at the limit of the future is accepted until `expires` plus the skew: 120 s. Reading a clock in whole seconds adds
 * one; the rest is for a store whose clock differs.
 */
const nonceTtlMs = (maxSignatureSeconds + 2 * clockSkewSeconds + 5) * 1000;

/** The used nonces. */
export interface NonceStore {
  /**
   * Claims a nonce of a key. One caller of those that claim the same nonce gets it.
   *
   * @throws PinnaceError `signature_replayed` for all others; `replay_store_full` or `overloaded` where the store fails: then no
   * caller gets it.
   */
  claim(keyThumbprint: string, nonce: string): Promise<void>;
}

/** Stores nonces for as long as their signatures could be replayed. */
export function createNonceStore({ storage }: { readonly storage: Storage }): NonceStore {
  return {
    async claim(keyThumbprint, nonce) {
      const key = ['auth', 'nonce', keyThumbprint, nonce];
      const mark = crypto.randomUUID(); // finds a claim whose response was lost
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
