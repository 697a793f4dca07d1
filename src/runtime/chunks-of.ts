/** A run's events as chunks, for whoever reads them in process. */

import type { UIMessageChunk } from '../ai-types.ts';
import type { RunCursor } from './runs.ts';

/** Gives the chunks that a cursor reads. Nothing is read before it is asked for; cancelling leaves, then calls back. */
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
    cancel() {
      cursor.close();
      onCancel();
    },
  }, { highWaterMark: 0 });
}
