/** Who changed what, when, and how it went: one entry for every mutating call, whatever its outcome. */

import { BoundedMap } from '../base/bounded-map.ts';
import type { Remembered } from './tree-core.ts';

/** One mutating call. */
export interface AuditEntry {
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly agentId: string;
  readonly role: string;
  /** The tool. */
  readonly op: string;
  /** The ids that the call named. */
  readonly targets: readonly string[];
  /** `ok`, `replayed`, or the code of the error. */
  readonly outcome: string;
  readonly versionBefore: string;
  readonly versionAfter: string;
  readonly idempotencyKey?: string;
  /** SHA-256 of the arguments, without version token and idempotency key. */
  readonly argsDigest: string;
  /** How long it took. */
  readonly ms: number;
}

/** Receives entries in order. What it throws cannot break a call. */
export type AuditSink = (entry: AuditEntry) => void;

/** An entry that has not been stored: its number is still 0. */
export type UnnumberedEntry = Omit<AuditEntry, 'seq'> & { seq: number };

const maxEntries = 10_000;

export class AuditTrail {
  readonly #entries: AuditEntry[] = []; // a ring: entry `seq` is at `seq % maxEntries`
  #last = 0;

  add(entry: UnnumberedEntry, sink: AuditSink | undefined): void {
    entry.seq = ++this.#last;
    this.#entries[this.#last % maxEntries] = entry;
    try {
      sink?.(entry);
    } catch {
      // a sink's failure is its own
    }
  }

  list({ after = 0, limit = maxEntries }: { readonly after?: number; readonly limit?: number } = {}): AuditEntry[] {
    const listed: AuditEntry[] = [];
    for (let seq = Math.max(after, this.#last - maxEntries) + 1; seq <= this.#last && listed.length < limit; seq++) {
      listed.push(this.#entries[seq % maxEntries]!); // safe: the latest are all there
    }
    return listed;
  }
}

/** How many answers are stored, and for how long. The least recently used is evicted first. */
const maxAnswers = 10_000;
export const answerTtlMs = 24 * 60 * 60_000;

/** The successful answers of calls that came with an idempotency key, by agent, tool and key. */
export class Ledger {
  readonly #answers = new BoundedMap<string, Remembered>(maxAnswers);
  /** The call with this id that is under way, if one is. */
  readonly pending = new Map<string, Promise<unknown>>();

  get(id: string, now: number): Remembered | undefined {
    const answer = this.#answers.get(id);
    if (!answer) return undefined;
    this.#answers.delete(id);
    if (now - answer.at > answerTtlMs) return undefined;
    this.#answers.set(id, answer);
    return answer;
  }

  set(id: string, answer: Remembered): void {
    this.#answers.set(id, answer);
  }
}

/** One text for agent, tool and key, whatever characters are in them. */
export function ledgerId(agentId: string, tool: string, key: string): string {
  return JSON.stringify([agentId, tool, key]);
}

/** A rate: so many calls a second, so many at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Which bucket a call takes from. Repeats of a write that was answered already are counted apart. */
interface Taking {
  readonly agentId: string;
  readonly kind: 'reads' | 'writes' | 'replays';
  readonly rate: Rate;
  readonly now: number;
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
 * Token buckets of a tree's agents: so many calls at once, refilled at a steady rate. Only full buckets are evicted, so a new agent never
 * resets another's. While there are none to evict, further agents share one bucket per kind.
 */
export class RateLimiter {
  readonly #limit: number;
  readonly #buckets = new Map<string, Bucket>();
  readonly #shared = new Map<string, Bucket>();
  #sweptAt = -Infinity;

  constructor({ limit = maxBuckets } = {}) {
    this.#limit = limit;
  }

  /** Takes one call; returns 0, or the milliseconds until one is free. */
  take(taking: Taking): number {
    return takeFrom(this.#bucketOf(taking), taking);
  }

  #bucketOf({ agentId, kind, now }: Taking): Bucket {
    const id = `${kind} ${agentId}`;
    const known = this.#buckets.get(id);
    if (known) return known;
    if (this.#buckets.size >= this.#limit) this.#sweep(now);
    const isFull = this.#buckets.size >= this.#limit;
    const bucket = (isFull ? this.#shared.get(kind) : undefined) ?? { used: 0, at: now, fullAt: now };
    if (isFull) this.#shared.set(kind, bucket);
    else this.#buckets.set(id, bucket);
    return bucket;
  }

  #sweep(now: number): void {
    if (Math.abs(now - this.#sweptAt) < sweepMs) return;
    this.#sweptAt = now;
    for (const [id, { fullAt }] of this.#buckets) if (fullAt <= now) this.#buckets.delete(id);
  }
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
