import { describe, expect, it } from 'vitest';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { textSource } from '../../../../adapters/grounding/text.ts';
import { bearerAuthenticator, digestOfToken } from '../../../../adapters/transport/bearer-authenticator.ts';
import {
  groundingResources,
  listedResources,
  type McpPrompt,
  type McpResources,
  templateResources,
  treeResources,
} from '../../../../adapters/transport/mcp-content.ts';
import { type Authorize, createGrounding, createPrincipal, PinnaceError } from '../../../../src/index.ts';
import { createAudit } from '../../../../src/events/index.ts';
import { createTree } from '../../../../src/tree/index.ts';
import * as v from 'valibot';
import { answerOf, type Ask, askLegacy, askModern, mcpEndpoint, mcpRuntime } from '../../../fixtures/mcp/mcp-host.ts';

const eras = [['2025-11-25', askLegacy], ['2026-07-28', askModern]] as const;

const note = templateResources({
  uriTemplate: 'notes://{id}/text',
  name: 'Note',
  mimeType: 'text/plain',
  read: ({ id }, { principal: { tenant } }) => id === `of-${tenant}` ? [{ text: `${id} is ${tenant}'s` }] : undefined,
  complete: ({ value }, { principal: { tenant } }) => [`of-${tenant}`].filter((id) => id.startsWith(value)),
});

function endpoint(resources: readonly McpResources[], prompts: readonly McpPrompt[] = [], more = {}) {
  return mcpEndpoint({ ...more, mcp: { resources, prompts } });
}

/** Two tenants of one endpoint. */
async function tenants(resources: readonly McpResources[], prompts?: readonly McpPrompt[]) {
  const tokens = await Promise.all(['a', 'b'].map(async (tenant) => {
    const facts = { tenant, subject: 's', agents: '*', scopes: ['run:create', 'grounding:read'] } as const;
    return { digest: await digestOfToken(`token-of-${tenant}`), ...facts };
  }));
  const serve = endpoint(resources, prompts, { authenticator: bearerAuthenticator({ tokens }) });
  return (tenant: string, askOf: typeof askLegacy): Ask => (method, params) =>
    askOf(serve)(method, params, { headers: { authorization: `Bearer token-of-${tenant}` } });
}

