/** Follows a run over as many connections as needed, so that each of its chunks arrives once and in order. */

import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { UIMessageChunk } from '../../../src/contracts/ai-types.ts';
import { type Backoff, pauseMs, unexpected, unreachable, type Wait, within } from './send.ts';

export interface Position {
  /** Known from the first event on, or sooner from the headers. */
  readonly runId: string | undefined;
  readonly seq: number;
}

export interface FollowOptions extends ReadOptions {
  readonly backoff: Backoff;
  readonly position: Position;
  /** Opens the next connection, after the position. A response without content means that nothing is after it. */
  readonly reopen: (position: Position) => Promise<Response>;
}

type Cursor = { -readonly [name in keyof Position]: Position[name] } & {
  ended: boolean;
  /** Chunks came without a number. */
  unnumbered: boolean;
  /** The end of a run whose log cannot be written: the log may have another one, which is read first. */
  unrecorded: UIMessageChunk | undefined;
};

/**
 * Yields the chunks of a run from its first connection on. It reconnects after a cut. Attempts that bring nothing are counted, and
 * the last of them is an error unless the run has ended; a cut is an error at once where the endpoint numbers no events. Canceling
 * does not stop the run.
 */
export function followRun(first: Response, options: FollowOptions): ReadableStream<UIMessageChunk> {
  const detach = new AbortController();
  const signal = AbortSignal.any([options.signal, detach.signal]);
  const chunks = chunksOf(first, { ...options, signal });
  return new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel(reason) {
      detach.abort(reason);
    },
  }, { highWaterMark: 0 });
}

async function* chunksOf(first: Response, options: FollowOptions): AsyncGenerator<UIMessageChunk, void> {
  const { position, backoff, wait, signal } = options;
  const cursor: Cursor = {
    runId: position.runId ?? runIdOf(first),
    seq: position.seq,
    ended: false,
    unnumbered: false,
    unrecorded: undefined,
  };
  let failures = 0;
  for (let response = first; response.status !== 204;) {
    const before = cursor.seq;
    if (yield* readChunks(response, cursor, options)) return;
    signal.throwIfAborted();
    failures = cursor.seq > before ? 0 : failures + 1;
    try {
      if (failures >= backoff.attempts || (cursor.unnumbered && cursor.seq === 0)) throw unreachable();
      await wait(pauseMs(failures, backoff), signal);
      response = await options.reopen(cursor);
    } catch (error) {
      if (cursor.ended && !signal.aborted) return; // only the end of the stream was lost
      if (!cursor.unrecorded || signal.aborted) throw error;
      break;
    }
  }
  if (cursor.unrecorded && !cursor.ended) yield cursor.unrecorded;
}

/** Yields the new chunks of one connection; returns whether these were the last. */
async function* readChunks(
  response: Response,
  cursor: Cursor,
  options: ReadOptions,
): AsyncGenerator<UIMessageChunk, boolean> {
  if (response.body === null) return false;
  if (response.headers.get('content-type')?.startsWith('text/html')) {
    await response.body.cancel();
    throw unexpected('it is no event stream; check that "url" is its address');
  }
  for await (const { id, data } of readEvents(response.body, options)) {
    if (data === '[DONE]') return cursor.ended || (cursor.seq === 0 && !cursor.unrecorded); // a run ends with a chunk that says so
    const step = id === undefined ? 1 : stepTo(id, cursor);
    if (step > 1) return false; // something is missing: reconnect from here
    const chunk = parseChunk(data);
    if (step < 1) { // a repeated chunk, or an end that has no number because it is not recorded
      if (terminal.has(chunk.type) && !cursor.ended) cursor.unrecorded = chunk;
      continue;
    }
    if (id === undefined) cursor.unnumbered = true;
    else cursor.seq++;
    cursor.ended ||= terminal.has(chunk.type);
    yield chunk;
  }
  return false;
}

const terminal: ReadonlySet<string> = new Set(['finish', 'abort', 'error']);

/** The distance from the last chunk to this one: 1 for the next. */
function stepTo(id: string, cursor: Cursor): number {
  const { runId, seq } = parseEventId(id);
  cursor.runId ??= runId;
  if (cursor.runId !== runId) {
    throw new PinnaceError('conflict', 'Cannot resume reading: the endpoint sent the events of another run');
  }
  return seq - cursor.seq;
}

/** Reads an event id, `<runId>:<seq>`. @throws PinnaceError `internal` for any other text. */
export function parseEventId(id: string): { readonly runId: string; readonly seq: number } {
  const [, runId, seq] = /^(.+):(\d{1,15})$/.exec(id) ?? [];
  if (runId === undefined) throw unexpected('an event has an id of another form');
  return { runId, seq: Number(seq) };
}

function parseChunk(data: string): UIMessageChunk {
  try {
    const chunk: unknown = JSON.parse(data);
    // The endpoint sends what the AI SDK's types say, and the SDK checks it when it reads it.
    if (typeof chunk === 'object' && chunk !== null && 'type' in chunk) return chunk as UIMessageChunk;
  } catch {
    // Not JSON: treated like JSON of another form.
  }
  throw unexpected('an event holds no chunk');
}

function runIdOf({ headers }: Response): string | undefined {
  const inLocation = /\/v1\/runs\/([^/]+)\/stream$/.exec(headers.get('location') ?? '')?.[1];
  return headers.get('x-run-id') ?? (inLocation === undefined ? undefined : decodeURIComponent(inLocation));
}

interface ReadOptions {
  readonly signal: AbortSignal;
  readonly wait: Wait;
  /** A connection without a byte for so long, not even a comment, is dead. */
  readonly silenceMs: number;
}

/** Servers end a stream rather than send an event whose data has more than 1,048,576 characters. */
const maxEventLength = 1_064_960;

/**
 * Yields the events of a body until it ends. A connection that breaks, falls silent or is aborted ends as well: only the reader
 * knows from the events whether more was to come. An unfinished event is never yielded.
 * @throws PinnaceError `internal` for an event without end.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  options: ReadOptions,
): AsyncGenerator<EventSourceMessage> {
  const { signal, wait, silenceMs } = options;
  const reader = body.getReader();
  const letGo = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', letGo, { once: true });
  const events: EventSourceMessage[] = [];
  const parser = createParser({
    onEvent: (event) => events.push(event),
    onError: requireBearable,
    maxBufferSize: maxEventLength,
  });
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const next = await within(reader.read(), silenceMs, wait).catch(() => undefined); // a broken connection counts as silent
      if (next === undefined || next.done || signal.aborted) return;
      parser.feed(decoder.decode(next.value, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    signal.removeEventListener('abort', letGo);
    letGo();
  }
}

/** Unknown fields are ignored, as the format requires. */
function requireBearable({ type }: { readonly type: string }): void {
  if (type === 'max-buffer-size-exceeded') throw unexpected('an event has no end');
}
