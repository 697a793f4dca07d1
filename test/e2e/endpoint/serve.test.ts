import { request as httpRequest } from 'node:http';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { userMessage } from '../../fixtures/runtime.ts';
import { type EndpointProcess, startEndpoint } from '../../tools/servers/endpoint.ts';

let endpoint: EndpointProcess;
beforeAll(async () => {
  endpoint = await startEndpoint();
});
afterAll(() => endpoint.stop());

function post(
  text: string,
  headers: Record<string, string> = {},
  { url = endpoint.url, agentId = 'navigator' } = {},
): Promise<Response> {
  return fetch(`${url}/v1/runs`, {
    method: 'POST',
    body: JSON.stringify({ agentId, chat: { id: 'c', messages: [userMessage(text)] } }),
    headers: {
      'authorization': `Bearer ${endpoint.token}`,
      'content-type': 'application/json',
      'idempotency-key': `"${crypto.randomUUID()}"`,
      ...headers,
    },
  });
}

describe('the sample endpoint under deno serve', () => {
  it('streams a run with a tool call', async () => {
    const response = await post('What is 6 * 7?');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const text = await response.text();
    expect(text).toContain('"output":{"expression":"6 * 7","value":42');
    expect(text).toMatch(/"type":"finish","finishReason":"stop"}\n\ndata: \[DONE\]\n\n$/);
  });

  it('keeps a tree on which an agent works', async () => {
    await (await post('Rename "Purchasing" to "Stores"', {}, { agentId: 'bosun' })).text();
    const found = await (await post('Find "Stores"', {}, { agentId: 'bosun' })).text();
    expect(found).toContain('"label":"Stores"');
  });

  it('replays a run for the same key, and resumes it in the middle', async () => {
    const key = `"${crypto.randomUUID()}"`;
    const first = await post('What is 2 + 2?', { 'idempotency-key': key });
    const text = await first.text();
    const again = await post('What is 2 + 2?', { 'idempotency-key': key });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await again.text()).toBe(text);
    const runId = first.headers.get('x-run-id') ?? '';
    const headers = { authorization: `Bearer ${endpoint.token}`, 'last-event-id': `${runId}:5` };
    const rest = await fetch(`${endpoint.url}/v1/runs/${runId}/stream`, { headers });
    expect(text.endsWith((await rest.text()).replace('retry: 1000\n\n', ''))).toBe(true);
  });

  it('stores its agents in a registry, which callers with the token can list and change', async () => {
    const headers = { 'authorization': `Bearer ${endpoint.token}`, 'content-type': 'application/json' };
    const agents = `${endpoint.url}/v1/agents`;
    const { items } = await (await fetch(`${agents}?tags=sample`, { headers })).json();
    expect(items.map(({ id }: { id: string }) => id)).toContain('navigator');
    const body = JSON.stringify({ id: 'mine', name: 'Mine', providerId: 'default', entryTools: ['notes_*'] });
    const registered = await fetch(agents, { method: 'POST', headers, body });
    expect([registered.status, registered.headers.get('etag')]).toEqual([201, '"1"']);
    const { availableTools } = await (await fetch(`${agents}/mine`, { headers })).json();
    expect(availableTools.map(({ id }: { id: string }) => id)).toContain('notes_add');
    expect((await fetch(`${agents}/mine`, { method: 'DELETE', headers })).status).toBe(204);
  });

  it('refuses a host name that is not loopback, as a rebound page would send it', async () => {
    const { port } = new URL(endpoint.url);
    const request = httpRequest({
      port,
      host: '127.0.0.1',
      path: '/v1/agents/navigator/manifest',
      headers: {
        host: 'pinnace.example',
        authorization: `Bearer ${endpoint.token}`,
      },
    });
    request.end();
    const [response] = await once(request, 'response');
    expect(response.statusCode).toBe(421);
    response.resume();
  });

  it('lets a running run end when it is asked to stop', async () => {
    const other = await startEndpoint();
    const response = await post('What is 6 * 7?', { authorization: `Bearer ${other.token}` }, { url: other.url });
    const [text] = await Promise.all([response.text(), other.stop()]);
    expect(text).toContain('"type":"finish"');
  });

  it('prints a line for each run, without what was said', async () => {
    const response = await post('The word is xylophone, and what is 6 * 7?');
    await response.text();
    const line = `navigator completed in .* tokens, calculator, ${response.headers.get('x-run-id')}$`;
    await expect.poll(() => endpoint.output()).toMatch(new RegExp(line, 'm'));
    expect(endpoint.output()).not.toContain('xylophone');
    expect(endpoint.output()).not.toContain(endpoint.token);
  });
});
