/** Passes a run's stream on to a chat of the AI SDK, and stops the run when the chat does. */

import type { UIMessageChunk } from '../../../src/contracts/ai-types.ts';
import { comingBack } from '../../../src/runtime/stored-run.ts';

type Stream = ReadableStream<UIMessageChunk>;

/** How the run is reached. */
export interface RelayOptions {
  /** The request; `null` when there is nothing to read. */
  readonly opening: Promise<Stream | null>;
  /** The chat's signal: `stop()` aborts it, and so does a request that replaces this one. */
  readonly signal: AbortSignal | undefined;
  /** Whether a newer request of the chat has taken the place of this one. */
  readonly isReplaced: () => boolean;
  /** Stops the run. `runId` resolves as soon as the run is known, `undefined` when it never is. */
  readonly stop: (runId: Promise<string | undefined>) => Promise<void>;
  /** Gives the request up; the run continues. */
  readonly leave: () => void;
}

/** A stop before the run is known waits for it no longer. */
const knownWithinMs = 5_000;

/**
 * Returns the stream. Its reader may stop at any time: an abort of the signal stops the run, unless a newer request has replaced this
 * one; anything else only stops reading. The chunk that a run has started is transient, so no stored message says that it is running.
 */
export async function relay({ opening, signal, isReplaced, stop, leave }: RelayOptions): Promise<Stream | null> {
  const known = Promise.withResolvers<string | undefined>();
  let reader: ReadableStreamDefaultReader<UIMessageChunk> | undefined;
  let isLeft = false;
  const read = async (from: ReadableStreamDefaultReader<UIMessageChunk>) => {
    const { done, value } = await from.read();
    if (value?.type === 'data-run' && value.id !== undefined) known.resolve(value.id);
    if (done) known.resolve(undefined);
    return value;
  };
  const runId = async (): Promise<string | undefined> => {
    const stream = reader ? undefined : await opening.catch(() => null);
    if (stream) reader = stream.getReader();
    let isKnown = false;
    void known.promise.then(() => isKnown = true);
    const timer = setTimeout(() => known.resolve(undefined), knownWithinMs);
    // The chat reads no longer: read on until the run says who it is.
    while (reader && isLeft && !isKnown) if (!await read(reader).catch(() => undefined)) break;
    if (!reader) known.resolve(undefined);
    return await known.promise.finally(() => clearTimeout(timer));
  };
  const detach = (): void => {
    leave();
    void reader?.cancel(comingBack).catch(() => undefined);
  };
  const onAbort = async (): Promise<void> => {
    await Promise.resolve(); // a request that replaces this one follows at once
    if (isReplaced()) return detach();
    await stop(runId()).catch(() => undefined); // the run ends by itself some time after its reader has left
    if (isLeft) detach();
  };
  if (signal?.aborted) void onAbort();
  else signal?.addEventListener('abort', () => void onAbort(), { once: true });
  const opened = await orAbort(opening, signal, () => isLeft = true);
  if (!opened) return null;
  const own = reader ??= opened.getReader();
  return new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      const chunk = await read(own);
      if (chunk) controller.enqueue(shown(chunk));
      else controller.close();
    },
    async cancel(reason) {
      isLeft = true;
      if (!signal?.aborted) await own.cancel(reason);
    },
  }, { highWaterMark: 0 });
}

function shown(chunk: UIMessageChunk): UIMessageChunk {
  if (chunk.type !== 'data-run') return chunk;
  const { state } = chunk.data as { readonly state?: unknown }; // `openingChunks` and `closingChunks` write it
  return state === 'running' ? { ...chunk, transient: true } : chunk;
}

/** Rejects as `fetch` does when the signal aborts first. */
async function orAbort<T>(work: Promise<T>, signal: AbortSignal | undefined, onAbort: () => void): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => {
    onAbort();
    aborted.reject(new DOMException('The chat was stopped', 'AbortError'));
  };
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal?.removeEventListener('abort', abort);
    work.catch(() => undefined);
  }
}
