/** A run's events as chunks, for readers in process. */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { RunCursor } from './run-cursor.ts';

/** The cancel reason of a reader that will resume: the run continues for its grace (`Limits.detachGraceMs`). */
export const comingBack = 'coming_back';

/** Returns the chunks that a cursor reads, on demand. Canceling closes the cursor and calls back, except with {@link comingBack}. */
export function chunksOf(cursor: RunCursor, onCancel: () => void): ReadableStream<UIMessageChunk> {
  return new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      const events = await cursor.next();
      // Written by `record` alone, so each is a chunk.
      for (const { text } of events ?? []) controller.enqueue(JSON.parse(text) as UIMessageChunk);
      if (events) return;
      cursor.close();
      controller.close();
    },
    cancel(reason) {
      cursor.close();
      if (reason !== comingBack) onCancel();
    },
  }, { highWaterMark: 0 });
}
