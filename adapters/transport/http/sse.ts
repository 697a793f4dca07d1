/** Encodes a run's events as server-sent events, for the AI SDK's clients and `EventSource`. */

import type { Metrics } from '../../../src/base/metrics.ts';
import type { RunCursor } from '../../../src/runtime/stored-run.ts';

/** The headers of an event stream. */
export const sseHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** The header by which clients of the AI SDK know their stream. */
export const uiStreamHeaders: Readonly<Record<string, string>> = { 'x-vercel-ai-ui-message-stream': 'v1' };

/** How the chunks of a run are written. */
export interface SseDialect {
  /** The frames of one event, whose text is a chunk as JSON. */
  readonly frames: (event: { readonly seq: number; readonly text: string }) => string;
  /** The frames that end the stream. */
  readonly end: () => string;
}

/** What an encoder needs besides the cursor. */
export interface SseOptions {
  /** Chunks as JSON texts that follow the first event, without ids: what earlier runs have added to the message. */
  readonly earlier?: readonly string[];
  readonly runId: string;
  /** Another dialect than the AI SDK's. */
  readonly dialect?: SseDialect | undefined;
  /** The time without an event after which a comment is sent. */
  readonly keepAliveMs: number;
  readonly metrics: Metrics;
}

const encoder = new TextEncoder();
const opening = encoder.encode('retry: 1000\n\n');
const keepAlive = encoder.encode(': keep-alive\n\n');

/**
 * Returns the bytes of a run's events, each with the id `<runId>:<seq>`. Events are read on demand, so a slow reader fills no buffer.
 * Canceling the stream leaves the run, which continues for `detachGraceMs`.
 */
export function encodeSse(cursor: RunCursor, options: SseOptions): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { keepAliveMs, metrics, dialect = uiDialect(options) } = options;
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
        for (const event of events) frames += dialect.frames(event);
        return controller.enqueue(encoder.encode(frames));
      }
      controller.enqueue(encoder.encode(dialect.end()));
      close();
      controller.close();
    },
    cancel: close,
  }, { highWaterMark: 0 });
}

/** The stream of the AI SDK. */
function uiDialect({ runId, earlier: given = [] }: SseOptions): SseDialect {
  let earlier = given;
  return {
    frames({ seq, text }) {
      let frames = `id: ${runId}:${seq}\ndata: ${text}\n\n`;
      for (const before of earlier) frames += `data: ${before}\n\n`; // after the first event, which starts the message
      earlier = [];
      return frames;
    },
    end: () => 'data: [DONE]\n\n',
  };
}