describe.each(eras)('resources for a client of %s', (_era, askOf) => {
  const read = (ask: Ask, uri: string) => answerOf(ask('resources/read', { uri }));

  it('are listed and read, as text and as bytes', async () => {
    const ask = askOf(endpoint([
      listedResources([
        {
          uri: 'docs://terms',
          name: 'terms',
          title: 'Terms',
          mimeType: 'text/markdown',
          read: () => [{ text: '# T' }],
        },
        { uri: 'docs://seal', name: 'seal', mimeType: 'image/png', read: () => [{ blob: new Uint8Array([1, 2, 3]) }] },
      ]),
    ]));
    const { result } = await answerOf(ask('resources/list'));
    expect(result.resources).toEqual([
      { uri: 'docs://terms', name: 'terms', title: 'Terms', mimeType: 'text/markdown' },
      { uri: 'docs://seal', name: 'seal', mimeType: 'image/png' },
    ]);
    expect((await read(ask, 'docs://terms')).result.contents).toEqual([
      { uri: 'docs://terms', mimeType: 'text/markdown', text: '# T' },
    ]);
    expect((await read(ask, 'docs://seal')).result.contents).toEqual([
      { uri: 'docs://seal', mimeType: 'image/png', blob: 'AQID' },
    ]);
  });

  it('are found by templates, and completed', async () => {
    const ask = (await tenants([note]))('a', askOf);
    const { result } = await answerOf(ask('resources/templates/list'));
    expect(result.resourceTemplates).toEqual([
      { uriTemplate: 'notes://{id}/text', name: 'Note', mimeType: 'text/plain' },
    ]);
    expect((await read(ask, 'notes://of-a/text')).result.contents[0].text).toBe("of-a is a's");
    const ref = { type: 'ref/resource', uri: 'notes://{id}/text' };
    const completed = await answerOf(ask('completion/complete', { ref, argument: { name: 'id', value: 'of' } }));
    expect(completed.result.completion).toEqual({ values: ['of-a'], total: 1, hasMore: false });
  });

  it('of another tenant are as unknown as those that never were', async () => {
    const as = await tenants([note]);
    const others = await read(as('b', askOf), 'notes://of-a/text');
    expect(others.error).toMatchObject({ code: -32602, data: { uri: 'notes://of-a/text' } });
    const unknown = await read(as('b', askOf), 'notes://of-z/text');
    expect({ ...others.error, data: {} }).toEqual({ ...unknown.error, data: {} });
    const ref = { type: 'ref/resource', uri: 'notes://{id}/text' };
    const completed = await answerOf(
      as('b', askOf)('completion/complete', { ref, argument: { name: 'id', value: '' } }),
    );
    expect(completed.result.completion.values).toEqual(['of-b']);
  });

  it.each([
    'notes://../text',
    'notes://%2e%2e/text',
    'notes://%2e/text',
    'notes://of-a%5cother/text',
    'notes://of-a%0d%0aX/text',
    'notes://of-a%2f..%2fother/text',
    'notes://of-a%00/text',
    'notes://of-a/text/more',
    'notes://of-a/text#x',
    'notes://of-a/%74ext',
    'notes://%ff/text',
    'notes:///text',
    'no uri at all',
    '',
    'javascript:alert(1)',
    `notes://${'a'.repeat(5000)}/text`,
    'notes://of-a/text\nX-Header: 1',
  ])('are not found by the URI %.40j', async (uri) => {
    const asked: string[] = [];
    const anyNote = templateResources({
      uriTemplate: 'notes://{id}/text',
      name: 'Note',
      read: ({ id = '' }) => [{ text: id }],
    });
    const spy: McpResources = { read: (given) => void asked.push(given) };
    const { error, result } = await read(askOf(endpoint([anyNote, spy])), uri);
    expect(result).toBeUndefined();
    expect(error?.code).toBeLessThan(-32000);
    for (const given of asked) expect(given.length).toBeLessThanOrEqual(2048);
  });

  it('are listed page by page, each once, all 10,000', async () => {
    const many = Array.from({ length: 10_000 }, (_, at) => ({ uri: `many://${at}`, name: `n${at}`, read: () => [] }));
    const ask = askOf(endpoint([listedResources(many.slice(0, 4990)), listedResources(many.slice(4990))]));
    const found: string[] = [];
    let [pages, cursor]: [number, string | undefined] = [0, undefined];
    do {
      const params: Record<string, unknown> = cursor === undefined ? {} : { cursor };
      const { result } = await answerOf(ask('resources/list', params));
      found.push(...result.resources.map(({ uri }: { uri: string }) => uri));
      cursor = result.nextCursor;
      pages++;
    } while (cursor !== undefined);
    expect(found).toEqual(many.map(({ uri }) => uri));
    expect(pages).toBe(50);
  });

  it('are listed from the start for no cursor of another caller, and for none that was made up', async () => {
    const many = Array.from({ length: 300 }, (_, at) => ({ uri: `many://${at}`, name: `n${at}`, read: () => [] }));
    const as = await tenants([listedResources(many)]);
    const { result } = await answerOf(as('a', askOf)('resources/list'));
    expect(result.nextCursor).toEqual(expect.any(String));
    for (const cursor of [result.nextCursor, 'made-up', btoa('{"q":"","a":"{}"}')]) {
      const { error } = await answerOf(as('b', askOf)('resources/list', { cursor }));
      expect(error).toMatchObject({ code: -32602, data: { reason: 'invalid_page_token' } });
    }
  });

  it('that are too long or fail are refused, without the text of what was thrown', async () => {
    const resource = (uri: string, work: () => string) => ({ uri, name: uri, read: () => [{ text: work() }] });
    const causes: unknown[] = [];
    const fail = (): never => {
      throw new Error('sk-SECRET at /srv');
    };
    const serve = mcpEndpoint({
      mcp: {
        resources: [listedResources([resource('x://long', () => 'x'.repeat(6_000_000)), resource('x://fails', fail)])],
      },
      runtime: mcpRuntime({ onError: (cause) => causes.push(cause) }),
    });
    const long = await read(askOf(serve), 'x://long');
    expect(long.error).toMatchObject({ code: -32603, data: { reason: 'content_too_large', uri: 'x://long' } });
    const failed = await read(askOf(serve), 'x://fails');
    expect(failed.error).toMatchObject({ code: -32603, data: { code: 'internal' } });
    expect(JSON.stringify(failed)).not.toMatch(/SECRET|srv/);
    expect(causes).toEqual([expect.objectContaining({ message: 'sk-SECRET at /srv' })]);
  });

  it('count against the rate limit of the agent', async () => {
    const runtime = mcpRuntime({ limits: { callsPerMinute: 1 } });
    const one = listedResources([{ uri: 'x://one', name: 'one', read: () => [{ text: '1' }] }]);
    const ask = askOf(mcpEndpoint({ runtime, mcp: { resources: [one] } }));
    expect((await read(ask, 'x://one')).error).toBeUndefined();
    expect((await read(ask, 'x://one')).error).toMatchObject({
      code: -32603,
      data: { code: 'rate_limited', retryable: true, retryAfterMs: expect.any(Number) },
    });
  });

  it('are read as the permission hook allows, and a refusal is audited', async () => {
    const storage = memoryStorage();
    const audit = createAudit({ storage });
    const sink = memorySink();
    const asked: unknown[] = [];
    const authorize: Authorize = (action, { tenant }, { type, id }, { input }) => {
      asked.push([action, tenant, type, id, input]);
      return id === 'x://closed' ? { decision: 'deny', reason: 'closed' } : { decision: 'allow' };
    };
    const open = (uri: string) => ({ uri, name: uri, read: () => [{ text: 'open' }] });
    const serve = mcpEndpoint({
      runtime: mcpRuntime({ authorize, audit, sinks: [sink.sink] }),
      mcp: { resources: [listedResources([open('x://open?q=typed'), open('x://closed')])] },
    });
    expect((await read(askOf(serve), 'x://open?q=typed')).result.contents[0].text).toBe('open');
    expect((await read(askOf(serve), 'x://closed')).error).toMatchObject({ data: { code: 'forbidden' } });
    expect(asked).toEqual([
      ['mcp.resource.read', 'development', 'mcp-resource', 'x://open', { uri: 'x://open?q=typed' }],
      ['mcp.resource.read', 'development', 'mcp-resource', 'x://closed', { uri: 'x://closed' }],
    ]);
    const ends = sink.events.filter(({ action, status }) => action === 'mcp.resource.read' && status !== 'pending');
    expect(ends).toMatchObject([
      { status: 'ok', target: { type: 'mcp-resource', id: 'x://open' }, actor: { type: 'user', id: 'developer' } },
      { status: 'denied', error: { code: 'forbidden' } },
    ]);
    expect(JSON.stringify(sink.events)).not.toContain('typed');
    const { items } = await audit.log('development').list();
    expect(items).toMatchObject([{ event: { action: 'mcp.resource.read', status: 'denied' } }]);
  });
});

