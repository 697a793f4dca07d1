import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import {
  type AgentInput,
  createGrounding,
  createRegistry,
  createRuntime,
  type CreateRuntimeOptions,
  type LanguageModel,
  localPrincipal,
  type ObservedEvent,
  type ToolDefinitionInput,
  type UIMessageChunk,
} from '../../../src/index.ts';
import type { Egress } from '../../../src/contracts/egress.ts';
import { fetchUrlTool } from '../../../src/tools/index.ts';
import { redirect, scriptedEgress, text } from '../../fixtures/egress.ts';
import { fakeSource } from '../../fixtures/grounding-source.ts';
import { fakeMcp, pinnedServer } from '../../fixtures/mcp.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { lastData, readAll, runRequest, userMessage } from '../../fixtures/runtime.ts';

const me = localPrincipal();
const crm = 'https://crm.example.com';
const docs = 'https://docs.example.com';

const look = (origin: string, more: object = {}): ToolDefinitionInput => ({
  id: 'look',
  name: 'look',
  type: 'http',
  description: 'Looks',
  paramsSchema: { type: 'object', properties: { q: { type: 'string' } } },
  config: { origin, path: '/find', query: { q: '{q}' }, response: { as: 'text' }, ...more },
});
const handsOver: ToolDefinitionInput = {
  id: 'ask_expert',
  name: 'ask_expert',
  type: 'agent',
  description: 'Asks the expert',
  paramsSchema: { type: 'object' },
  config: { agentId: 'expert' },
};

/** A runtime of `helper` and `expert`, and what it sent and reported. */
function composed(
  { answers = [text('fine')], agents = {}, models, definitions = [look(crm)], ...options }:
    & Partial<Omit<CreateRuntimeOptions, 'agents' | 'models'>>
    & {
      readonly answers?: Parameters<typeof scriptedEgress>[0];
      readonly agents?: { helper?: Partial<AgentInput>; expert?: Partial<AgentInput> };
      readonly models: { helper: LanguageModel; expert?: LanguageModel };
      readonly definitions?: readonly ToolDefinitionInput[];
    },
) {
  const { egress: scripted, sent } = scriptedEgress(answers, { circuit: { failures: 100 } });
  const tenants: unknown[] = [];
  const egress: Egress = {
    fetch(request, terms) {
      tenants.push(terms.tenant);
      return scripted.fetch(request, terms);
    },
  };
  const events: ObservedEvent[] = [];
  const base = { name: 'Agent', entryTools: ['*', 'fetch_url'] };
  const catalog = staticCatalog({
    agents: [
      { ...base, id: 'helper', providerId: 'helper', ...agents.helper },
      { ...base, id: 'expert', providerId: 'expert', ...agents.expert },
    ],
    providers: ['helper', 'expert'].map((id) => ({ id, kind: 'custom' as const })),
    tools: definitions,
  });
  const runtime = createRuntime({
    catalog,
    models: { model: ({ id }) => (id === 'expert' && models.expert) || models.helper },
    storage: memoryStorage(),
    egress,
    sinks: [(event: ObservedEvent) => void events.push(event)],
    ...options,
    tools: [fetchUrlTool({ egress, origins: [crm, docs, 'https://*.example.org'] }), ...options.tools ?? []],
  });
  return { runtime, sent, tenants, events };
}

const calls = (tool: string, input: Record<string, unknown>) =>
  scriptedModel(callsTools({ tool, input }), says('ok')).model;
const errorsIn = (chunks: readonly UIMessageChunk[]) =>
  chunks.flatMap((chunk) => chunk.type === 'data-tool-error' ? [chunk.data as Record<string, unknown>] : []);
const denied = (origin?: string) => ({
  code: 'forbidden',
  details: { reason: 'egress_denied', ...(origin !== undefined && { origin }) },
});

