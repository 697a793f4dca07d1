import { describe, expect, it } from 'vitest';
import type { Client } from '../../../../adapters/transport/client.ts';
import { remoteRuntime } from '../../../../demo/endpoint/worker/remote-runtime.ts';
import { localPrincipal, PinnaceError, type UIMessageChunk } from '../../../../src/index.ts';
import { readAll, runRequest } from '../../../fixtures/runtime.ts';

const me = localPrincipal();

/** A client whose run the test writes. */
function fakeClient() {
  const cancelled: string[] = [];
  const signals: (AbortSignal | undefined)[] = [];
  let own: ReadableStreamDefaultController<UIMessageChunk> | undefined;
  const stream = new ReadableStream<UIMessageChunk>({ start: (controller) => void (own = controller) });
  const client: Pick<Client, 'run' | 'cancel' | 'approve' | 'blobs'> = {
    blobs: {
      read: async (id) => new Blob([id], { type: 'text/csv' }),
      upload: () => Promise.reject(new Error('Nothing is uploaded')),
      delete: () => Promise.reject(new Error('Nothing is deleted')),
    },
    run: async (_request, { signal } = {}) => {
      signals.push(signal);
      return stream;
    },
    cancel: async (runId) => void cancelled.push(runId),
    approve: async () => undefined,
  };
  // Safe: the runtime uses these alone.
  return { client: client as Client, cancelled, signals, write: (chunk: UIMessageChunk) => own?.enqueue(chunk), own };
}

const opening: UIMessageChunk = { type: 'data-run', id: 'run-1', data: { runId: 'run-1', state: 'running' } };

describe('remoteRuntime', () => {
  it('cancels the run when its signal aborts, and hands on what the endpoint then says', async () => {
    const { client, cancelled, signals, write, own } = fakeClient();
    const stop = new AbortController();
    const stream = await remoteRuntime(client).run(runRequest(), me, { signal: stop.signal });
    write(opening);
    const [seen, rest] = stream.tee();
    expect(await seen.getReader().read()).toMatchObject({ value: opening });
    stop.abort();
    expect(cancelled).toEqual(['run-1']);
    write({ type: 'abort', reason: 'cancelled' });
    own?.close();
    expect(await readAll(rest)).toEqual([opening, { type: 'abort', reason: 'cancelled' }]);
    expect(signals[0]?.aborted).toBe(false);
  });

  it('reads a stored file of the endpoint', async () => {
    const { bytes, mediaType } = await remoteRuntime(fakeClient().client).blobs.get('abc', me);
    expect([new TextDecoder().decode(bytes), mediaType]).toEqual(['abc', 'text/csv']);
  });

  it('lets go of a call that has not begun', async () => {
    const { client, signals } = fakeClient();
    await remoteRuntime(client).run(runRequest(), me, { signal: AbortSignal.abort() });
    expect(signals[0]?.reason).toBeInstanceOf(PinnaceError);
  });
});
