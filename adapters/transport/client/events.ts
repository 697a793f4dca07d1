/** Reads server-sent events from a connection that may end at any point. */

import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { unexpected } from './send.ts';
import { type Wait, within } from './wait.ts';

/** How to read. */
export interface ReadOptions {
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
 *
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
