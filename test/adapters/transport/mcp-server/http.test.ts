import * as v from 'valibot';
import { describe, expect, it, vi } from 'vitest';
import { memorySecrets } from '../../../../adapters/secrets/memory.ts';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { bearerAuthenticator, digestOfToken } from '../../../../adapters/transport/bearer-authenticator.ts';
import { answerEarly } from '../../../../adapters/transport/mcp-server/answer-early.ts';
import { contentOutput, defineTool, type Scope, type Tool } from '../../../../src/index.ts';
import {
  addTool,
  answerOf,
  type Ask,
  askLegacy,
  askModern,
  eraseTool,
  mcpEndpoint,
  mcpPrincipal,
  mcpRuntime,
  type Message,
  messagesOf,
} from '../../../fixtures/mcp/mcp-host.ts';

const eras = [['2025-11-25', askLegacy], ['2026-07-28', askModern]] as const;

function call(ask: Ask, name: string, input: Readonly<Record<string, unknown>> = {}, meta = {}): Promise<Message> {
  return answerOf(ask('tools/call', { name, arguments: input, ...meta }));
}

async function load(ask: Ask, ...names: string[]): Promise<string> {
  const { result } = await call(ask, 'tool_load', { names });
  return JSON.parse(result.content[0].text).toolset;
}

function plainTool(id: string, execute: Tool['execute'], more: Partial<Parameters<typeof defineTool>[0]> = {}): Tool {
  return defineTool({ id, description: `Does ${id}`, input: v.strictObject({}), ...more, execute });
}

/** An endpoint whose clients see all of its tools. */
function open(...tools: Tool[]) {
  return mcpEndpoint({ runtime: mcpRuntime({ tools }), mcp: { listed: ['*'] } });
}

const always = ['tool_find', 'tool_describe', 'tool_load', 'tool_active', 'tool_call'];

