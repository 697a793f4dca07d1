/** Encodes UI message chunks as server-sent events, the way the AI SDK's clients read them. */

import type { UIMessageChunk } from '../../src/ai-types.ts';

/** The headers of an event stream. */
export const sseHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  'x-vercel-ai-ui-message-stream': 'v1',
};

const encoder = new TextEncoder();
const opening = encoder.encode('retry: 1000\n\n');
const keepAlive = encoder.encode(': keep-alive\n\n');
const done = encoder.encode('data: [DONE]\n\n');

/**
 * Gives the bytes of a stream of chunks. One event is read for each that is asked for, so a slow reader holds nothing up but its
 * own run. A comment is sent when nothing else was for `keepAliveMs`. Cancelling the bytes cancels the chunks.
 */
export function encodeSse(
  chunks: ReadableStream<UIMessageChunk>,
  { keepAliveMs = 15_000 }: { keepAliveMs?: number } = {},
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = chunks.getReader();
  let timer: ReturnType<typeof setInterval> | undefined;
  let idle = false;
  const stop = (): void => clearInterval(timer);
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      controller.enqueue(opening);
      timer = setInterval(() => {
        if (idle) controller.enqueue(keepAlive);
        idle = true;
      }, keepAliveMs);
    },
    async pull(controller) {
      const { done: ended, value } = await reader.read();
      idle = false;
      controller.enqueue(ended ? done : encoder.encode(`data: ${JSON.stringify(value)}\n\n`));
      if (!ended) return;
      stop();
      controller.close();
    },
    async cancel(reason) {
      stop();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
}