describe('data sources as resources', () => {
  async function setup(authorize?: Authorize) {
    const storage = memoryStorage();
    const sources = [textSource({ id: 'handbook', storage }), textSource({ id: 'secret', storage })];
    const grounding = createGrounding({
      sources,
      descriptions: { handbook: 'How we work' },
      ...(authorize && { authorize }),
    });
    for (const tenant of ['a', 'b']) {
      const principal = createPrincipal({ via: 'http', tenant, subject: 's', agents: '*', scopes: [] });
      const items = [{ id: 'one', title: 'Leave', text: `Everyone of ${tenant} has thirty days of leave.` }];
      await grounding.remember({ dataSourceId: 'handbook', items }, { principal });
    }
    return await tenants([groundingResources(grounding)]);
  }

  const hook: Authorize = (_, __, { id }) => ({ decision: id === 'secret' ? 'deny' : 'allow', reason: 'no' });

  it('are listed where the caller may query them, and have the hits of its own tenant', async () => {
    const as = await setup(hook);
    const ask = as('a', askModern);
    const { result } = await answerOf(ask('resources/list'));
    const handbook = { uri: 'pinnace://source/handbook', name: 'handbook', description: 'How we work' };
    expect(result.resources).toMatchObject([handbook]);
    const readOf = (uri: string) => answerOf(ask('resources/read', { uri }));
    const facts = await readOf('pinnace://source/handbook');
    expect(JSON.parse(facts.result.contents[0].text)).toMatchObject({ id: 'handbook', items: 1 });
    const hits = await readOf('pinnace://source/handbook?q=days%20of%20leave');
    expect(hits.result.contents.map(({ text }: { text: string }) => text)).toEqual([
      'Leave\n\nEveryone of a has thirty days of leave.',
    ]);
    for (const uri of ['pinnace://source/secret', 'pinnace://source/secret?q=x', 'pinnace://source/none']) {
      expect((await readOf(uri)).error).toMatchObject({ code: -32602, data: { uri } });
    }
  });
});

