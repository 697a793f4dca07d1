import { Client } from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import * as v from 'valibot';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { bearerAuthenticator, digestOfToken } from '../../../../adapters/transport/bearer-authenticator.ts';
import { listedResources, type McpResources, treeResources } from '../../../../adapters/transport/mcp-content.ts';
import type { Handler } from '../../../../adapters/transport/http.ts';
import { type Authorize, defineTool, type Tool } from '../../../../src/index.ts';
import { createTree } from '../../../../src/tree/index.ts';
import { addTool, endlessTool, eraseTool, mcpEndpoint, mcpRuntime, mcpToken } from '../../../fixtures/mcp/mcp-host.ts';
import { createSession, iss } from '../signed/session.ts';

const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

const greet: Tool = defineTool({
  id: 'greet',
  description: 'Greets',
  input: v.strictObject({}),
  async execute(_, { client }) {
    const { who } = await client!.ask({ who: { kind: 'form', message: 'Who?', schema } });
    const said = { role: 'user', content: { type: 'text', text: `Greet ${String(who.content?.['name'])}` } } as const;
    const { reply } = await client!.ask({ reply: { kind: 'sampling', messages: [said], maxTokens: 10 } });
    return JSON.stringify(reply.content);
  },
});

interface Given {
  readonly resources?: readonly McpResources[];
  readonly sessions?: { readonly max?: number; readonly maxPerPrincipal?: number; readonly idleMs?: number };
  readonly authorize?: Authorize;
  readonly now?: () => number;
}

const url = 'http://127.0.0.1/mcp';

async function endpoint({ resources = [], sessions = {}, authorize, now }: Given = {}): Promise<Handler> {
  const tokens = await Promise.all(['ann', 'bob', 'cid', 'eve'].map(async (subject) => ({
    digest: await digestOfToken(subject),
    tenant: subject === 'eve' ? 'u' : 't',
    subject,
    agents: '*' as const,
    scopes: ['run:create', 'tool:approve'] as const,
  })));
  return mcpEndpoint({
    runtime: mcpRuntime({ tools: [greet, addTool, eraseTool], ...(authorize && { authorize }) }),
    authenticator: bearerAuthenticator({ tokens }),
    ...(now && { now }),
    mcp: { listed: ['*'], approvals: 'client', resources, sessions },
  });
}

/** A client of the SDK, with a session of its own. */
async function connect(serve: Handler, token = 'ann', capabilities: object = { elicitation: {}, sampling: {} }) {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: (input, init) => serve(new Request(input, init)),
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  const client = new Client({ name: 'test', version: '1' }, { capabilities });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, transport };
}

/** A request of a session, by hand. */
function send(
  serve: Handler,
  { token = 'ann', id, method = 'POST', body }: {
    readonly token?: string;
    readonly id?: string | undefined;
    readonly method?: string;
    readonly body?: object;
  },
): Promise<Response> {
  return serve(
    new Request(url, {
      method,
      headers: {
        'authorization': `Bearer ${token}`,
        'accept': method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': '2025-11-25',
        ...(id !== undefined && { 'mcp-session-id': id }),
      },
      ...(body && { body: JSON.stringify({ jsonrpc: '2.0', ...body }) }),
    }),
  );
}

async function initialize(serve: Handler, token = 'ann'): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } };
  const response = await send(serve, { token, body: { id: 1, method: 'initialize', params } });
  await response.text();
  return response.headers.get('mcp-session-id') ?? '';
}

const ping = { id: 2, method: 'ping' };

async function statusOf(serve: Handler, token: string, id: string): Promise<number> {
  const response = await send(serve, { token, id, body: ping });
  await response.text();
  return response.status;
}

