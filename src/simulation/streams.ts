/** Streams of models: counted while they are open, and cut by faults. */

/** How many streams are open. */
export interface OpenStreams {
  count: number;
}

/** Returns the same stream, counted until it is read to its end or canceled. */
export function counted<T>(stream: ReadableStream<T>, open: OpenStreams): ReadableStream<T> {
  const reader = stream.getReader();
  let isOpen = true;
  open.count += 1;
  const close = (): void => {
    if (isOpen) open.count -= 1;
    isOpen = false;
  };
  return new ReadableStream<T>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        close();
        controller.close();
      } catch (error) {
        close();
        controller.error(error);
      }
    },
    async cancel(reason) {
      close();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
}

/** How a stream ends early: it ends, says nothing more, or fails. */
export type EarlyEnd = 'ends' | 'stalls' | Error;

/** Returns a stream of the parts that then ends early. */
export function endingEarly<T>(parts: readonly T[], end: EarlyEnd): ReadableStream<T> {
  let next = 0;
  return new ReadableStream<T>({
    async pull(controller) {
      const part = parts[next++];
      if (part !== undefined) return controller.enqueue(part);
      if (end === 'stalls') return await new Promise<void>(() => undefined);
      if (end === 'ends') controller.close();
      else controller.error(end);
    },
  }, { highWaterMark: 0 });
}

/** Reads a stream to its end. */
export async function readAll<T>(stream: ReadableStream<T>): Promise<readonly T[]> {
  const items: T[] = [];
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) items.push(next.value);
  return items;
}
