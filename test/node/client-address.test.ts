import { afterEach, expect, it, vi } from 'vitest';
import { createClient } from '../../adapters/transport/client.ts';

afterEach(() => void vi.unstubAllGlobals());

it('resolves a relative address against that of the page, at the first request', async () => {
  const requested: string[] = [];
  const clientOf = (url: string) =>
    createClient({
      url,
      attempts: 1,
      credentials: { bearer: 'a-token' },
      fetch: async (request) => {
        requested.push(request.url);
        return new Response(null, { status: 404 });
      },
    });
  vi.stubGlobal('location', { href: 'https://app.example/chats/1?x=2' });
  await clientOf('/agents/').status('r1').catch(() => undefined);
  await clientOf('https://agents.example').status('r1').catch(() => undefined);
  expect(requested).toEqual(['https://app.example/agents/v1/runs/r1', 'https://agents.example/v1/runs/r1']);
  vi.stubGlobal('location', undefined);
  const onServer = clientOf('/agents');
  await expect(onServer.status('r1')).rejects.toMatchObject({
    code: 'invalid_argument',
    details: { reason: 'relative_url' },
    message: expect.stringMatching(/^Cannot connect to "\/agents" without a page: pass a URL with its origin/),
  });
  await expect(onServer.run({ agentId: 'a', chat: { id: 'c', messages: [] } })).rejects.toMatchObject({
    code: 'invalid_argument',
  });
  vi.stubGlobal('location', { href: 'https://app.example/' });
  await onServer.status('r1').catch(() => undefined);
  expect(requested.at(-1)).toBe('https://app.example/agents/v1/runs/r1');
});
