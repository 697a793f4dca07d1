/** Stores used nonces: each is accepted once, by one instance. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { BoundedMap } from '../../../src/base/bounded-map.ts';
import { groupCommits } from '../../../src/log/group-commit.ts';
import { commitOwn } from '../../../src/log/commits.ts';
import type { NonceUse } from '../../../src/contracts/authenticator.ts';
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
   * Opens the use of a key's nonce. One of those that commit the same nonce gets it.
   *
   * @throws PinnaceError `signature_replayed` when this instance knows that the nonce was used, or is being used.
   */
  open(keyThumbprint: string, nonce: string): NonceUse;
  /** Opens the use and commits it. @throws PinnaceError as `NonceUse.commit`; where the store fails, no caller gets the nonce. */
  claim(keyThumbprint: string, nonce: string): Promise<void>;
}

/** The nonces that an instance remembers, so that it refuses most replays without its storage. */
const maxKnown = 10_000;

/** Stores nonces for as long as their signatures could be replayed. */
export function createNonceStore({ storage }: { readonly storage: Storage }): NonceStore {
  const grouped = groupCommits(storage);
  const known = new BoundedMap<string, true>(maxKnown);
  const open: NonceStore['open'] = (keyThumbprint, nonce) => {
    const id = JSON.stringify([keyThumbprint, nonce]);
    if (known.has(id)) throw refusal('signature_replayed');
    const key = ['auth', 'nonce', keyThumbprint, nonce];
    // A value of its own finds a commit whose response was lost.
    const change = { key, value: crypto.randomUUID(), ttlMs: nonceTtlMs, ifVersion: null };
    let used: Promise<void> | undefined;
    const use: NonceUse = {
      storage,
      change,
      commit: () =>
        used ??= commitUse(grouped, change).catch((error: unknown) => {
          used = undefined;
          if (!isReplay(error)) known.delete(id); // the same request may be sent again
          throw error;
        }),
      committed: () => void (used = Promise.resolve()),
      replayed: () => refusal('signature_replayed'),
    };
    known.set(id, true);
    return use;
  };
  return { open, claim: async (keyThumbprint, nonce) => await open(keyThumbprint, nonce).commit() };
}

async function commitUse(storage: Storage, change: NonceUse['change']): Promise<void> {
  const { key, value: mark } = change;
  const written = async (): Promise<string | undefined> => {
    const found = await storage.get(key);
    return found?.value === mark ? found?.version : undefined;
  };
  const result = await commitOwn(storage, [change], { written }).catch((error: unknown): CommitResult => {
    throw refusal(isFull(error) ? 'replay_store_full' : 'overloaded', { cause: error });
  });
  if (!result.ok) throw refusal('signature_replayed');
}

function isReplay(error: unknown): boolean {
  return error instanceof PinnaceError && error.code === 'signature_replayed';
}

function isFull(error: unknown): boolean {
  return error instanceof PinnaceError && error.details?.['reason'] === 'storage_full';
}
