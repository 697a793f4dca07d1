/** Parts as a stream that a person can follow. */

import type { Part } from './parts.ts';

/** Returns the parts one by one as they are read, each word after a pause. Errors with the reason of the signal when that aborts. */
export function pacedStream(
  parts: readonly Part[],
  { delayMs, signal }: { readonly delayMs: number; readonly signal: AbortSignal | undefined },
): ReadableStream<Part> {
  let next = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ended = new AbortController();
  const stop = (): void => {
    clearTimeout(timer);
    ended.abort();
  };
  return new ReadableStream<Part>({
    start(controller) {
      const onAbort = (): void => (stop(), controller.error(signal?.reason));
      signal?.addEventListener('abort', onAbort, { signal: ended.signal });
    },
    async pull(controller) {
      const part = parts[next++];
      if (part && delayMs > 0 && part.type.endsWith('-delta')) {
        await new Promise<void>((resolve) => timer = setTimeout(resolve, delayMs));
      }
      if (part) controller.enqueue(part);
      if (next < parts.length) return;
      stop();
      controller.close();
    },
    cancel: stop,
  }, { highWaterMark: 0 });
}
