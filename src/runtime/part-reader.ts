/** Reads a model's stream in batches: what is at hand is read at once, so that it costs one append to the log. */

import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { ModelClock, SilenceLimit } from './run-spans.ts';

/** A stream that is read in batches. */
export interface PartReader<Part> {
  /** Resolves with the parts at hand, at least one; with `undefined` at the end. Rejects when the signal aborts. */
  read(): Promise<readonly Part[] | undefined>;
  /** Stops the stream, without waiting for its source. */
  cancel(): void;
}

/** The most parts of a batch. */
const batchSize = 64;
/** A part that is queued in a stream arrives within this many microtasks. */
const microtasks = 16;

const turn = Promise.resolve();

/** Reads the stream until it ends, or the signal aborts and cancels it. */
export function createPartReader<Part>(stream: ReadableStream<Part>, signal: AbortSignal): PartReader<Part> {
  return new StreamReader(stream, signal);
}

/** One read is under way at most. Its callbacks are made once, not for each part. */
class StreamReader<Part> implements PartReader<Part> {
  readonly #reader: ReadableStreamDefaultReader<Part>;
  readonly #signal: AbortSignal;
  #arrived: Part[] = [];
  #end: { readonly error?: unknown } | undefined;
  #isReading = false;
  /** Turns since the last part arrived. */
  #idle = 0;
  #wake: (() => void) | undefined;

  constructor(stream: ReadableStream<Part>, signal: AbortSignal) {
    this.#reader = stream.getReader();
    this.#signal = signal;
    if (signal.aborted) this.cancel();
    else signal.addEventListener('abort', this.cancel, { once: true });
  }

  readonly cancel = (): void => {
    this.#signal.removeEventListener('abort', this.cancel);
    void this.#reader.cancel(this.#signal.reason).catch(() => undefined);
  };

  async read(): Promise<readonly Part[] | undefined> {
    if (this.#arrived.length === 0) await this.#arrival();
    this.#signal.throwIfAborted(); // a canceled stream ends as if it were complete
    if (this.#arrived.length === 0) return this.#ended();
    for (this.#idle = 0; this.#idle < microtasks && this.#wantsMore(); this.#idle++) {
      this.#next();
      await turn;
    }
    const parts = this.#arrived;
    this.#arrived = [];
    return parts;
  }

  #arrival(): Promise<void> | undefined {
    if (this.#end) return undefined;
    this.#next();
    return new Promise((resolve) => (this.#wake = resolve));
  }

  #ended(): undefined {
    this.#signal.removeEventListener('abort', this.cancel);
    if (this.#end && 'error' in this.#end) throw this.#end.error;
  }

  #wantsMore(): boolean {
    return !this.#end && this.#arrived.length < batchSize;
  }

  #next(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    this.#reader.read().then(this.#take, this.#fail);
  }

  readonly #take = ({ done, value }: ReadableStreamReadResult<Part>): void => {
    this.#isReading = false;
    if (done) this.#end = {};
    else this.#arrived.push(value);
    this.#idle = 0;
    this.#wake?.();
  };

  readonly #fail = (error: unknown): void => {
    this.#end = { error };
    this.#wake?.();
  };
}

/**
 * Returns the function that takes what a model sends, and restarts the time that it may be silent. Each part is a sign of life, also
 * a keep-alive without content (`ping`, `raw`); a `stream-start` is none, because the AI SDK adds it itself.
 */
export function createSilenceWatch(
  { received }: Pick<ModelClock, 'received'>,
): (parts: readonly LanguageModelV4StreamPart[]) => void {
  let limit: SilenceLimit = 'firstChunkMs';
  return (parts) => {
    let isAlive = false;
    for (const { type } of parts) {
      isAlive ||= type !== 'stream-start';
      limit = limitAfter(type, limit);
    }
    if (isAlive) received(limit);
  };
}

/** Outside a text or a tool input a model may reason without sending anything. */
function limitAfter(type: LanguageModelV4StreamPart['type'], limit: SilenceLimit): SilenceLimit {
  switch (type) {
    case 'text-start':
    case 'text-delta':
    case 'tool-input-start':
    case 'tool-input-delta':
      return 'chunkMs';
    case 'stream-start':
    case 'response-metadata':
    case 'ping':
    case 'raw':
      return limit;
    default:
      return 'reasoningMs';
  }
}
