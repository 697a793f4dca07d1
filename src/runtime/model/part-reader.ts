/** Reads a model's stream in batches: what is at hand is read at once, so that it costs one append to the log. */

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

/** Reads the stream until it ends, or the signal aborts and cancels it. */
export function createPartReader<Part>(stream: ReadableStream<Part>, signal: AbortSignal): PartReader<Part> {
  const reader = stream.getReader();
  let pending: Promise<ReadableStreamReadResult<Part>> | undefined;
  const cancel = (): void => {
    signal.removeEventListener('abort', cancel);
    void reader.cancel(signal.reason).catch(() => undefined);
  };
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', cancel, { once: true });

  /** Starts the next read, and returns its result if that is at hand. */
  async function atHand(): Promise<ReadableStreamReadResult<Part> | undefined> {
    let result: ReadableStreamReadResult<Part> | undefined;
    pending = reader.read();
    pending.then((ready) => (result = ready), () => undefined);
    for (let turn = 0; turn < microtasks && !result; turn++) await Promise.resolve();
    return result;
  }

  return {
    cancel,
    async read() {
      const first = await (pending ?? reader.read());
      signal.throwIfAborted(); // a canceled stream ends as if it were complete
      pending = undefined;
      if (first.done) {
        signal.removeEventListener('abort', cancel);
        return undefined;
      }
      const parts = [first.value];
      while (parts.length < batchSize) {
        const next = await atHand();
        if (!next || next.done) break; // the pending read is the next batch, or the end
        parts.push(next.value);
        pending = undefined;
      }
      return parts;
    },
  };
}
