/** A token bucket in the storage, which all instances share. */

import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import { commitOwn } from './commits.ts';
import type { Storage } from '../contracts/storage.ts';

/** A limit and its key. */
export interface RateLimit {
  readonly key: Key;
  /** The calls per minute, and the size of a burst. */
  readonly perMinute: number;
}

interface Bucket {
  readonly tokens: number;
  readonly at: number;
  /** The random mark of the last commit. */
  readonly by?: string;
}

const minuteMs = 60_000;
const maxTries = 20;

/**
 * Takes one token. Instances whose clocks differ by some time allow at most the tokens of that time more, once.
 *
 * @throws PinnaceError `rate_limited` with the time until the next token; `unavailable` when too many callers try at the same time.
 */
export async function takeToken(
  { key, perMinute }: RateLimit,
  { storage, now }: { storage: Storage; now: () => number },
): Promise<void> {
  for (let tries = 0; tries < maxTries; tries++) {
    const entry = await storage.get(key);
    const time = now();
    const { tokens, at } = (entry?.value as Bucket | undefined) ?? { tokens: perMinute, at: time }; // only written below
    const filled = Math.min(perMinute, tokens + (Math.max(0, time - at) * perMinute) / minuteMs);
    if (filled < 1) {
      throw new PinnaceError(
        'rate_limited',
        'Cannot call another tool now: the agent has reached its limit of calls per minute; try again later',
        {
          retryAfterMs: Math.ceil(((1 - filled) * minuteMs) / perMinute),
        },
      );
    }
    const by = crypto.randomUUID();
    // Never back: of two instances whose clocks differ, each would fill the bucket again with the difference.
    const value: Bucket = { tokens: filled - 1, at: Math.max(at, time), by };
    // A full bucket equals no bucket, so it expires once it has filled.
    const change = { key, value, ifVersion: entry?.version ?? null, ttlMs: 2 * minuteMs };
    const result = await commitOwn(storage, [change], {
      written: async () => {
        const stored = await storage.get(key);
        return (stored?.value as Bucket | undefined)?.by === by ? stored?.version : undefined; // only written here
      },
    });
    if (result.ok) return;
  }
  throw new PinnaceError('unavailable', 'Cannot count the call: too many are made at the same time; try again', {
    retryAfterMs: 100,
    details: { reason: 'storage_contended' },
  });
}