describe('the nodes of a tree as resources', () => {
  const treeOf = (tenant: string) =>
    createTree({
      payloadTypes: { task: v.object({ name: v.string() }) },
      rows: [
        { nodeId: 'root', parentId: null, payloadType: 'task', payload: { name: `All of ${tenant}` } },
        ...Array.from({ length: 250 }, (_, at) => ({
          nodeId: `n${at}`,
          parentId: 'root',
          payloadType: 'task',
          payload: { name: `Task ${at}` },
        })),
      ],
    });
  const nameOf = ({ payload }: { payload: unknown }) => (payload as { name: string }).name;

  it('are those of the tenant', async () => {
    const trees = new Map(['a', 'b'].map((tenant) => [tenant, treeOf(tenant)]));
    const as = await tenants([treeResources({ tree: ({ tenant }) => trees.get(tenant), nameOf })]);
    const first = await answerOf(as('a', askModern)('resources/list'));
    const rest = await answerOf(as('a', askModern)('resources/list', { cursor: first.result.nextCursor }));
    const all = [...first.result.resources, ...rest.result.resources];
    expect(all).toHaveLength(251);
    expect(all[0]).toEqual({ uri: 'pinnace://tree/main/root', name: 'All of a', mimeType: 'application/json' });
    expect(rest.result.nextCursor).toBeUndefined();
    const uri = 'pinnace://tree/main/root';
    const { result } = await answerOf(as('b', askModern)('resources/read', { uri }));
    const node = JSON.parse(result.contents[0].text);
    expect(node).toMatchObject({ nodeId: 'root', payload: { name: 'All of b' }, childrenCount: 250 });
    expect(node.children).toHaveLength(250);
  });
});

