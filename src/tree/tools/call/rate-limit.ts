/** Token buckets of a tree's agents: so many calls at once, refilled at a steady rate. */

import type { Rate } from '../limits.ts';

/** What is counted apart: reads, writes, and repeats of a write that was answered already. */
export type RateKind = 'reads' | 'writes' | 'replays';

/** Which bucket a call takes from. */
interface Taking {
  readonly agentId: string;
  readonly kind: RateKind;
  readonly rate: Rate;
  readonly now: number;
}

/** Counts the calls of all agents of one tree. */
export interface RateLimiter {
  /** Takes one call; returns 0, or the milliseconds until one is free. */
  take(taking: Taking): number;
}

interface Bucket {
  used: number;
  at: number;
  /** From then on the bucket is full, and the same as a new one. */
  fullAt: number;
}

/** How many buckets are stored, and how often full ones are looked for when there is no room. */
const maxBuckets = 10_000;
const sweepMs = 1000;

/**
 * Creates a limiter with bounded memory. Only full buckets are evicted, so a new agent never resets another's. While there are none to
 * evict, further agents share one bucket per kind.
 */
export function createRateLimiter({ limit = maxBuckets } = {}): RateLimiter {
  const buckets = new Map<string, Bucket>();
  const shared = new Map<RateKind, Bucket>();
  let sweptAt = -Infinity;

  function sweep(now: number): void {
    if (Math.abs(now - sweptAt) < sweepMs) return;
    sweptAt = now;
    for (const [id, { fullAt }] of buckets) if (fullAt <= now) buckets.delete(id);
  }

  function bucketOf({ agentId, kind, now }: Taking): Bucket {
    const id = `${kind} ${agentId}`;
    const known = buckets.get(id);
    if (known) return known;
    if (buckets.size >= limit) sweep(now);
    const isFull = buckets.size >= limit;
    const bucket = (isFull ? shared.get(kind) : undefined) ?? { used: 0, at: now, fullAt: now };
    if (isFull) shared.set(kind, bucket);
    else buckets.set(id, bucket);
    return bucket;
  }

  return { take: (taking) => takeFrom(bucketOf(taking), taking) };
}

function takeFrom(bucket: Bucket, { rate: { perSecond, burst }, now }: Taking): number {
  bucket.used = Math.max(0, bucket.used - (Math.max(0, now - bucket.at) / 1000) * perSecond);
  bucket.at = now;
  const missing = bucket.used + 1 - burst;
  const isFree = missing <= 1e-9;
  if (isFree) bucket.used++;
  bucket.fullAt = now + (bucket.used / perSecond) * 1000;
  return isFree ? 0 : Math.max(1, Math.ceil((missing / perSecond) * 1000 - 1e-6));
}