describe.each(eras)('an MCP client of %s over HTTP', (_, askOf) => {
  it('is shown the discovery tools, tool_call and what the host lists, whatever was loaded', async () => {
    const ask = askOf(mcpEndpoint({ mcp: { listed: ['reverse_*'] } }));
    const before = await answerOf(ask('tools/list'));
    expect(before.result.tools.map(({ name }: { name: string }) => name)).toEqual([...always, 'reverse_text']);
    await load(ask, 'add_numbers');
    expect(await answerOf(ask('tools/list'))).toEqual(before);
  });

  it('finds, loads and calls a tool, each step on another instance', async () => {
    const storage = memoryStorage();
    const instance = () => askOf(mcpEndpoint({ storage }));
    const found = await call(instance(), 'tool_find', { query: 'sum of two numbers' });
    expect(JSON.parse(found.result.content[0].text).tools[0].name).toBe('add_numbers');
    const toolset = await load(instance(), 'add_numbers');
    const input = { a: 2, b: 3 };
    const sum = { content: [{ type: 'text', text: '{"sum":5}' }], structuredContent: { sum: 5 } };
    const nested = { toolset, name: 'add_numbers', arguments: input };
    expect((await call(instance(), 'tool_call', nested)).result).toMatchObject(sum);
    expect((await call(instance(), 'add_numbers', { ...input, toolset })).result).toMatchObject(sum);
    const meta = { _meta: { 'pinnace/toolset': toolset } };
    expect((await call(instance(), 'add_numbers', input, meta)).result).toMatchObject(sum);
  });

  it('reads that a tool that is not active must be loaded', async () => {
    const ask = askOf(mcpEndpoint());
    const expected = { isError: true, content: [{ text: expect.stringContaining('load it with tool_load') }] };
    expect((await call(ask, 'add_numbers', { a: 1, b: 2 })).result).toMatchObject(expected);
    expect((await call(ask, 'tool_call', { name: 'add_numbers' })).result).toMatchObject(expected);
  });

  it.each(['A'.repeat(32), ''])('cannot use a handle that was never issued: "%s"', async (toolset) => {
    const { result } = await call(askOf(mcpEndpoint()), 'tool_call', { toolset, name: 'add_numbers' });
    expect(result).toMatchObject({ isError: true, _meta: { 'pinnace/error': { code: 'not_found' } } });
  });

  it('cannot use the handle of another principal', async () => {
    const storage = memoryStorage();
    const tokens = await Promise.all(['ann', 'bob'].map(async (subject) => ({
      digest: await digestOfToken(`token-of-${subject}`),
      tenant: 't1',
      subject,
      agents: '*' as const,
      scopes: ['run:create'] as const,
    })));
    const serve = mcpEndpoint({ storage, authenticator: bearerAuthenticator({ tokens }) });
    const as = (subject: string): Ask => (method, params) =>
      askOf(serve)(method, params, { headers: { authorization: `Bearer token-of-${subject}` } });
    const toolset = await load(as('ann'), 'add_numbers');
    const input = { toolset, name: 'add_numbers', arguments: { a: 1, b: 1 } };
    expect((await call(as('ann'), 'tool_call', input)).result).toMatchObject({ structuredContent: { sum: 2 } });
    expect((await call(as('bob'), 'tool_call', input)).result).toMatchObject({
      isError: true,
      _meta: { 'pinnace/error': { details: { reason: 'unknown_toolset' } } },
    });
  });

  it('reads what is wrong with its input, as a result', async () => {
    const ask = askOf(open(addTool));
    expect((await call(ask, 'add_numbers', { a: 'one' })).result).toMatchObject({
      isError: true,
      _meta: { 'pinnace/error': { code: 'invalid_argument' } },
    });
    expect((await call(ask, 'tool_call', { arguments: {} })).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('"name"') }],
    });
  });

  it('is refused what a person must approve, and what authorize denies', async () => {
    const runtime = mcpRuntime({
      authorize: (_action, _principal, { id }) =>
        id === 'add_numbers' ? { decision: 'deny', reason: 'not today' } : { decision: 'allow' },
    });
    const ask = askOf(mcpEndpoint({ runtime, mcp: { listed: ['*'] } }));
    expect((await call(ask, eraseTool.definition.id)).result).toMatchObject({
      isError: true,
      _meta: { 'pinnace/error': { code: 'approval_required' } },
    });
    expect((await call(ask, 'add_numbers', { a: 1, b: 2 })).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('not today') }],
    });
  });

  it('gets texts, images, sounds and files as blocks', async () => {
    const blocks = [
      { type: 'text', text: 'Look' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'test://a', mimeType: 'text/plain', text: 'A' } },
      { type: 'resource_link', uri: 'https://docs.example/a', name: 'A' },
    ] as const;
    const { result } = await call(askOf(open(plainTool('show', () => contentOutput(blocks)))), 'show');
    expect(result.content).toEqual(blocks);
  });

  it('receives the progress of the tool on request', async () => {
    const tool = plainTool('work', (_input, { progress }) => {
      for (const done of [1, 2]) progress?.({ progress: done, total: 2 });
      return progress ? 'told' : 'not asked';
    });
    const ask = askOf(open(tool));
    const asked = { name: 'work', arguments: {}, _meta: { progressToken: 'p1' } };
    const messages = await messagesOf(await ask('tools/call', asked));
    expect(messages.slice(0, -1).map(({ method, params }) => [method, params])).toMatchObject([
      ['notifications/progress', { progressToken: 'p1', progress: 1, total: 2 }],
      ['notifications/progress', { progressToken: 'p1', progress: 2, total: 2 }],
    ]);
    expect(messages.at(-1)?.result.content).toEqual([{ type: 'text', text: 'told' }]);
    expect((await call(ask, 'work')).result.content).toEqual([{ type: 'text', text: 'not asked' }]);
  });

  it('reads neither secrets nor the text of an unexpected error', async () => {
    const value = 'canary-4f9aZ_q-77Kd0Lm2';
    const secrets = memorySecrets({ canary: { value, origins: ['code'] } });
    const tools = [
      plainTool('leak', () => ({ said: `the key is ${value}` }), { secrets: [{ id: 'canary' }] }),
      plainTool('break_down', () => {
        throw new Error('sk-SECRET at /srv/app.ts');
      }),
    ];
    const ask = askOf(mcpEndpoint({ runtime: mcpRuntime({ tools, secrets }), mcp: { listed: ['*'] } }));
    expect((await call(ask, 'leak')).result.content[0].text).toBe('{"said":"the key is [secret canary]"}');
    const broken = await call(ask, 'break_down');
    expect(broken.result).toMatchObject({ isError: true });
    expect(JSON.stringify(broken)).not.toMatch(/SECRET|srv/);
  });

  it('leaves an event of every call, that names no input', async () => {
    const sink = memorySink();
    const ask = askOf(mcpEndpoint({ runtime: mcpRuntime({ sinks: [sink.sink] }), mcp: { listed: ['*'] } }));
    await call(ask, 'reverse_text', { text: 'abracadabra' });
    await call(ask, 'reverse_text', {});
    const ends = sink.events.filter(({ action, status }) => action === 'tool.call' && status !== 'pending');
    expect(ends).toMatchObject([
      { actor: { type: 'user', id: 'developer' }, target: { type: 'tool', id: 'reverse_text' }, status: 'ok' },
      { target: { id: 'reverse_text' }, status: 'error', error: { code: 'invalid_argument' } },
    ]);
    expect(JSON.stringify(sink.events)).not.toContain('abracadabra');
  });

  it.each<[string, Partial<{ scopes: readonly Scope[]; agents: readonly string[] }>]>([
    ['the scope', { scopes: ['run:read'] }],
    ['the agent', { agents: ['other'] }],
  ])('is refused without %s', async (_without, facts) => {
    const token = { digest: await digestOfToken('t'), tenant: 't1', subject: 's1', agents: '*', scopes: [] } as const;
    const tokens = [{ ...token, scopes: ['run:create'] as const, ...facts }];
    const ask = askOf(mcpEndpoint({ authenticator: bearerAuthenticator({ tokens }) }));
    const response = await ask('tools/list', {}, { headers: { authorization: 'Bearer t' } });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ code: 'forbidden' });
  });

  it('must send a bearer token before anything else happens', async () => {
    let asked = false;
    const tools = async () => {
      asked = true;
      return { ...await mcpRuntime().tools('helper', mcpPrincipal()), tools: [] };
    };
    const response = await askOf(mcpEndpoint({ mcp: { tools } }))('tools/list', {}, { headers: { authorization: '' } });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
    expect(asked).toBe(false);
  });

  it('gets 413 for a body that is too long', async () => {
    const response = await askOf(mcpEndpoint({ maxBodyBytes: 1000 }))('tools/list', { pad: 'x'.repeat(2000) });
    expect(response.status).toBe(413);
  });
});

