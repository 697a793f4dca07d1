/** The one place where a run's stream begins and ends: it opens once, closes once, on every path. */

import type { UIMessageChunk } from '../ai-types.ts';
import type { ErrorData } from '../errors.ts';

/** How a run ended. */
export type RunEnd =
  | { readonly type: 'completed'; readonly finishReason: FinishReason }
  /** A limit of the run was reached; what was said until then stands. */
  | { readonly type: 'stopped'; readonly finishReason: FinishReason; readonly error: ErrorData }
  | { readonly type: 'cancelled'; readonly reason: string }
  | { readonly type: 'failed'; readonly error: ErrorData };

export type FinishReason = NonNullable<Extract<UIMessageChunk, { type: 'finish' }>['finishReason']>;

/** What the stream is made of. */
export interface RunStreamSource {
  /** The chunks before all others. */
  readonly opening: readonly UIMessageChunk[];
  /** The next chunks, none of them terminal, or the end. Is called again only after it has answered. */
  read(): Promise<{ readonly chunks: readonly UIMessageChunk[] } | { readonly end: RunEnd }>;
  /** The end for what `read` threw. */
  failure(error: unknown): RunEnd;
  /** The chunks after all others, the last of them terminal. Called exactly once; also releases what the run holds. */
  closing(end: RunEnd): readonly UIMessageChunk[];
}

/** A run's stream, and the two things that may happen to it from outside. */
export interface RunStream {
  readonly stream: ReadableStream<UIMessageChunk>;
  /** Adds a chunk out of turn, as a tool's log line. Does nothing after the end. */
  push(chunk: UIMessageChunk): void;
  /** Ends the stream now. Does nothing after the end. */
  end(end: RunEnd): void;
}

/**
 * Makes the stream of a run. Nothing is read before it is asked for. When the reader cancels, the run ends as cancelled and
 * nobody sees the closing chunks.
 */
export function createRunStream(source: RunStreamSource): RunStream {
  let ended = false;
  let out: ReadableStreamDefaultController<UIMessageChunk>;
  const push = (chunk: UIMessageChunk): void => {
    if (!ended) out.enqueue(chunk);
  };
  const end = (how: RunEnd): void => {
    if (ended) return;
    ended = true;
    for (const chunk of source.closing(how)) out.enqueue(chunk);
    out.close();
  };
  const pull = async (): Promise<void> => {
    try {
      while (!ended) {
        const next = await source.read();
        if ('end' in next) return end(next.end);
        next.chunks.forEach(push);
        if (next.chunks.length > 0) return;
      }
    } catch (error) {
      end(source.failure(error));
    }
  };
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      out = controller;
      source.opening.forEach(push);
    },
    pull,
    cancel(reason) {
      ended = true;
      source.closing({ type: 'cancelled', reason: typeof reason === 'string' ? reason : 'client_gone' });
    },
  }, { highWaterMark: 0 });
  return { stream, push, end };
}
