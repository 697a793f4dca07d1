import { expect, it } from 'vitest';
import { startEndpoint } from '../../tools/servers/endpoint.ts';

const body = (chat: string) =>
  JSON.stringify({
    agentId: 'navigator',
    chat: {
      id: chat,
      messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Tell me about the sea' }] }],
    },
  });

it('exits after SIGTERM, with cron and under load, and ends every stream with an event', async () => {
  const endpoint = await startEndpoint({ permissions: ['--unstable-kv', '--unstable-cron'] });
  const authorization = `Bearer ${endpoint.token}`;
  const runs = await Promise.all(Array.from({ length: 100 }, async (_, at) => {
    const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': `"a-key-of-a-run-${at}"` };
    return await fetch(`${endpoint.url}/v1/runs`, { method: 'POST', headers, body: body(`chat-${at}`) });
  }));
  const watching = await fetch(`${endpoint.url}/v1/events`, { headers: { authorization } });
  expect(watching.status).toBe(200);
  const streams = runs.filter(({ status }) => status === 200).map((response) => response.text());
  expect(streams.length).toBeGreaterThan(0);
  await endpoint.stop();
  for (const text of await Promise.all(streams)) expect(text).toMatch(/"type":"(finish|abort|error)"/);
  await watching.body?.cancel().catch(() => undefined);
});