describe('a tool that needs something of its client', () => {
  const tool = { ...addTool, definition: { ...addTool.definition, config: { clientCapabilities: ['sampling'] } } };

  it('is not called for a client that does not declare it', async () => {
    const params = { name: 'add_numbers', arguments: { a: 1, b: 2 } };
    const ask = askModern(open(tool));
    const refused = await ask('tools/call', params);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: { code: -32021, data: { requiredCapabilities: { sampling: {} } } },
    });
    const meta = { _meta: { 'io.modelcontextprotocol/clientCapabilities': { sampling: {} } } };
    expect((await call(ask, 'add_numbers', { a: 1, b: 2 }, meta)).result.structuredContent).toEqual({ sum: 3 });
  });
});

describe('arguments that a client repeats in headers', () => {
  const properties = {
    shop: { type: 'string', 'x-mcp-header': 'Shop' },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    note: { type: 'string' },
  } as const;
  const tool = plainTool('order', () => 'done', { input: { type: 'object', properties } });
  const send = (input: object, headers: Readonly<Record<string, string>>) =>
    askModern(open(tool))('tools/call', { name: 'order', arguments: input }, { headers });

  it.each([
    ['the same', { shop: 'west', count: 7 }, { 'mcp-param-shop': 'west', 'mcp-param-count': '7' }],
    ['in Base64', { shop: 'Köln' }, { 'mcp-param-shop': '=?base64?S8O2bG4=?=' }],
    ['of what was left out', { note: 'x' }, {}],
  ])('may be %s', async (_, input, headers) => {
    expect((await answerOf(send(input, headers))).result).toMatchObject({ content: [{ text: 'done' }] });
  });

  it.each([
    ['missing', { shop: 'west' }, {}],
    ['of another value', { shop: 'west' }, { 'mcp-param-shop': 'east' }],
    ['in broken Base64', { shop: 'west' }, { 'mcp-param-shop': '=?base64?d2Vzd?=' }],
  ])('are refused where they are %s', async (_, input, headers) => {
    const refused = await send(input, headers);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { code: -32020 } });
  });
});

