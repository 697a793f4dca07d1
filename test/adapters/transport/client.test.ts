import { describe, expect, it } from 'vitest';
import { readAll, runRequest } from '../../fixtures/runtime.ts';
import { chunksOf, url } from './client/fake-endpoint.ts';
import { callsOf, refuse, run, setup } from './client/setup.ts';

describe('run', () => {
  it('signs the request, and returns the chunks in order', async () => {
    const subject = await setup();
    expect(await run(subject)).toEqual(chunksOf(6));
    const [request] = subject.endpoint.requests;
    expect(callsOf(subject.endpoint)).toEqual(['POST /v1/runs']);
    expect(request?.headers.get('idempotency-key')).toMatch(/^"[0-9a-f-]{36}"$/);
    expect(request?.headers.get('content-type')).toBe('application/json');
    expect(await request?.json()).toEqual(runRequest());
  });

  it('reads no further than it is asked', async () => {
    const { client, endpoint } = await setup({ chunks: chunksOf(50) });
    const reader = (await client.run(runRequest())).getReader();
    await reader.read();
    await reader.cancel();
    expect(endpoint.released()).toBe(1);
  });

  it('keeps the idempotency key it is given', async () => {
    const subject = await setup();
    await run(subject, { idempotencyKey: 'a-key-of-my-own "1"' });
    expect(subject.endpoint.requests[0]?.headers.get('idempotency-key')).toBe('"a-key-of-my-own \\"1\\""');
  });

  it.each(['short', 'k'.repeat(256), 'ключ-ключ-ключ-ключ'])(
    'refuses the idempotency key %s before anything is sent',
    async (idempotencyKey) => {
      const { client, endpoint } = await setup();
      await expect(client.run(runRequest(), { idempotencyKey })).rejects.toMatchObject({ code: 'invalid_argument' });
      expect(endpoint.requests).toHaveLength(0);
    },
  );

  it('speaks with an endpoint whose address has a path', async () => {
    const subject = await setup({ client: { url: `${url}/base/` } });
    await run(subject).catch(() => {});
    expect(callsOf(subject.endpoint)[0]).toBe('POST /base/v1/runs');
  });
});

describe('a run that is going on', () => {
  it('is joined when the answer to its start was lost', async () => {
    const subject = await setup({ joins: 1 });
    let lost = false;
    const fetch = async (request: Request) => {
      const response = await subject.endpoint.fetch(request);
      if (lost) return response;
      lost = true;
      throw new TypeError('Connection lost');
    };
    const { client } = await setup({ client: { ...subject.endpoint.credential, fetch } });
    expect(await readAll(await client.run(runRequest()))).toEqual(chunksOf(6));
    expect(subject.endpoint.executions()).toBe(1);
  });

  it('is not joined at another origin', async () => {
    const subject = await setup();
    subject.endpoint.plan(
      refuse('run_in_progress', 409, { details: { location: 'https://evil.example/v1/runs/run_1/stream' } }),
    );
    await expect(run(subject)).rejects.toMatchObject({ code: 'forbidden' });
    expect(subject.endpoint.requests).toHaveLength(1);
  });
});

describe('as a transport of the AI SDK', () => {
  const trigger = {
    trigger: 'submit-message',
    chatId: 'chat-1',
    messageId: undefined,
    abortSignal: undefined,
  } as const;

  it('refuses messages without an agent', async () => {
    const { client } = await setup();
    await expect(client.sendMessages({ ...trigger, messages: [] })).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it('replays the run of a chat, also over a cut, and returns null where there is none', async () => {
    const subject = await setup({ headers: false });
    expect(await subject.client.reconnectToStream({ chatId: 'chat-1' })).toBeNull();
    await run(subject);
    subject.endpoint.plan({ type: 'cut', after: 0 }, { type: 'cut', after: 2 });
    const stream = await subject.client.reconnectToStream({ chatId: 'chat-1' });
    expect(await readAll(stream!)).toEqual(chunksOf(6));
    expect(callsOf(subject.endpoint).slice(2)).toEqual([
      'GET /v1/chats/chat-1/stream',
      'GET /v1/chats/chat-1/stream',
      'GET /v1/runs/run_1/stream',
    ]);
    expect(subject.client.resumeStreamIsReplay).toBe(true);
  });
});
