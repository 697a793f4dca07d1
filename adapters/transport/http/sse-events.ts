/** Encodes observed events as server-sent events, for as long as the client reads. */

import type { Followed } from '../../../src/events/event-feed.ts';
import type { Metrics } from '../../../src/base/metrics.ts';

/** What an encoder needs besides the events. */
export interface EventStreamOptions {
  /** The origin of the event numbers: a number means nothing elsewhere. */
  readonly origin: string;
  /** The first of the feed. */
  readonly ready: IteratorResult<Followed, void>;
  /** The time without an event after which a comment is sent. */
  readonly keepAliveMs: number;
  /** Whether the observer's session has expired; called with every comment. */
  readonly isOver: () => boolean;
  readonly metrics: Metrics;
  /** The stream has ended, so the feed must end. Called once. */
  readonly onClosed: () => void;
}

const encoder = new TextEncoder();
const keepAlive = encoder.encode(': keep-alive\n\n');

/**
 * Returns the bytes: an event `ready` with the number to resume from, each event with the id `<origin>:<seq>`, and `live` after the
 * stored events. Where events are missing, an event `gap` precedes the next. A slow reader fills no buffer.
 */
export function encodeEvents(
  followed: AsyncGenerator<Followed, void>,
  { origin, ready, keepAliveMs, isOver, metrics, onClosed }: EventStreamOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let timer: ReturnType<typeof setInterval> | undefined;
  let idle = false;
  let closed = false;
  const close = (): void => {
    if (closed) return;
    closed = true;
    clearInterval(timer);
    metrics.count('pinnace_streams_closed_total');
    onClosed();
  };
  metrics.count('pinnace_streams_opened_total');
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      const first = ready.done === true ? '' : frameOf(ready.value, origin);
      controller.enqueue(encoder.encode(`retry: 1000\n\n${first}`));
      timer = setInterval(() => {
        if (isOver()) return close(); // the reader's next event is the end
        const isRead = (controller.desiredSize ?? -1) >= 0; // comments would pile up for a reader that stalls
        if (idle && isRead) controller.enqueue(keepAlive);
        idle = true;
      }, keepAliveMs);
    },
    async pull(controller) {
      try {
        const { done, value } = await followed.next();
        idle = false;
        if (done !== true) return controller.enqueue(encoder.encode(frameOf(value, origin)));
      } catch (error) {
        close();
        throw error;
      }
      close();
      controller.close();
    },
    cancel: close,
  }, { highWaterMark: 0 });
}

function frameOf(followed: Followed, origin: string): string {
  switch (followed.type) {
    case 'event':
      return `id: ${origin}:${followed.seq}\ndata: ${JSON.stringify(followed.event)}\n\n`;
    case 'ready':
    case 'live':
      return `id: ${origin}:${followed.seq}\nevent: ${followed.type}\ndata: {}\n\n`;
    case 'gap': {
      // Has no id: a client that reconnects here resumes before the gap, and receives it again.
      const { type, ...data } = followed;
      return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
    }
    default:
      return followed satisfies never;
  }
}