describe.each(eras)('prompts for a client of %s', (_, askOf) => {
  const greet: McpPrompt = {
    name: 'greet',
    description: 'Greets someone',
    arguments: [
      {
        name: 'who',
        required: true,
        complete: ({ value, others }) =>
          Array.from({ length: 150 }, (__, at) => `${value}${others['tone'] ?? ''}${at}`),
      },
      { name: 'tone' },
    ],
    messages: ({ who, tone = 'kindly' }) => [
      { role: 'user', content: `Greet ${who} ${tone}` },
      { role: 'assistant', content: { type: 'image', data: 'AQID', mimeType: 'image/png' } },
    ],
  };
  const get = (ask: Ask, params: Record<string, unknown>) => answerOf(ask('prompts/get', params));

  it('are listed, and made with their arguments', async () => {
    const ask = askOf(endpoint([], [greet]));
    const { result } = await answerOf(ask('prompts/list'));
    const listed = {
      name: 'greet',
      description: 'Greets someone',
      arguments: [{ name: 'who', required: true }, { name: 'tone' }],
    };
    expect(result.prompts).toEqual([listed]);
    expect((await get(ask, { name: 'greet', arguments: { who: 'Ada' } })).result.messages).toEqual([
      { role: 'user', content: { type: 'text', text: 'Greet Ada kindly' } },
      { role: 'assistant', content: { type: 'image', data: 'AQID', mimeType: 'image/png' } },
    ]);
  });

  it.each<[string, Record<string, unknown>]>([
    ['an unknown prompt', { name: 'none' }],
    ['a missing argument', { name: 'greet' }],
    ['an argument that is not declared', { name: 'greet', arguments: { who: 'Ada', more: 'x' } }],
    ['an argument that is too long', { name: 'greet', arguments: { who: 'x'.repeat(20_000) } }],
    ['the name of a property of objects', { name: 'greet', arguments: { who: 'Ada', toString: 'x' } }],
  ])('are refused for %s', async (_what, params) => {
    const { error } = await get(askOf(endpoint([], [greet])), params);
    expect(error).toMatchObject({ code: -32602 });
    expect(error?.message.length).toBeLessThan(400);
  });

  it('complete their arguments, 100 values at most', async () => {
    const ask = askOf(endpoint([], [greet]));
    const complete = (name: string, value = '', ref: object = { type: 'ref/prompt', name: 'greet' }) =>
      answerOf(ask('completion/complete', { ref, argument: { name, value }, context: { arguments: { tone: '-' } } }));
    const { result } = await complete('who', 'A');
    expect(result.completion).toMatchObject({ total: 150, hasMore: true });
    expect(result.completion.values).toHaveLength(100);
    expect(result.completion.values[0]).toBe('A-0');
    expect((await complete('tone')).result.completion.values).toEqual([]);
    expect((await complete('none')).error).toMatchObject({ code: -32602, data: { reason: 'unknown_argument' } });
    expect((await complete('who', 'x'.repeat(2000))).error).toMatchObject({ data: { reason: 'value_too_long' } });
    expect((await complete('id', '', { type: 'ref/resource', uri: 'x://{id}' })).error).toMatchObject({ code: -32602 });
  });

  it('are those that the host gives to the caller, and may be denied', async () => {
    const authorize: Authorize = (action) => ({
      decision: action === 'mcp.prompt.get' ? 'deny' : 'allow',
      reason: 'not now',
    });
    const prompts = (
      { principal: { tenant } }: { principal: { tenant: string } },
    ) => [{ ...greet, name: `greet-${tenant}` }];
    const ask = askOf(mcpEndpoint({ runtime: mcpRuntime({ authorize }), mcp: { prompts } }));
    expect((await answerOf(ask('prompts/list'))).result.prompts).toMatchObject([{ name: 'greet-development' }]);
    const { error } = await get(ask, { name: 'greet-development', arguments: { who: 'Ada' } });
    expect(error).toMatchObject({ message: expect.stringContaining('not now'), data: { code: 'forbidden' } });
  });

  it('that fail say so without the text of what was thrown', async () => {
    const thrown = [new Error('sk-SECRET'), new PinnaceError('unavailable', 'The templates are away')];
    const broken = (error: Error): McpPrompt => ({ ...greet, arguments: [], messages: () => fail(error) });
    const fail = (error: Error): never => {
      throw error;
    };
    for (const error of thrown) {
      const answer = await get(askOf(endpoint([], [broken(error)])), { name: 'greet' });
      expect(answer.error?.code).toBe(-32603);
      expect(JSON.stringify(answer)).not.toContain('SECRET');
    }
  });
});

it('a host without resources and prompts declares none', async () => {
  const { result } = await answerOf(askModern(mcpEndpoint())('server/discover'));
  expect(Object.keys(result.capabilities).toSorted()).toEqual(['logging', 'tools']);
});

it('what may be cached is private, and says how long', async () => {
  const ask = askModern(endpoint([listedResources([{ uri: 'x://one', name: 'one', read: () => [{ text: '1' }] }])]));
  const methods = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];
  const answers = await Promise.all(methods.map((method) => answerOf(ask(method))));
  const read = await answerOf(ask('resources/read', { uri: 'x://one' }, { headers: { 'mcp-name': 'x://one' } }));
  for (const { result } of [...answers, read]) expect(result).toMatchObject({ ttlMs: 10_000, cacheScope: 'private' });
});
