/** Encodes a run's events as server-sent events, for the AI SDK's clients and `EventSource`. */

import type { Metrics } from '../../../src/base/metrics.ts';
import type { RunCursor } from '../../../src/runtime/log/run-cursor.ts';

/** The headers of an event stream. */
export const sseHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  'x-vercel-ai-ui-message-stream': 'v1',
};

/** What an encoder needs besides the cursor. */
export interface SseOptions {
  /** Chunks as JSON texts that follow the first event, without ids: what earlier runs have added to the message. */
  readonly earlier?: readonly string[];
  readonly runId: string;
  /** The time without an event after which a comment is sent. */
  readonly keepAliveMs: number;
  readonly metrics: Metrics;
}

const encoder = new TextEncoder();
const opening = encoder.encode('retry: 1000\n\n');
const keepAlive = encoder.encode(': keep-alive\n\n');
const done = encoder.encode('data: [DONE]\n\n');

/**
 * Returns the bytes of a run's events, each with the id `<runId>:<seq>`. Events are read on demand, so a slow reader fills no buffer.
 * Canceling the stream leaves the run, which continues for `detachGraceMs`.
 */
export function encodeSse(cursor: RunCursor, options: SseOptions): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { runId, keepAliveMs, metrics } = options;
  let earlier = options.earlier ?? [];
  let timer: ReturnType<typeof setInterval> | undefined;
  let idle = false;
  const close = (): void => {
    clearInterval(timer);
    cursor.close();
    metrics.count('pinnace_streams_closed_total');
  };
  metrics.count('pinnace_streams_opened_total');
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      controller.enqueue(opening);
      timer = setInterval(() => {
        const isRead = (controller.desiredSize ?? -1) >= 0; // comments would pile up for a reader that stalls
        if (idle && isRead) controller.enqueue(keepAlive);
        idle = true;
      }, keepAliveMs);
    },
    async pull(controller) {
      const events = await cursor.next();
      idle = false;
      if (events) {
        let frames = '';
        for (const { seq, text } of events) {
          frames += `id: ${runId}:${seq}
data: ${text}

`;
          for (const before of earlier) {
            frames += `data: ${before}

`; // after the first event, which starts the message
          }
          earlier = [];
        }
        return controller.enqueue(encoder.encode(frames));
      }
      controller.enqueue(done);
      close();
      controller.close();
    },
    cancel: close,
  }, { highWaterMark: 0 });
}
