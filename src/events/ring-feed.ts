/** The events of one instance, as long as its ring holds them. */

import type { EventFeed, Followed } from './event-feed.ts';
import type { EventRing, RingEvent } from './event-ring.ts';

/** Returns a feed of the events in the ring. */
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