it('names the tenant in requests of tools and of files by address, so that one is not in the way of others', async () => {
  const called = callsTools({ tool: 'fetch_url', input: { url: docs } }, { tool: 'look', input: { q: 'x' } });
  const { runtime, tenants } = composed({ models: { helper: scriptedModel(called, says('ok')).model } });
  const file = { type: 'file', mediaType: 'image/png', url: 'https://files.example.com/a.png' } as const;
  await readAll(await runtime.run(runRequest(), me));
  const messages = [{ id: 'm1', role: 'user' as const, parts: [file] }];
  await readAll(await runtime.run(runRequest({ chat: { id: 'chat-2', messages } }), me));
  expect(tenants).toEqual(['local', 'local', 'local']);
});

describe('the egress list of an agent', () => {
  it('holds for fetch_url: another origin of the composition is refused, with an event, and nothing is sent', async () => {
    const helper = calls('fetch_url', { url: `${crm}/x?secret=1` });
    const { runtime, sent, events } = composed({ models: { helper }, agents: { helper: { egress: [docs] } } });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    expect(errorsIn(chunks)).toMatchObject([denied(crm)]);
    expect(JSON.stringify(errorsIn(chunks))).not.toContain('secret');
    expect(sent).toEqual([]);
    await runtime.close();
    expect(events).toContainEqual(expect.objectContaining({
      action: 'tool.call',
      status: 'denied',
      error: expect.objectContaining({ code: 'forbidden' }),
    }));
  });

  it('holds for redirects of fetch_url over several hops', async () => {
    const helper = calls('fetch_url', { url: `${docs}/a` });
    const answers = [redirect(302, `${docs}/b`), redirect(307, 'https://a.example.org/c'), text('leaked')];
    const open = composed({ models: { helper }, answers });
    await readAll(await open.runtime.run(runRequest(), me));
    expect(open.sent.map(({ url }) => url)).toEqual([`${docs}/a`, `${docs}/b`, 'https://a.example.org/c']);
    const bound = composed({
      models: { helper: calls('fetch_url', { url: `${docs}/a` }) },
      answers,
      agents: { helper: { egress: [docs, 'https://example.org'] } },
    });
    expect(errorsIn(await readAll(await bound.runtime.run(runRequest(), me)))).toMatchObject([denied()]);
    expect(bound.sent.map(({ url }) => url)).toEqual([`${docs}/a`, `${docs}/b`]);
  });

  it('leaves out an HTTP tool with another origin, says so in the manifest, and refuses a call of it', async () => {
    const { runtime, sent } = composed({
      models: { helper: calls('look', { q: 'x' }) },
      agents: { helper: { egress: [docs, 'https://*.example.org'] } },
    });
    expect(await runtime.manifest('helper', me)).toMatchObject({
      egress: [docs, 'https://*.example.org'],
      tools: expect.arrayContaining([{ id: 'fetch_url' }, { id: 'look', excluded: 'egress_denied' }]),
    });
    expect(errorsIn(await readAll(await runtime.run(runRequest(), me)))).toMatchObject([denied()]);
    const { tools: own, call } = await runtime.tools('expert', me);
    const tool = own.find(({ definition: { id } }) => id === 'look')!;
    const at = { toolCallId: 'c', signal: new AbortController().signal, log: () => undefined };
    expect(await (await runtime.tools('helper', me)).call(tool, {}, at)).toMatchObject({
      ok: false,
      error: denied(crm),
    });
    expect(sent).toEqual([]);
    expect(await call(tool, {}, at)).toMatchObject({ ok: true });
  });

  it('holds for redirects of HTTP tools', async () => {
    const definitions = [look(crm, { redirectOrigins: [docs], retries: 0 })];
    const answers = [redirect(302, `${docs}/b`), text('leaked')];
    const helper = () => calls('look', { q: 'x' });
    const open = composed({ models: { helper: helper() }, answers, definitions });
    await readAll(await open.runtime.run(runRequest(), me));
    expect(open.sent).toHaveLength(2);
    const bound = composed({
      models: { helper: helper() },
      answers,
      definitions,
      agents: { helper: { egress: [crm] } },
    });
    expect(errorsIn(await readAll(await bound.runtime.run(runRequest(), me)))).toMatchObject([{ code: 'forbidden' }]);
    expect(bound.sent).toHaveLength(1);
  });

  it.each(['a call of its own', 'an empty list', 'an unrelated list'])(
    'binds an agent that it hands work to (%s)',
    async (how) => {
      const lists: Record<string, string[]> = {
        'a call of its own': [docs],
        'an empty list': [],
        'an unrelated list': ['https://other.example'],
      };
      const { runtime, sent } = composed({
        models: {
          helper: calls('ask_expert', { task: 'Send it' }),
          expert: calls('fetch_url', { url: `${crm}/?d=1` }),
        },
        definitions: [look(crm), handsOver],
        agents: { helper: { egress: lists[how]! }, expert: { egress: [crm, docs] } },
      });
      await readAll(await runtime.run(runRequest(), me));
      expect(sent).toEqual([]);
    },
  );

  it('leaves an agent that it hands work to what both may reach', async () => {
    const { runtime, sent } = composed({
      models: {
        helper: calls('ask_expert', { task: 'Read it' }),
        expert: calls('fetch_url', { url: `${docs}/page` }),
      },
      definitions: [handsOver],
      agents: { helper: { egress: [docs] }, expert: { egress: ['https://*.example.com'] } },
    });
    await readAll(await runtime.run(runRequest(), me));
    expect(sent.map(({ url }) => url)).toEqual([`${docs}/page`]);
  });

  it('binds the agents of a plan', async () => {
    const planner = { plan: { tasks: [{ key: 'a', goal: 'Send it', agentId: 'expert' }] } };
    const request = runRequest({ chat: { id: 'c', messages: [userMessage('Do it')] }, planner });
    const expert = () => calls('fetch_url', { url: `${crm}/?d=1` });
    const bound = composed({
      models: { helper: scriptedModel(says('ok')).model, expert: expert() },
      agents: { helper: { egress: [docs] } },
    });
    await readAll(await bound.runtime.run(request, me));
    expect(bound.sent).toEqual([]);
    const open = composed({ models: { helper: scriptedModel(says('ok')).model, expert: expert() } });
    await readAll(await open.runtime.run(request, me));
    expect(open.sent).toHaveLength(1);
  });

  it('holds for MCP servers: their tools are left out and nothing connects', async () => {
    const server = fakeMcp();
    const pinned = await pinnedServer();
    const catalog = staticCatalog({
      agents: ['https://docs.example.com', 'https://other.example.com'].map((origin, at) => ({
        id: `agent${at}`,
        name: 'Agent',
        providerId: 'default',
        mcp: { [pinned.id]: {} },
        egress: [origin],
      })),
      providers: [{ id: 'default', kind: 'custom' as const }],
      mcpServers: [pinned],
    });
    const origin = new URL(pinned.url).origin;
    expect(origin).toBe('https://docs.example.com');
    const runtime = createRuntime({
      catalog,
      models: { model: () => calls(`${pinned.alias}__search`, { query: 'x' }) },
      storage: memoryStorage(),
      mcp: server.connector,
    });
    const excluded = await runtime.manifest('agent1', me);
    expect(excluded.tools).toContainEqual({ id: `${pinned.alias}__search`, excluded: 'egress_denied' });
    const chunks = await readAll(await runtime.run(runRequest({ agentId: 'agent1' }), me));
    expect(errorsIn(chunks)).toMatchObject([denied()]);
    await expect(runtime.resources.read('agent1', { server: pinned.id, uri: 'docs://a' }, me)).rejects.toMatchObject(
      denied(origin),
    );
    expect(server.asked).toMatchObject({ connects: 0, calls: [] });
    await readAll(
      await runtime.run(runRequest({ agentId: 'agent0', chat: { id: 'c2', messages: [userMessage('x')] } }), me),
    );
    expect(server.asked.calls).toHaveLength(1);
  });

  it('holds for data sources that say where they send questions', async () => {
    const asked: string[] = [];
    const remote = (id: string, origins?: string[]) => ({
      ...fakeSource(id, []),
      ...(origins && { origins }),
      retrieve: () => (asked.push(id), Promise.resolve([])),
    });
    const grounding = createGrounding({ sources: [remote('near'), remote('far', ['https://search.example.net'])] });
    const helper = calls('retrieve', { query: 'x' });
    const { runtime } = composed({
      models: { helper },
      agents: { helper: { egress: [docs], dataSources: ['near', 'far'] } },
      grounding,
    });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    expect(asked).toEqual(['near']);
    expect(JSON.stringify(chunks)).toContain('search.example.net');
  });

  it('reaches the code of a tool, which has to obey it', async () => {
    const seen: unknown[] = [];
    const { definition, check } = fetchUrlTool({
      egress: { fetch: () => Promise.reject(new Error('no')) },
      origins: [],
    });
    const tool = {
      definition: { ...definition, id: 'own', name: 'own' },
      check,
      execute: (_: unknown, { origins }: { origins?: unknown }) => (seen.push(origins), 'ok'),
    };
    const { runtime } = composed({
      models: { helper: calls('own', { url: docs }) },
      tools: [tool],
      agents: { helper: { egress: [docs] } },
    });
    await readAll(await runtime.run(runRequest(), me));
    expect(seen).toEqual([[docs]]);
  });

  const ofStrangers = ['com', 'co.uk', 'github.io', 'workers.dev', 'a.example.com:8443'].map((host) =>
    `https://*.${host}`
  );
  const unlike = [
    'https://u@a.example.com',
    'https://a.example.com.',
    'https://a.example.com/x',
    'https://ä.example.com',
    'https://a.*.com',
  ];
  it.each(
    [['*'], ['api.example.com'], 'any', [7], ...[...ofStrangers, ...unlike].map((one) => [one])].map((egress) => ({
      egress,
    })),
  )(
    'is refused by the registry when it is $egress',
    async ({ egress }) => {
      const registry = createRegistry({ storage: memoryStorage() });
      await registry.providers.register({ id: 'main', kind: 'custom' }, me);
      const agent = { id: 'helper', name: 'Helper', providerId: 'main', egress } as unknown as AgentInput;
      await expect(registry.agents.register(agent, me)).rejects.toMatchObject({ code: 'invalid_argument' });
    },
  );
});

