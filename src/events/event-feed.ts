/** What happens, for those who follow it from a place of their own: what is kept behind that place first, then as it comes. */

import type { EventFilter } from './event-query.ts';
import type { EventRing, RingEvent } from './event-ring.ts';
import type { ObservedEvent } from '../contracts/event-sink.ts';

/** Why events are missing: no longer kept; numbered by somebody else; passed by while nobody read; never written. */
export type GapReason = 'expired' | 'unknown' | 'slow' | 'lost';

/** What a follower gets. `seq` is where to go on from. */
export type Followed =
  /** First of all. */
  | { readonly type: 'ready'; readonly seq: number }
  | { readonly type: 'event'; readonly seq: number; readonly event: ObservedEvent }
  /** Some are missing before the next: so many, or unknown how many. */
  | { readonly type: 'gap'; readonly reason: GapReason; readonly dropped?: number }
  /** All that was kept has been given; told once. */
  | { readonly type: 'live'; readonly seq: number };

/** From where on, and which events are wanted. */
export interface FollowOptions {
  /** Behind this number, 0 for all that is kept; `elsewhere`, where somebody else has numbered; from now on when absent. */
  readonly after?: number | 'elsewhere' | undefined;
  readonly filter?: EventFilter | undefined;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** Events in their order. */
export interface EventFeed {
  /** Who numbers them: a number means nothing elsewhere. */
  readonly origin: string;
  /** Gives the events until the signal aborts. Rejects where they cannot be read. */
  follow(options: FollowOptions): AsyncGenerator<Followed, void>;
}

/** The events of one instance, as long as its ring has them. */
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
      yield* watched(ring.watch(isVisible, { filter, after: last, signal }));
    },
  };
}

/** Not every browser iterates over streams. */
async function* watched(stream: ReadableStream<RingEvent>): AsyncGenerator<Followed, void> {
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