describe('the lines of a tool’s log', () => {
  const tool = plainTool('talk', (_input, { log }) => {
    log('at work', 'warn');
    return 'done';
  });
  const linesOf = async (ask: Ask, _meta = {}): Promise<Message[]> => {
    const messages = await messagesOf(await ask('tools/call', { name: 'talk', arguments: {}, _meta }));
    return messages.filter(({ method }) => method === 'notifications/message');
  };

  it('reach clients of 2025-11-25, and those of 2026-07-28 that ask for them', async () => {
    const line = { params: { level: 'warning', data: 'at work' } };
    expect(await linesOf(askLegacy(open(tool)))).toMatchObject([line]);
    expect(await linesOf(askModern(open(tool)))).toEqual([]);
    const level = { 'io.modelcontextprotocol/logLevel': 'info' };
    expect(await linesOf(askModern(open(tool)), level)).toMatchObject([line]);
  });
});

describe('/mcp', () => {
  const post = (body: BodyInit, headers: Record<string, string> = {}, url = 'http://127.0.0.1/mcp') =>
    new Request(url, {
      method: 'POST',
      body,
      headers: {
        'authorization': 'Bearer a-token-for-tests-only',
        'content-type': 'application/json',
        'accept': 'application/json, text/event-stream',
        ...headers,
      },
    });

  const pinging = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

  it.each([
    ['*/*', 200],
    ['', 200],
    ['application/*;q=0.9, text/*', 200],
    ['text/event-stream, */*;q=0.1', 200],
    ['application/json', 406],
    ['text/*', 406],
    ['*/*, text/event-stream;q=0', 406],
  ])('answers a client that accepts %j with %i', async (accept, status) => {
    expect((await mcpEndpoint()(post(pinging, { accept }))).status).toBe(status);
  });

  it.each([
    ['initialize', { protocolVersion: '2025-11-25' }],
    ['initialize', { protocolVersion: 7, capabilities: {}, clientInfo: { name: 'c', version: '1' } }],
    ['tools/list', { cursor: 3 }],
    ['logging/setLevel', { level: 'loud' }],
  ])('calls malformed parameters of %s invalid, without the text of a library', async (method, params) => {
    const response = await mcpEndpoint()(post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })));
    const text = await response.text();
    expect(text).toContain('"code":-32602');
    expect(text).toContain(`not as MCP describes those of ${method}`);
    expect(text).not.toMatch(/expected|received|invalid_type/i);
  });

  const client = { name: 'c', version: '1' };
  it.each<[string, object]>([
    ['parameters', { method: 'ping', params: null }],
    ['facts of a request', { method: 'tools/list', params: { _meta: null } }],
    ['arguments', { method: 'tools/call', params: { name: 'tool_active', arguments: null, task: null } }],
    ['a token', { method: 'tools/call', params: { name: 'tool_active', _meta: { progressToken: null } } }],
    ['capabilities', {
      method: 'initialize',
      params: {
        protocolVersion: '2025-06-18',
        capabilities: { sampling: null, roots: { listChanged: null } },
        clientInfo: { ...client, title: null, icons: null },
      },
    }],
    ['a field of its own beside those of JSON-RPC', { method: 'ping', auth: null, time: 1 }],
  ])('reads null as left out: %s', async (_, message) => {
    const { result } = await answerOf(mcpEndpoint()(post(JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }))));
    expect(result).toBeDefined();
  });

  it('takes a notification whose id is null', async () => {
    const notice = '{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}';
    expect((await mcpEndpoint()(post(notice))).status).toBe(202);
  });

  it.each([{ total: 1 }, null, { sum: '3' }])('shows %j as a failed result, which no client drops', async (output) => {
    const outputSchema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] } as const;
    const sum = plainTool('sum', () => output, { outputSchema });
    const { result } = await call(askLegacy(open(sum)), 'sum');
    expect(result).toMatchObject({ isError: true });
    expect(result).not.toHaveProperty('structuredContent');
    expect(result.content.at(-1).text).toBe(JSON.stringify(output));
  });

  it('shows a result whose schema it cannot check', async () => {
    const outputSchema = { type: 'object', properties: { word: { type: 'string', pattern: '^(?=a)' } } } as const;
    const { result } = await call(askLegacy(open(plainTool('word', () => ({ word: 'a' }), { outputSchema }))), 'word');
    expect(result).toMatchObject({ structuredContent: { word: 'a' } });
  });

  it.each(['GET', 'DELETE'])('keeps no session that %s could be about', async (method) => {
    const { headers } = post('{}');
    expect((await mcpEndpoint()(new Request('http://127.0.0.1/mcp', { method, headers }))).status).toBe(405);
  });

  it.each([
    ['no JSON', '{', 400],
    ['no UTF-8', new Uint8Array([123, 255, 125]), 400],
    ['JSON that is nested too deep', '['.repeat(5000) + ']'.repeat(5000), 400],
    ['no message', '{"hello":1}', 400],
    ['a request whose id is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', 400],
  ])('refuses %s', async (_, body, status) => {
    const response = await mcpEndpoint()(post(body));
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } });
  });

  it('refuses a body of another type', async () => {
    expect((await mcpEndpoint()(post('{}', { 'content-type': 'text/plain' }))).status).toBe(415);
  });

  it('serves the configured host names, and no other', async () => {
    const params = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const headers = { 'mcp-protocol-version': '2025-11-25' };
    const facts = { tenant: 't1', subject: 's1', agents: '*', scopes: ['run:create'] } as const;
    const tokens = [{ ...facts, digest: await digestOfToken('a-token-for-tests-only') }];
    const authenticator = bearerAuthenticator({ tokens });
    const status = async (url: string, hosts?: string[]) =>
      (await mcpEndpoint({ authenticator, mcp: hosts ? { hosts } : {} })(post(params, headers, url))).status;
    expect(await status('http://localhost:8787/mcp')).toBe(200);
    expect(await status('http://[::1]:8787/mcp')).toBe(200);
    expect(await status('http://rebound.example/mcp')).toBe(421);
    expect(await status('https://agents.example/mcp', ['agents.example'])).toBe(200);
    expect(await status('http://127.0.0.1/mcp', ['agents.example'])).toBe(421);
  });

  // A browser lets no script set the origin.
  describe.skipIf('document' in globalThis)('for a page', () => {
    const page = 'https://app.example';
    it.each(['https://evil.example', 'null', 'http://127.0.0.1:1', 'http://127.0.0.1.evil.example'])(
      'refuses the origin %s, and does not read what it sent',
      async (origin) => {
        let read = 0;
        const body = new ReadableStream({ pull: (controller) => (read++, controller.enqueue(new Uint8Array(10))) }, {
          highWaterMark: 0,
        });
        const request = new Request('http://127.0.0.1/mcp', {
          method: 'POST',
          headers: { ...Object.fromEntries(post('').headers), origin },
          body,
          duplex: 'half',
        } as RequestInit);
        const response = await mcpEndpoint({ origins: [page] })(request);
        expect(response.status).toBe(403);
        expect(response.headers.get('access-control-allow-origin')).toBeNull();
        expect(read).toBe(0);
      },
    );

    it('names the headers that a listed one may send', async () => {
      const wanted =
        'content-type,authorization,mcp-protocol-version,mcp-session-id,last-event-id,mcp-method,mcp-name,mcp-param-id,baggage';
      const preflight = (origin: string) =>
        new Request('http://127.0.0.1/mcp', {
          method: 'OPTIONS',
          headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': wanted },
        });
      const serve = mcpEndpoint({ origins: [page] });
      const allowed = await serve(preflight(page));
      expect(allowed.status).toBe(204);
      const names = allowed.headers.get('access-control-allow-headers')?.split(',');
      expect(names).toEqual(expect.arrayContaining(wanted.split(',')));
      expect(allowed.headers.get('access-control-max-age')).toBe('600');
      expect((await serve(preflight('https://evil.example'))).headers.get('access-control-allow-origin')).toBeNull();
    });
  });
});

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
