/** A token bucket in the storage: however many instances share it, no more calls pass than it allows. */

import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import { commitOwn } from './own-commit.ts';
import type { Storage } from '../contracts/storage.ts';

/** What is limited, and to how much. */
export interface RateLimit {
  readonly key: Key;
  /** Passes so many in a minute, and as many at once. */
  readonly perMinute: number;
}

interface Bucket {
  readonly tokens: number;
  readonly at: number;
  /** Who took the last token. */
  readonly by?: string;
}

const minuteMs = 60_000;
const maxTries = 20;

/**
 * Takes one token.
 *
 * @throws PinnaceError `rate_limited` with the time until there is one again; `unavailable` when too many try at once.
 */
export async function takeToken(
  { key, perMinute }: RateLimit,
  { storage, now }: { storage: Storage; now: () => number },
): Promise<void> {
  for (let tries = 0; tries < maxTries; tries++) {
    const entry = await storage.get(key);
    const time = now();
    const { tokens, at } = (entry?.value as Bucket | undefined) ?? { tokens: perMinute, at: time }; // written below alone
    const filled = Math.min(perMinute, tokens + (Math.max(0, time - at) * perMinute) / minuteMs);
    if (filled < 1) {
      throw new PinnaceError(
        'rate_limited',
        'Cannot call another tool now: the agent has made as many calls as it may',
        {
          retryAfterMs: Math.ceil(((1 - filled) * minuteMs) / perMinute),
        },
      );
    }
    const by = crypto.randomUUID();
    const value: Bucket = { tokens: filled - 1, at: time, by };
    // A full bucket is as good as none, so it need not outlive the time that it takes to fill.
    const change = { key, value, ifVersion: entry?.version ?? null, ttlMs: 2 * minuteMs };
    const result = await commitOwn(storage, [change], {
      written: async () => {
        const stored = await storage.get(key);
        return (stored?.value as Bucket | undefined)?.by === by ? stored?.version : undefined; // written here alone
      },
    });
    if (result.ok) return;
  }
  throw new PinnaceError('unavailable', 'Cannot count the call: too many are made at once', { retryAfterMs: 100 });
}
