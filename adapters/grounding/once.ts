/** What was done under which idempotency key, for a day. */

import { PinnaceError } from '../../src/base/errors.ts';
import type { Key } from '../../src/base/key.ts';
import type { Change, Storage } from '../../src/contracts/storage.ts';

/** A key, and a digest of what is done under it. */
export interface Keyed {
  readonly key: string;
  readonly digest: string;
}

/** Remembers keys. */
export interface Once {
  /** Whether it was done. Throws `conflict` when something else was. */
  isDone(keyed: Keyed): Promise<boolean>;
  /** The changes that note it, for the commit that does it. */
  changes(keyed: Keyed): readonly Change[];
}

const dayMs = 86_400_000;

/** Keeps keys in the storage under the prefix, or without one for as long as the process lives. */
export function createOnce(storage: Storage | undefined, prefix: Key): Once {
  const noted = new Map<string, string>();
  return {
    async isDone({ key, digest }) {
      const known = storage ? (await storage.get([...prefix, 'once', key]))?.value : noted.get(key);
      if (known === undefined || known === digest) return known !== undefined;
      throw new PinnaceError('conflict', 'Cannot remember under this idempotency key: it was used for other items', {
        retryable: false,
        details: { reason: 'idempotency_mismatch' },
      });
    },
    changes({ key, digest }) {
      if (storage) return [{ key: [...prefix, 'once', key], value: digest, ifVersion: null, ttlMs: dayMs }];
      noted.set(key, digest);
      return [];
    },
  };
}
