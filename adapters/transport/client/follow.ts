/** Follows a run over as many connections as it takes, so that each of its chunks arrives once and in order. */

import type { UIMessageChunk } from '../../../src/contracts/ai-types.ts';
import { PinnaceError } from '../../../src/base/errors.ts';
import { readEvents, type ReadOptions } from './events.ts';
import { unreachable } from './problem.ts';
import { unexpected } from './send.ts';
import { type Backoff, pauseMs } from './wait.ts';

/** How far a run has been read. */
export interface Position {
  /** Known from the first event on, or sooner from the headers. */
  readonly runId: string | undefined;
  /** The number of the last chunk; none is 0. */
  readonly seq: number;
}

/** How to follow. */
export interface FollowOptions extends ReadOptions {
  readonly backoff: Backoff;
  readonly position: Position;
  /** Opens the next connection, from behind the position. An answer without content says that there is nothing behind it. */
  readonly reopen: (position: Position) => Promise<Response>;
}

/** The position while it moves. */
type Cursor = { -readonly [name in keyof Position]: Position[name] } & {
  /** The run has said that it is over. */
  ended: boolean;
  /** Chunks came without a number. */
  unnumbered: boolean;
};

/**
 * Returns the chunks of a run from its first connection on. A connection that is cut is opened anew; attempts that bring nothing
 * are counted, and the last of them is an error, unless the run is over anyway; so is a cut where the endpoint numbers nothing.
 * Cancelling lets go of the run and does not stop it.
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
      if (cursor.ended && !signal.aborted) return; // only the farewell was lost
      throw error;
    }
  }
}

/** Returns the chunks of one connection that are new; returns whether it said that these were the last. */
async function* readChunks(
  response: Response,
  cursor: Cursor,
  options: ReadOptions,
): AsyncGenerator<UIMessageChunk, boolean> {
  if (response.body === null) return false;
  for await (const { id, data } of readEvents(response.body, options)) {
    if (data === '[DONE]') return cursor.ended || cursor.seq === 0; // a run ends with a chunk that says so
    const step = id === undefined ? 1 : stepTo(id, cursor);
    if (step > 1) return false; // something is missing: ask again from here
    if (step < 1) continue; // had before
    if (id === undefined) cursor.unnumbered = true;
    else cursor.seq++;
    const chunk = parseChunk(data);
    cursor.ended ||= terminal.has(chunk.type);
    yield chunk;
  }
  return false;
}

const terminal: ReadonlySet<string> = new Set(['finish', 'abort', 'error']);

/** How many chunks lie between the last one and this, counting this: 1 for the next. */
function stepTo(id: string, cursor: Cursor): number {
  const { runId, seq } = parseEventId(id);
  cursor.runId ??= runId;
  if (cursor.runId !== runId) {
    throw new PinnaceError('conflict', 'Cannot go on reading: the endpoint sent the events of another run');
  }
  return seq - cursor.seq;
}

/**
 * Reads an event id, `<runId>:<seq>`.
 *
 * @throws PinnaceError `internal` for any other text.
 */
export function parseEventId(id: string): { readonly runId: string; readonly seq: number } {
  const [, runId, seq] = /^(.+):(\d{1,15})$/.exec(id) ?? [];
  if (runId === undefined) throw unexpected('an event has an id of another form');
  return { runId, seq: Number(seq) };
}

function parseChunk(data: string): UIMessageChunk {
  try {
    const chunk: unknown = JSON.parse(data);
    // Safe enough: the endpoint sends what the AI SDK's types say, and the SDK checks it where it is read.
    if (typeof chunk === 'object' && chunk !== null && 'type' in chunk) return chunk as UIMessageChunk;
  } catch {
    // It is no JSON: the same as JSON of another form.
  }
  throw unexpected('an event holds no chunk');
}

/** The run that an answer belongs to. */
function runIdOf({ headers }: Response): string | undefined {
  const inLocation = /\/v1\/runs\/([^/]+)\/stream$/.exec(headers.get('location') ?? '')?.[1];
  return headers.get('x-run-id') ?? (inLocation === undefined ? undefined : decodeURIComponent(inLocation));
}
