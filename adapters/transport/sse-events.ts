/** Encodes what happens as server-sent events, for as long as somebody reads. */

import type { SeenEvent } from '../../src/event-ring.ts';
import type { Metrics } from '../../src/metrics.ts';

/** What an encoder needs besides the events. */
export interface EventStreamOptions {
  /** The instance that numbers these events: a number means nothing elsewhere. */
  readonly instance: string;
  /** The number that the watcher goes on from. */
  readonly from: number;
  /** What the watcher asked for cannot be told whole: it has read elsewhere, or before a restart. */
  readonly isElsewhere: boolean;
  /** The time without an event after which a comment is sent. */
  readonly keepAliveMs: number;
  /** Whether the watcher may watch no longer; asked with every comment. */
  readonly isOver: () => boolean;
  readonly metrics: Metrics;
  /** Nobody reads any more. Called once. */
  readonly onClosed: () => void;
}

const encoder = new TextEncoder();
const keepAlive = encoder.encode(': keep-alive\n\n');

/**
 * Gives the bytes: an event `ready` with the number to go on from, then each event with the id `<instance>:<seq>`. Where events
 * were missed, an event `gap` stands before the next. A slow reader fills no buffer: it misses events.
 */
export function encodeEvents(
  events: ReadableStream<SeenEvent>,
  options: EventStreamOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { instance, from, isElsewhere, keepAliveMs, isOver, metrics, onClosed } = options;
  const reader = events.getReader();
  const frame = (seq: number, type: string, data: unknown): string =>
    `id: ${instance}:${seq}\n${type === '' ? '' : `event: ${type}\n`}data: ${JSON.stringify(data)}\n\n`;
  let timer: ReturnType<typeof setInterval> | undefined;
  let idle = false;
  let closed = false;
  const close = (): void => {
    if (closed) return;
    closed = true;
    clearInterval(timer);
    void reader.cancel().catch(() => undefined);
    metrics.count('pinnace_streams_closed_total');
    onClosed();
  };
  metrics.count('pinnace_streams_opened_total');
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      const gap = isElsewhere ? gapFrame({}) : '';
      controller.enqueue(encoder.encode(`retry: 1000\n\n${frame(from, 'ready', {})}${gap}`));
      timer = setInterval(() => {
        if (isOver()) return close(); // the reader's next event is the end
        const isRead = (controller.desiredSize ?? -1) >= 0; // to a reader that stalls, comments would pile up
        if (idle && isRead) controller.enqueue(keepAlive);
        idle = true;
      }, keepAliveMs);
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      idle = false;
      if (done) {
        close();
        return controller.close();
      }
      const { seq, event, dropped } = value;
      const gap = dropped === undefined ? '' : gapFrame({ dropped });
      controller.enqueue(encoder.encode(`${gap}${frame(seq, '', event)}`));
    },
    cancel: close,
  }, { highWaterMark: 0 });
}

/** Has no id: whoever loses the connection here asks once more from before the gap, and is told of it once more. */
function gapFrame(data: { readonly dropped?: number }): string {
  return `event: gap\ndata: ${JSON.stringify(data)}\n\n`;
}
