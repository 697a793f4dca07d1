/** Encodes a run's events as server-sent events, for the AI SDK's clients and `EventSource`. */

import type { Metrics } from '../../../src/base/metrics.ts';
import type { Followed } from '../../../src/events/event-feed.ts';
import type { RunCursor } from '../../../src/runtime/stored-run.ts';

export const sseHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** The header by which clients of the AI SDK know their stream. */
export const uiStreamHeaders: Readonly<Record<string, string>> = { 'x-vercel-ai-ui-message-stream': 'v1' };

export type SseDialect = ReturnType<typeof uiDialect>;

interface SseOptions {
  /** Chunks as JSON texts that follow the first event, without ids: what earlier runs have added to the message. */
  readonly earlier?: readonly string[];
  readonly runId: string;
  readonly dialect?: SseDialect | undefined;
  readonly keepAliveMs: number;
  readonly metrics: Metrics;
}

/**
 * Returns the bytes of a run's events, each with the id `<runId>:<seq>`. Events are read on demand, so a slow reader fills no buffer.
 * Canceling the stream leaves the run, which continues for `detachGraceMs`.
 */
export function encodeSse(cursor: RunCursor, options: SseOptions): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { dialect = uiDialect(options) } = options;
  return encodeFrames({
    ...options,
    opening: '',
    async next() {
      const events = await cursor.next();
      if (!events) return undefined;
      let frames = '';
      for (const event of events) frames += dialect.frames(event);
      return frames;
    },
    end: dialect.end,
    onClosed: () => cursor.close(),
  });
}

/** The stream of the AI SDK. */
function uiDialect({ runId, earlier: given = [] }: SseOptions) {
  let earlier = given;
  return {
    /** The frames of one event, whose text is a chunk as JSON. */
    frames({ seq, text }: { readonly seq: number; readonly text: string }): string {
      let frames = `id: ${runId}:${seq}\ndata: ${text}\n\n`;
      for (const before of earlier) frames += `data: ${before}\n\n`; // after the first event, which starts the message
      earlier = [];
      return frames;
    },
    end: (): string => 'data: [DONE]\n\n',
  };
}

interface EventStreamOptions {
  /** The origin of the event numbers: a number means nothing elsewhere. */
  readonly origin: string;
  /** The first of the feed. */
  readonly ready: IteratorResult<Followed, void>;
  readonly keepAliveMs: number;
  /** Whether the observer's session has expired; called with every comment. */
  readonly isOver: () => boolean;
  readonly metrics: Metrics;
  /** The stream has ended, so the feed must end. Called once. */
  readonly onClosed: () => void;
}

/**
 * Returns the bytes: an event `ready` with the number to resume from, each event with the id `<origin>:<seq>`, and `live` after the
 * stored events. Where events are missing, an event `gap` precedes the next. A slow reader fills no buffer.
 */
export function encodeEvents(
  followed: AsyncGenerator<Followed, void>,
  { origin, ready, ...options }: EventStreamOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return encodeFrames({
    ...options,
    opening: ready.done === true ? '' : frameOf(ready.value, origin),
    async next() {
      const { done, value } = await followed.next();
      return done === true ? undefined : frameOf(value, origin);
    },
  });
}

/** Returns the bytes of changes, each as an event of its type, whose data are its other fields. */
export function encodeChanges(
  changes: ReadableStream<{ readonly type: string }>,
  options: Pick<EventStreamOptions, 'keepAliveMs' | 'isOver' | 'metrics' | 'onClosed'>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = changes.getReader();
  return encodeFrames({
    ...options,
    opening: '',
    async next() {
      const { done, value } = await reader.read();
      if (done) return undefined;
      const { type, ...data } = value;
      return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
    },
    onClosed() {
      options.onClosed();
      void reader.cancel().catch(() => undefined);
    },
  });
}

const encoder = new TextEncoder();
const keepAlive = encoder.encode(': keep-alive\n\n');

interface FramesOptions extends Pick<EventStreamOptions, 'keepAliveMs' | 'metrics' | 'onClosed'> {
  readonly opening: string;
  readonly next: () => Promise<string | undefined>;
  readonly end?: () => string;
  readonly isOver?: () => boolean;
}

/** A stream of frames, with a comment where none came for a while. It reads the next frames when its reader wants them. */
function encodeFrames(
  { opening, next, end, keepAliveMs, isOver, metrics, onClosed }: FramesOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let timer: ReturnType<typeof setInterval> | undefined;
  let isIdle = false;
  let isClosed = false;
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    clearInterval(timer);
    metrics.count('pinnace_streams_closed_total');
    onClosed();
  };
  metrics.count('pinnace_streams_opened_total');
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      controller.enqueue(encoder.encode(`retry: 1000\n\n${opening}`));
      timer = setInterval(() => {
        if (isOver?.()) return close(); // the reader's next event is the end
        const isRead = (controller.desiredSize ?? -1) >= 0; // comments would pile up for a reader that stalls
        if (isIdle && isRead) controller.enqueue(keepAlive);
        isIdle = true;
      }, keepAliveMs);
    },
    async pull(controller) {
      try {
        const frames = await next();
        isIdle = false;
        if (frames !== undefined) return controller.enqueue(encoder.encode(frames));
      } catch (error) {
        close();
        throw error;
      }
      if (end) controller.enqueue(encoder.encode(end()));
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