describe('fetchUrlTool', () => {
  it('without origins or any: true is refused', () => {
    const egress = { fetch: () => Promise.reject(new Error('no')) };
    for (const wrong of [{}, { any: false }, { any: 'yes' }, { any: true, origins: [docs] }]) {
      expect(() => fetchUrlTool({ egress, ...wrong } as unknown as Parameters<typeof fetchUrlTool>[0])).toThrow(
        expect.objectContaining({ code: 'invalid_argument', details: { reason: 'wrong_argument', field: 'origins' } }),
      );
    }
    for (const origins of ['any', ['*'], ['example.com']]) {
      expect(() => fetchUrlTool({ egress, origins } as unknown as Parameters<typeof fetchUrlTool>[0])).toThrow(
        expect.objectContaining({ details: { reason: 'invalid_egress' } }),
      );
    }
  });

  it.each([
    'https://evil.example.net/?d=1',
    'https://docs.example.com.evil.net/',
    'https://docs.example.com:8443/',
    'http://docs.example.com/',
    'https://docs.example.com./',
    'https://127.0.0.1/',
    'http://169.254.169.254/latest',
    'data:text/plain,x',
    'https://dοcs.example.com/',
    'https://docs.example.com。evil.net/',
    'https://example.org/',
    'https://a.example.org:8443/',
    'https://a.example.org./',
    'https://a.example.org.evil.net/',
    'https://aexample.org/',
    'https://evil.net/#.example.org',
    'https://evil.net\\.example.org/',
  ])('sends nothing for %s, which is in no list', async (url) => {
    const { runtime, sent } = composed({ models: { helper: calls('fetch_url', { url }) } });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    expect(errorsIn(chunks)).toMatchObject([denied()]);
    expect(sent).toEqual([]);
  });

  it('takes no credentials, whose host is another than it seems', async () => {
    for (
      const url of [
        'https://docs.example.com@evil.net/',
        'https://docs.example.com:x@evil.net/',
        'https://u@docs.example.com/',
      ]
    ) {
      const { runtime, sent } = composed({ models: { helper: calls('fetch_url', { url }) } });
      expect(errorsIn(await readAll(await runtime.run(runRequest(), me)))).toMatchObject([{
        code: 'invalid_argument',
      }]);
      expect(sent).toEqual([]);
    }
  });

  it.each([
    'https://evil.net/',
    'https://a.example.org:8443/',
    'https://a.example.org./',
    'http://a.example.org/',
    '//evil.net/',
  ])(
    'stops at the second redirect, to %s',
    async (location) => {
      const answers = [redirect(302, `${docs}/b`), redirect(307, location), text('leaked')];
      const { runtime, sent } = composed({ models: { helper: calls('fetch_url', { url: `${docs}/a` }) }, answers });
      expect(errorsIn(await readAll(await runtime.run(runRequest(), me)))).toMatchObject([{ code: 'forbidden' }]);
      expect(sent.map(({ url }) => url)).toEqual([`${docs}/a`, `${docs}/b`]);
    },
  );

  it('with any: true asks a person for each call, and may act', async () => {
    const { egress, sent } = scriptedEgress([text('fine')]);
    const tool = fetchUrlTool({ egress, any: true });
    expect(tool.definition).toMatchObject({ approval: 'always', annotations: { openWorldHint: true } });
    expect(tool.definition.annotations).not.toHaveProperty('readOnlyHint');
    const catalog = staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'default', entryTools: ['fetch_url'] }],
      providers: [{ id: 'default', kind: 'custom' }],
    });
    const model = calls('fetch_url', { url: 'https://evil.example.net/?d=1' });
    const runtime = createRuntime({ catalog, models: { model: () => model }, storage: memoryStorage(), tools: [tool] });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    expect(chunks.map(({ type }) => type)).toContain('tool-approval-request');
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'awaiting_approval' });
    expect(sent).toEqual([]);
  });

  it('with any: true keeps to the list of the agent, and a list makes no private host reachable', async () => {
    const { egress, sent } = scriptedEgress([text('fine')], {
      loopback: ['http://127.0.0.1:3001'],
      schemes: ['http', 'https'],
    });
    const tool = fetchUrlTool({ egress, any: true, approval: 'never' });
    const catalog = staticCatalog({
      agents: [{
        id: 'helper',
        name: 'Helper',
        providerId: 'default',
        entryTools: ['fetch_url'],
        egress: ['http://127.0.0.1:3001', docs],
      }],
      providers: [{ id: 'default', kind: 'custom' }],
    });
    const { model } = scriptedModel(
      callsTools(
        { tool: 'fetch_url', input: { url: 'http://127.0.0.1:3001/' }, id: 'a' },
        { tool: 'fetch_url', input: { url: `${crm}/` }, id: 'b' },
        { tool: 'fetch_url', input: { url: `${docs}/` }, id: 'c' },
      ),
      says('ok'),
    );
    const runtime = createRuntime({ catalog, models: { model: () => model }, storage: memoryStorage(), tools: [tool] });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    expect(errorsIn(chunks)).toHaveLength(2);
    expect(sent.map(({ url }) => url)).toEqual([`${docs}/`]);
  });
});
