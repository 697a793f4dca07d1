/** Events for a follower with a position of its own: first the stored ones behind it, then new ones as they come. */

import type { ObservedEvent } from '../contracts/event-sink.ts';
import type { EventFilter } from './event-query.ts';
import type { EventRing, RingEvent } from './event-ring.ts';

/** Why events are missing: expired; numbered by another origin; dropped because the reader was too slow; never written. */
export type GapReason = 'expired' | 'unknown' | 'slow' | 'lost';

/** What a follower receives. `seq` is the position to continue from. */
export type Followed =
  /** Always first. */
  | { readonly type: 'ready'; readonly seq: number }
  | { readonly type: 'event'; readonly seq: number; readonly event: ObservedEvent }
  /** Events are missing before the next one: `dropped` of them, where that is known. */
  | { readonly type: 'gap'; readonly reason: GapReason; readonly dropped?: number }
  /** All stored events have been read. Sent once. */
  | { readonly type: 'live'; readonly seq: number };

/** Where to start, and which events to return. */
export interface FollowOptions {
  /** Behind this number, 0 for all that is stored; `elsewhere` for a number of another origin; from now on when absent. */
  readonly after?: number | 'elsewhere' | undefined;
  /** Which events to return; all when absent. */
  readonly filter?: EventFilter | undefined;
  /** Ends the feed. */
  readonly signal: AbortSignal;
}

/** Events in order. */
export interface EventFeed {
  /** Names who numbers the events: a number means nothing with another origin. */
  readonly origin: string;
  /** Returns the events until the signal aborts. Rejects when they cannot be read. */
  follow(options: FollowOptions): AsyncGenerator<Followed, void>;
}

export function ringFeed(
  ring: EventRing,
  { origin, isVisible }: { readonly origin: string; readonly isVisible: (tenant: string | undefined) => boolean },
): EventFeed {
  return {
    origin,
    async *follow({ after: given, filter, signal }) {
      const isElsewhere = given === 'elsewhere' || (given !== undefined && given > ring.lastSeq);
      const from = isElsewhere ? 0 : given ?? ring.lastSeq;
      yield { type: 'ready', seq: from };
      if (isElsewhere) yield { type: 'gap', reason: 'unknown' };
      const expired = Math.max(0, ring.lastSeq - ring.capacity - from);
      if (expired > 0 && !isElsewhere) yield { type: 'gap', reason: 'expired', dropped: expired };
      const last = ring.lastSeq;
      for (const { seq, event } of ring.read(isVisible, { filter, after: from })) yield { type: 'event', seq, event };
      yield { type: 'live', seq: last };
      yield* subscribed(ring.watch(isVisible, { filter, after: last, signal }));
    },
  };
}

/** Reads a stream without async iteration, which not every browser has. */
async function* subscribed(stream: ReadableStream<RingEvent>): AsyncGenerator<Followed, void> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const { seq, event, dropped } = next.value;
      if (dropped !== undefined) yield { type: 'gap', reason: 'slow', dropped };
      yield { type: 'event', seq, event };
    }
  } finally {
    await reader.cancel();
  }
}
