import { describe, expect, it } from 'vitest';
import { createPartReader } from '../../../../src/runtime/model-stream.ts';

function streamOf(...parts: readonly number[]): ReadableStream<number> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

const never = new AbortController().signal;

describe('createPartReader', () => {
  it('reads what is at hand as one batch, and then the end', async () => {
    const reader = createPartReader(streamOf(1, 2, 3), never);
    expect([await reader.read(), await reader.read()]).toEqual([[1, 2, 3], undefined]);
  });

  it('reads at most 64 parts at once, and loses none', async () => {
    const all = Array.from({ length: 150 }, (_, at) => at);
    const reader = createPartReader(streamOf(...all), never);
    const batches: number[][] = [];
    for (let parts = await reader.read(); parts; parts = await reader.read()) batches.push([...parts]);
    expect(batches.map(({ length }) => length)).toEqual([64, 64, 22]);
    expect(batches.flat()).toEqual(all);
  });

  it('does not wait for parts that are not there', async () => {
    let source: ReadableStreamDefaultController<number> | undefined;
    const stream = new ReadableStream<number>({ start: (controller) => void (source = controller) });
    const reader = createPartReader(stream, never);
    source?.enqueue(1);
    expect(await reader.read()).toEqual([1]);
    source?.enqueue(2);
    expect(await reader.read()).toEqual([2]);
  });

  it('rejects with the reason and cancels the stream when the signal aborts', async () => {
    const abort = new AbortController();
    const canceled = Promise.withResolvers<unknown>();
    const reader = createPartReader(new ReadableStream<number>({ cancel: canceled.resolve }), abort.signal);
    const reading = reader.read();
    abort.abort('stopped');
    await expect(reading).rejects.toBe('stopped');
    expect(await canceled.promise).toBe('stopped');
  });
});
