/** Opens and closes a run's stream exactly once, on every path. */

import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { RunEnd } from './log/run-end.ts';

/** The source of a run's chunks and their target. */
export interface DriverOptions {
  /** The chunks before all others. */
  readonly opening: readonly UIMessageChunk[];
  /** The next chunks, none of them terminal, or the end. Is called again only after it has answered. */
  readonly read: () => Promise<{ readonly chunks: readonly UIMessageChunk[] } | { readonly end: RunEnd }>;
  /** The end for what `read` threw. */
  readonly failure: (error: unknown) => RunEnd;
  /** The chunks after all others, the last of them terminal. */
  readonly closing: (end: RunEnd) => readonly UIMessageChunk[];
  readonly record: (chunk: UIMessageChunk) => void;
  /** Called exactly once, after the closing chunks. */
  readonly onEnd: (end: RunEnd) => void;
}

/** A run that is executing. */
export interface Driver {
  /** Reads until the end. Never throws. */
  start(): Promise<void>;
  /** Adds a chunk out of turn, as a tool's log line. Does nothing after the end. */
  push(chunk: UIMessageChunk): void;
  /** Ends the run now. Does nothing after the end. */
  end(end: RunEnd): void;
}

/** Creates the driver of a run. */
export function createDriver({ opening, read, failure, closing, record, onEnd }: DriverOptions): Driver {
  let ended = false;
  const push = (chunk: UIMessageChunk): void => {
    if (!ended) record(chunk);
  };
  const end = (how: RunEnd): void => {
    if (ended) return;
    ended = true;
    for (const chunk of closing(how)) record(chunk);
    onEnd(how);
  };
  return {
    push,
    end,
    async start() {
      opening.forEach(push);
      try {
        while (!ended) {
          const next = await read();
          if ('end' in next) end(next.end);
          else next.chunks.forEach(push);
        }
      } catch (error) {
        end(failure(error));
      }
    },
  };
}
