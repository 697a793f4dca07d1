/** A run's events as chunks, for whoever reads them in process. */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { RunCursor } from './runs.ts';

/** The reason to cancel a stream with for who will come back: the run goes on for its grace (`Limits.detachGraceMs`). */
export const comingBack = 'coming_back';

/** Gives the chunks that a cursor reads. Nothing is read before it is asked for; cancelling leaves, then calls back but for {@link comingBack}. */
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