describe('a session of a client of 2025-11-25', () => {
  it.each([[true, 'gone'], [false, 'denied']])('is asked for an approval (%s)', async (approve, expected) => {
    const { client } = await connect(await endpoint());
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { approve } }));
    expect(JSON.stringify(await client.callTool({ name: 'erase_everything' }))).toContain(expected);
  });

  it('is not asked what it does not declare', async () => {
    const { client } = await connect(await endpoint(), 'ann', {});
    expect(await client.callTool({ name: 'greet' })).toMatchObject({ isError: true });
  });

  it.each(['bob', 'eve'])('belongs to its principal: %s does not find it', async (other) => {
    const serve = await endpoint();
    const id = await initialize(serve);
    const answers = [
      await send(serve, { token: other, id, body: ping }),
      await send(serve, { token: other, id, method: 'GET' }),
      await send(serve, { token: other, id, method: 'DELETE' }),
      await send(serve, { token: other, id: 'f'.repeat(64), body: ping }),
    ];
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect(new Set(bodies).size).toBe(1);
    expect(await statusOf(serve, 'ann', id)).toBe(200);
  });

  it('ends when its client says so', async () => {
    const serve = await endpoint();
    const id = await initialize(serve);
    await (await send(serve, { id, method: 'DELETE' })).text();
    await vi.waitFor(async () => expect(await statusOf(serve, 'ann', id)).toBe(404));
  });

  it('ends when it was not used for the time', async () => {
    let now = 0;
    const serve = await endpoint({ sessions: { idleMs: 1000 }, now: () => now });
    const [idle, used] = [await initialize(serve), await initialize(serve)];
    now = 600;
    expect(await statusOf(serve, 'ann', used)).toBe(200);
    now = 1200;
    expect(await statusOf(serve, 'ann', used)).toBe(200);
    expect(await statusOf(serve, 'ann', idle)).toBe(404);
  });

  it('makes room for another of its principal, and for one of who has the fewest where all are taken', async () => {
    let now = 0;
    const serve = await endpoint({ sessions: { max: 3, maxPerPrincipal: 2 }, now: () => ++now });
    const [first, second, third] = [await initialize(serve), await initialize(serve), await initialize(serve)];
    expect(await statusOf(serve, 'ann', first)).toBe(404);
    expect(await statusOf(serve, 'ann', second)).toBe(200);
    const bobs = await initialize(serve, 'bob');
    const eves = await initialize(serve, 'eve'); // another tenant: the one of ann and bob has three
    expect([await statusOf(serve, 'ann', third), await statusOf(serve, 'bob', bobs)]).toEqual([404, 200]);
    const refused = await send(serve, {
      token: 'cid',
      body: {
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
      },
    });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).not.toBeNull();
    expect(await refused.json()).toMatchObject({ code: 'overloaded' });
    expect([await statusOf(serve, 'ann', second), await statusOf(serve, 'eve', eves)]).toEqual([200, 200]);
  });

  it('is opened by a client that starts again with the id of a session that is gone', async () => {
    const serve = await endpoint();
    for (const id of ['f'.repeat(64), await initialize(serve, 'bob')]) {
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } };
      const response = await send(serve, { id, body: { id: 1, method: 'initialize', params } });
      expect(response.headers.get('mcp-session-id')).toMatch(/^[0-9a-f]{64}$/);
      expect(response.headers.get('mcp-session-id')).not.toBe(id);
    }
  });

  it('ends the stream of a request that is canceled, and takes no other request with its id meanwhile', async () => {
    const { tool, started, stopped } = endlessTool();
    const serve = mcpEndpoint({ runtime: mcpRuntime({ tools: [tool] }), mcp: { listed: ['*'], sessions: {} } });
    const id = await initialize(serve, mcpToken);
    const post = (body: object) => send(serve, { token: mcpToken, id, body });
    const response = await post({ id: 'c', method: 'tools/call', params: { name: 'work_endlessly' } });
    await started;
    const other = await post({ id: 'c', method: 'ping' });
    expect([other.status, await other.json()]).toMatchObject([400, { error: { code: -32600 } }]);
    expect((await post({ method: 'notifications/cancelled', params: { requestId: 'c' } })).status).toBe(202);
    expect(await response.text()).not.toContain('result');
    await stopped;
    expect((await post({ id: 'c', method: 'ping' })).status).toBe(200);
  });

  it('is not opened by a message that opens none', async () => {
    const serve = await endpoint({ sessions: { max: 1 } });
    const broken = await send(serve, { body: { id: 1, method: 'initialize', params: {} } });
    expect(broken.headers.get('mcp-session-id')).toBeNull();
    expect(await initialize(serve)).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('a resource that a session watches', () => {
  function watched() {
    const changes = new EventTarget();
    const resources = [listedResources([
      {
        uri: 'x://one',
        name: 'one',
        read: () => [{ text: 'one' }],
        watch: ({ signal, onChange }) => changes.addEventListener('change', onChange, { signal }),
      },
      { uri: 'x://still', name: 'still', read: () => [{ text: 'still' }] },
    ])];
    return { resources, change: () => changes.dispatchEvent(new Event('change')) };
  }

  function updatesOf(client: Client): string[] {
    const seen: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void seen.push(params.uri));
    return seen;
  }

  it('may be a node of a tree of the tenant', async () => {
    const row = (nodeId: string, name: string) => ({ nodeId, parentId: null, payloadType: 'task', payload: { name } });
    const payloadTypes = { task: v.object({ name: v.string() }) };
    const tree = createTree({ payloadTypes, rows: [row('root', 'Before')] });
    const resources = [treeResources({ tree: ({ tenant }) => tenant === 't' ? tree : undefined })];
    const serve = await endpoint({ resources });
    const { client } = await connect(serve);
    const seen = updatesOf(client);
    const uri = 'pinnace://tree/main/root';
    await client.subscribeResource({ uri });
    let at = 0;
    await vi.waitFor(() => {
      tree.apply([{ kind: 'payload', nodeId: 'root', payloadType: 'task', payload: { name: `After ${at++}` } }]);
      expect(seen).toContain(uri);
    });
    const { client: eve } = await connect(serve, 'eve');
    await expect(eve.subscribeResource({ uri })).rejects.toMatchObject({ code: -32602 });
  });

  it.each(['x://still', 'x://none', 'no uri'])('must be one that can be watched, unlike %s', async (uri) => {
    const { resources } = watched();
    const { client } = await connect(await endpoint({ resources }));
    await expect(client.subscribeResource({ uri })).rejects.toMatchObject({ code: -32602 });
  });

  it('is not reported to a principal who may not watch it any more', async () => {
    const { resources, change } = watched();
    let [isAllowed, asked] = [true, 0];
    const authorize: Authorize = (action) => {
      if (action === 'mcp.resource.watch') asked++;
      return { decision: isAllowed || action !== 'mcp.resource.watch' ? 'allow' : 'deny', reason: 'gone' };
    };
    const { client } = await connect(await endpoint({ resources, authorize }));
    const seen = updatesOf(client);
    await client.subscribeResource({ uri: 'x://one' });
    isAllowed = false;
    change();
    await vi.waitFor(() => expect(asked).toBe(2));
    await client.ping();
    expect(seen).toEqual([]);
  });

  it('is one of 100 at most', async () => {
    const watch = ({ signal }: { readonly signal: AbortSignal }) => signal.throwIfAborted();
    const many = Array.from({ length: 101 }, (_, at) => ({ uri: `x://${at}`, name: `${at}`, read: () => [], watch }));
    const { client } = await connect(await endpoint({ resources: [listedResources(many)] }));
    for (const { uri } of many.slice(0, 100)) await client.subscribeResource({ uri });
    await expect(client.subscribeResource({ uri: 'x://100' })).rejects.toThrow(/at most 100/);
    await client.unsubscribeResource({ uri: 'x://0' });
    await client.subscribeResource({ uri: 'x://100' });
  });

  it('is not watched by a session that is closed', async () => {
    const stopped = Promise.withResolvers<void>();
    const watch = ({ signal }: { readonly signal: AbortSignal }) =>
      signal.addEventListener('abort', () => stopped.resolve());
    const resources = [listedResources([{ uri: 'x://one', name: 'one', read: () => [], watch }])];
    const { client, transport } = await connect(await endpoint({ resources }));
    await client.subscribeResource({ uri: 'x://one' });
    await transport.terminateSession();
    await expect(stopped.promise).resolves.toBeUndefined();
  });
});

it('the stream of a session ends when the runtime closes', async () => {
  const runtime = mcpRuntime({ tools: [addTool] });
  const serve = mcpEndpoint({ runtime, mcp: { sessions: {} } });
  const token = 'a-token-for-tests-only';
  const id = await initialize(serve, token);
  const stream = await send(serve, { token, id, method: 'GET' });
  expect(stream.status).toBe(200);
  const ended = stream.text();
  await runtime.close();
  await expect(ended).resolves.toEqual(expect.any(String));
});

it('the stream of a session ends when the certificate of its caller is revoked', async () => {
  const signed = await createSession();
  const serve = mcpEndpoint({
    runtime: mcpRuntime({ tools: [addTool] }),
    storage: memoryStorage(),
    authenticator: signed.authenticator,
    now: signed.clock.now,
    mcp: { hosts: ['worker.example'], sessions: {} },
  });
  const address = 'https://worker.example/mcp';
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const accept = 'application/json, text/event-stream';
  const opened = await serve(
    await signed.request({ url: address, headers: { accept, 'idempotency-key': null }, body }),
  );
  const id = opened.headers.get('mcp-session-id') ?? '';
  await opened.text();
  const headers = {
    'accept': 'text/event-stream',
    'idempotency-key': null,
    'content-type': null,
    'mcp-session-id': id,
  };
  const stream = await serve(await signed.request({ url: address, method: 'GET', headers }));
  expect(stream.status).toBe(200);
  const ended = stream.text();
  await signed.authenticator.revoke({ kind: 'certificate', issuer: iss, certificateId: 'certificate-1' });
  await expect(ended).resolves.toEqual(expect.any(String));
});
