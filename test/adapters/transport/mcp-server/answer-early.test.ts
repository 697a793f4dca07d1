import { describe, expect, it, vi } from 'vitest';
import { answerEarly } from '../../../../adapters/transport/mcp-server/answer-early.ts';

const onLeave = (): void => undefined;

describe('answerEarly', () => {
  it('returns a response that comes in time unchanged', async () => {
    const answer = Response.json({ id: 1 }, { status: 400 });
    expect(await answerEarly(Promise.resolve(answer), { waitMs: 60_000, onLeave })).toBe(answer);
  });

  it.each([
    ['JSON', Response.json({ id: 1 }), 'event: message\ndata: {"id":1}\n\n'],
    ['events', new Response('data: 1\n\n', { headers: { 'content-type': 'text/event-stream' } }), 'data: 1\n\n'],
    ['nothing', new Response(null, { status: 202 }), ''],
  ])('starts a stream for an answer that has not started, and ends it with %s', async (_, answer, expected) => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    const early = await answerEarly(promise, { waitMs: 0, onLeave });
    expect(early.headers.get('content-type')).toBe('text/event-stream');
    resolve(answer);
    expect(await early.text()).toBe(`: the tool is at work\n\n${expected}`);
  });

  it('reports a client that leaves before the response', async () => {
    const left = vi.fn<() => void>();
    const early = await answerEarly(new Promise(() => undefined), { waitMs: 0, onLeave: left });
    const reader = early.body?.getReader();
    await reader?.read();
    expect(left).not.toHaveBeenCalled();
    await reader?.cancel();
    await vi.waitFor(() => expect(left).toHaveBeenCalledOnce());
  });
});
