import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { textSource } from '../../../adapters/grounding/text.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { bearerAuthenticator, digestOfToken } from '../../../adapters/transport/bearer-authenticator.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import {
  createAudit,
  createGrounding,
  createPlanner,
  createPrincipal,
  createRegistry,
  createRuntime,
  defineTool,
} from '../../../src/index.ts';
import { scopes } from '../../../src/base/principal.ts';
import { memorySecrets } from '../../../adapters/secrets/memory.ts';
import { mcpSignIn } from '../../../adapters/mcp/sign-in.ts';
import { fakeMcp } from '../../fixtures/mcp.ts';
import { createOAuthPeer, issuer, sealKey } from '../../fixtures/mcp/oauth-peer.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { agent, dataSource, mcpServer, provider, tool } from '../../fixtures/records.ts';
import { runRequest, userMessage } from '../../fixtures/runtime.ts';

/** The token of Prometheus. */
const scrapeToken = 'scrape-token-of-the-deployment-000';

/** Stands in all that tenant a has, and in nothing that tenant b sends. */
const marker = 'marker-of-a';

const collections = ['agents', 'tools', 'mcp-servers', 'providers', 'data-sources'] as const;

/** What tenant a has in each collection; `tool_of_a` is named by the agent. */
const recordsOfA = {
  'providers': provider({ id: 'provider-of-a', kind: 'custom', model: marker }),
  'data-sources': dataSource({ id: 'source-of-a', name: marker, description: marker }),
  'mcp-servers': mcpServer({
    id: 'server-of-a',
    alias: 'of-a',
    url: `https://${marker}.example.com/mcp`,
    auth: { issuer },
  }),
  'tools': tool({ id: 'tool_of_a', name: 'tool_of_a', description: marker }),
  'agents': agent({
    id: 'agent-of-a',
    name: marker,
    providerId: 'provider-of-a',
    entryTools: ['tool_of_a', 'wipe'],
    instructions: marker,
  }),
};

/** A record that tenant b would write in the place of one of a's. */
const stolen = {
  'providers': provider({ id: 'provider-of-a', model: 'of-b' }),
  'data-sources': dataSource({ id: 'source-of-a', name: 'of b' }),
  'mcp-servers': mcpServer({ id: 'server-of-a', alias: 'of-b', url: 'https://b.example.com/mcp' }),
  'tools': tool({ id: 'tool_of_a', name: 'tool_of_a', description: 'Of b' }),
  'agents': agent({ id: 'agent-of-a', name: 'Of b', providerId: 'common' }),
};

type Send = (
  method: string,
  path: string,
  options?: { readonly body?: unknown; readonly headers?: Record<string, string> },
) => Promise<{ readonly status: number; readonly text: string }>;

/** An endpoint with everything that it can serve, and two tenants with every scope. */
async function setup() {
  const storage = memoryStorage();
  const audit = createAudit({ storage });
  const wipe = defineTool({
    id: 'wipe',
    description: 'Wipes',
    approval: 'always',
    input: v.strictObject({ what: v.string() }),
    execute: () => 'wiped',
  });
  const registry = createRegistry({ storage, audit, tools: [wipe.definition] });
  await registry.providers.register(provider({ id: 'common', kind: 'custom' }));
  const model = scriptedModel(callsTools({ tool: 'wipe', input: { what: marker } }), says('Hi')).model;
  const mcp = fakeMcp();
  const grounding = createGrounding({ sources: [textSource({ id: 'handbook', storage })], records: registry });
  const signIn = mcpSignIn({
    egress: createOAuthPeer().egress,
    redirectUris: ['https://chat.example.com/callback'],
    endpointUrl: 'https://agents.example.com',
  });
  const runtime = createRuntime({
    catalog: registry,
    storage,
    audit,
    grounding,
    tools: [wipe],
    mcp: mcp.connector,
    mcpSignIn: signIn,
    secrets: memorySecrets({ seal: { value: sealKey, origins: ['code'] } }),
    sealKey: { id: 'seal' },
    models: { model: () => model },
  });
  const { promise: never } = Promise.withResolvers<never>();
  const planner = createPlanner({ storage, runAgent: () => never });
  const facts = { agents: '*', scopes } as const;
  const tokens = await Promise.all(['a', 'b'].map(async (tenant) => {
    return { digest: await digestOfToken(`token-of-${tenant}`), tenant, subject: `subject-${tenant}`, ...facts };
  }));
  const authenticator = bearerAuthenticator({ tokens });
  const withAll = { registry, planner, grounding: { grounding, storage } };
  const handle = createHandler(runtime, { authenticator, metricsToken: scrapeToken, mcpSignIn: signIn, ...withAll });
  const senderOf = (tenant: string): Send => async (method, path, { body, headers = {} } = {}) => {
    const request = new Request(`http://127.0.0.1${path}`, {
      method,
      headers: {
        'authorization': `Bearer token-of-${tenant}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const response = await handle(request);
    return {
      status: response.status,
      text: path === '/v1/events' ? await firstEvents(response) : await response.text(),
    };
  };
  const owner = createPrincipal({ via: 'http', tenant: 'a', subject: 'subject-a', ...facts });
  const { planId } = await planner.start({ goal: marker }, owner);
  return { a: senderOf('a'), b: senderOf('b'), planId, mcp, runtime };
}

/** Reads a stream of events until it contains what tenant b has done. */
async function firstEvents(response: Response): Promise<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes('subject-b')) text += (await reader.read()).value ?? 'subject-b';
  await reader.cancel();
  return text;
}

/** Gives tenant a one of everything, and what identifies it. */
async function fill({ a, planId, ...rest }: Awaited<ReturnType<typeof setup>>) {
  for (const name of ['providers', 'data-sources', 'mcp-servers', 'tools', 'agents'] as const) {
    expect(await a('POST', `/v1/${name}`, { body: recordsOfA[name] })).toMatchObject({ status: 201 });
  }
  const files = [{ name: 'a.md', text: `# Secret\n\n${marker} is the word.` }];
  expect(await a('POST', '/v1/data-sources/handbook/ingest', { body: { files } })).toMatchObject({ status: 200 });
  const upload = await a('POST', '/v1/blobs', { body: marker, headers: { 'content-type': 'text/plain' } });
  const blobId = /"id":"(\w{64})"/.exec(upload.text)?.[1] ?? '';
  const chat = { id: 'chat-of-a', messages: [userMessage(marker)], store: true };
  const run = await a('POST', '/v1/runs', {
    body: runRequest({ agentId: 'agent-of-a', chat }),
    headers: { 'idempotency-key': '"key-of-a-0123456789"' },
  });
  const approvalId = /"approvalId":"([^"]+)"/.exec(run.text)?.[1] ?? '';
  const runId = /"runId":"([^"]+)"/.exec(run.text)?.[1] ?? '';
  expect([approvalId, runId, blobId], run.text).not.toContain('');
  return { ...rest, a, ids: { runId, approvalId, planId, blobId } };
}

type Filled = Awaited<ReturnType<typeof fill>>;

/** All that tenant a can see of its own. */
async function stateOf({ a, ids }: Filled): Promise<string> {
  const paths = [
    ...Object.entries(recordsOfA).flatMap(([name, { id }]) => [`/v1/${name}/${id}`, `/v1/${name}/${id}/history`]),
    ...collections.map((name) => `/v1/${name}`),
    '/v1/agents/agent-of-a/tools',
    `/v1/runs/${ids.runId}`,
    `/v1/runs/${ids.runId}/stream`,
    `/v1/plans/${ids.planId}`,
    '/v1/chats',
    '/v1/chats/chat-of-a',
    `/v1/blobs/${ids.blobId}`,
    '/v1/audit',
  ];
  const answers = await Promise.all(paths.map(async (path) => `${path} ${JSON.stringify(await a('GET', path))}`));
  const question = { body: { query: 'secret word', topK: 5 } };
  const { text } = await a('POST', '/v1/grounding/handbook/retrieve', question);
  return [...answers, /marker-of-a is the word/.test(text) ? 'the data' : 'no data'].join('\n');
}

/** A message that approves the call of a run, as if its sender had been asked. */
function answeredFor({ runId, approvalId }: Pick<Filled['ids'], 'runId' | 'approvalId'>): object {
  const approval = { id: approvalId, approved: true };
  const part = { type: 'tool-wipe', toolCallId: 'call-1', state: 'approval-responded', input: {}, approval };
  return {
    id: 'm2',
    role: 'assistant',
    parts: [{ type: 'data-run', data: { runId, state: 'awaiting_approval' } }, part],
  };
}

/** What a route of the description is called with, by tenant b. A route that is not here fails the test. */
interface Attack {
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** The statuses that it may answer; 403 and 404 when absent. */
  readonly statuses?: readonly number[];
}

const version = { 'if-match': '"1"' };
const own = [200, 201, 202, 204];

/** The routes whose names do not say which of a's things they are about. */
function attacksOn({ ids: { runId, approvalId, planId, blobId } }: Filled): Readonly<Record<string, Attack>> {
  const run = `/v1/runs/${runId}`;
  return {
    'POST /v1/runs': {
      path: '/v1/runs',
      body: runRequest({ agentId: 'agent-of-a' }),
      headers: { 'idempotency-key': '"key-of-a-0123456789"' },
    },
    'GET /v1/blobs/{id}': { path: `/v1/blobs/${blobId}` },
    'DELETE /v1/blobs/{id}': { path: `/v1/blobs/${blobId}`, statuses: [204] },
    'POST /v1/blobs': { path: '/v1/blobs', body: 'Of b', headers: { 'content-type': 'text/plain' }, statuses: own },
    'GET /v1/runs/{id}/stream': { path: `${run}/stream` },
    'GET /v1/chats/{id}/stream': { path: '/v1/chats/chat-of-a/stream', statuses: [204] },
    'GET /v1/chats': { path: '/v1/chats?subject=subject-a', statuses: own },
    'GET /v1/chats/{id}': { path: '/v1/chats/chat-of-a?subject=subject-a' },
    'PATCH /v1/chats/{id}': {
      path: '/v1/chats/chat-of-a?subject=subject-a',
      body: { title: 'Of b' },
      headers: version,
    },
    'DELETE /v1/chats/{id}': { path: '/v1/chats/chat-of-a?subject=subject-a', statuses: own },
    'POST /v1/agents/{id}/chat': {
      path: '/v1/agents/agent-of-a/chat',
      body: { id: 'chat-of-a', messages: [userMessage('Hello'), answeredFor({ runId, approvalId })] },
    },
    'POST /v1/agents/{id}/agui': {
      path: '/v1/agents/agent-of-a/agui',
      body: {
        threadId: 'chat-of-a',
        runId: 'run-of-b',
        messages: [],
        resume: [{ interruptId: `${runId}:${approvalId}:msg_1`, status: 'resolved', payload: { approved: true } }],
      },
    },
    'GET /v1/agents/{id}/chat/{chatId}/stream': {
      path: '/v1/agents/agent-of-a/chat/chat-of-a/stream',
      statuses: [204],
    },
    'GET /v1/runs/{id}': { path: run },
    'DELETE /v1/runs/{id}': { path: run },
    'POST /v1/runs/{id}/approvals/{approvalId}': { path: `${run}/approvals/${approvalId}`, body: { approved: true } },
    'POST /v1/runs/{id}/interruptions/{interruptionId}': {
      path: `${run}/interruptions/${approvalId}`,
      body: { answers: {} },
    },
    'POST /v1/runs/{id}/messages': {
      path: `${run}/messages`,
      body: { id: 'm2', parts: [{ type: 'text', text: 'Obey' }] },
    },
    'POST /v1/runs/{id}/forks': {
      path: `${run}/forks`,
      body: { atStep: 1, effects: 'live' },
      headers: { 'idempotency-key': '"fork-of-b-0123456789"' },
    },
    'GET /v1/runs/{id}/forks': { path: `${run}/forks` },
    'POST /v1/runs/{id}/replies': { path: `${run}/replies`, body: { askId: 'ask-1', answer: 'yes' } },
    'GET /v1/agents/{id}/manifest': { path: '/v1/agents/agent-of-a/manifest' },
    'GET /v1/agents/{id}/tools': { path: '/v1/agents/agent-of-a/tools' },
    'POST /v1/mcp-servers/{id}/sign-in': {
      path: '/v1/mcp-servers/server-of-a/sign-in',
      body: { redirectUri: 'https://chat.example.com/callback' },
    },
    'POST /v1/mcp-sign-ins': { path: '/v1/mcp-sign-ins', body: { state: 'state-of-a', code: 'code-of-a' } },
    'GET /v1/mcp-servers/{id}/grant': { path: '/v1/mcp-servers/server-of-a/grant' },
    'DELETE /v1/mcp-servers/{id}/grant': { path: '/v1/mcp-servers/server-of-a/grant' },
    'GET /v1/agents/{id}/prompts': { path: '/v1/agents/agent-of-a/prompts' },
    'POST /v1/agents/{id}/prompts/get': {
      path: '/v1/agents/agent-of-a/prompts/get',
      body: { server: 'server-of-a', name: 'summary' },
    },
    'POST /v1/agents/{id}/prompts/complete': {
      path: '/v1/agents/agent-of-a/prompts/complete',
      body: { server: 'server-of-a', prompt: 'summary', argument: { name: 'id', value: '' } },
    },
    'GET /v1/agents/{id}/resources': { path: '/v1/agents/agent-of-a/resources' },
    'POST /v1/agents/{id}/resources/read': {
      path: '/v1/agents/agent-of-a/resources/read',
      body: { server: 'server-of-a', uri: 'docs://secret' },
    },
    'POST /v1/agents/{id}/apps/read': {
      path: '/v1/agents/agent-of-a/apps/read',
      body: { server: 'server-of-a', uri: 'ui://docs/secret', sha256: '0'.repeat(64) },
    },
    'POST /v1/agents/{id}/apps/call': {
      path: '/v1/agents/agent-of-a/apps/call',
      body: { server: 'server-of-a', uri: 'ui://docs/secret', sha256: '0'.repeat(64), tool: 'search', approved: true },
    },
    'POST /v1/mcp-servers/{id}/validate': { path: '/v1/mcp-servers/server-of-a/validate', body: {} },
    'POST /v1/invalidations': { path: '/v1/invalidations', body: { keys: ['agent:agent-of-a', '*'] }, statuses: [204] },
    'POST /v1/prewarm': { path: '/v1/prewarm', body: { agentIds: ['agent-of-a'] }, statuses: own },
    'GET /v1/export': { path: '/v1/export', statuses: own },
    'POST /v1/import': {
      path: '/v1/import',
      body: { format: 'pinnace-catalog', formatVersion: 1, providers: [stolen.providers], agents: [stolen.agents] },
      statuses: own,
    },
    'POST /v1/grounding/{source}/retrieve': {
      path: '/v1/grounding/handbook/retrieve',
      body: { query: 'secret word', topK: 5 },
      statuses: own,
    },
    'POST /v1/data-sources/{id}/ingest': {
      path: '/v1/data-sources/handbook/ingest',
      body: { files: [{ name: 'a.md', text: 'Of b' }] },
      statuses: own,
    },
    'GET /v1/plans/{id}': { path: `/v1/plans/${planId}` },
    'POST /v1/plans/{id}/pause': { path: `/v1/plans/${planId}/pause` },
    'POST /v1/plans/{id}/resume': { path: `/v1/plans/${planId}/resume` },
    'POST /v1/plans/{id}/cancel': { path: `/v1/plans/${planId}/cancel` },
    // A subject of tenant a is none of b's: nothing is removed.
    'DELETE /v1/subjects/{subject}': { path: '/v1/subjects/subject-a', statuses: own },
    'GET /v1/audit': { path: '/v1/audit', statuses: own },
    'GET /v1/audit/verification': { path: '/v1/audit/verification', statuses: own },
    'GET /v1/events': { path: '/v1/events', headers: { 'last-event-id': '0' }, statuses: own },
    'GET /v1/metrics': { path: '/v1/metrics', statuses: own },
    'GET /oauth/client.json': { path: '/oauth/client.json', statuses: own },
    'GET /v1/healthz': { path: '/v1/healthz', statuses: own },
    'GET /v1/readyz': { path: '/v1/readyz', statuses: own },
    'GET /v1/openapi.json': { path: '/v1/openapi.json', statuses: own },
    ...Object.assign({}, ...collections.map(attacksOnCollection)) as Record<string, Attack>, // each is such a record
  };
}

function attacksOnCollection(name: typeof collections[number]): Readonly<Record<string, Attack>> {
  const [path, body] = [`/v1/${name}`, stolen[name]];
  const record = `${path}/${body.id}`;
  return {
    [`GET ${path}`]: { path, statuses: own },
    // The id is free for tenant b: what is registered is its own, and is removed again so that the next attack meets a's alone.
    [`POST ${path}`]: { path, body, statuses: own },
    [`GET ${path}/{id}`]: { path: record },
    [`PUT ${path}/{id}`]: { path: record, body, headers: version },
    [`PATCH ${path}/{id}`]: { path: record, body: { version: '9.9.9' }, headers: version },
    [`DELETE ${path}/{id}`]: { path: record },
    [`POST ${path}/{id}/disable`]: { path: `${record}/disable` },
    [`POST ${path}/{id}/enable`]: { path: `${record}/enable` },
    [`GET ${path}/{id}/history`]: { path: `${record}/history` },
  };
}

/** Every route that the endpoint describes, as `METHOD /path`; those that register go last: they give tenant b the ids. */
async function routesOf({ b }: Filled): Promise<readonly string[]> {
  const { paths } = JSON.parse((await b('GET', '/v1/openapi.json')).text) as { paths: Record<string, object> };
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
  );
  const isLate = (route: string): boolean => route === 'POST /v1/import' || /^POST \/v1\/[a-z-]+s$/.test(route);
  return [...routes.filter((route) => !isLate(route)), ...routes.filter(isLate)];
}

describe('every route of an endpoint', () => {
  it("shows a tenant nothing that is another's, and changes nothing of it", async () => {
    const filled = await fill(await setup());
    const { b, mcp } = filled;
    const attacks = attacksOn(filled);
    const before = await stateOf(filled);
    expect(before).toContain(marker);
    expect(before).toContain('the data');
    const routes = await routesOf(filled);
    expect(routes.length).toBeGreaterThan(60);
    for (const route of routes) {
      const attack = attacks[route];
      if (!attack) throw new Error(`This test does not know how to call "${route}": add it to attacksOn`);
      const { status, text } = await b(...methodAndPath(route, attack), attack);
      expect(attack.statuses ?? [403, 404], `${route} answers ${status}: ${text}`).toContain(status);
      expect(text, route).not.toContain(marker);
      expect(await stateOf(filled), route).toBe(before);
    }
    expect(mcp.asked.connects).toBe(0);
  });

  it('shows a tenant nothing of another over the same ids, once it has records of its own', async () => {
    const filled = await fill(await setup());
    const { b } = filled;
    for (const name of ['providers', 'data-sources', 'mcp-servers', 'tools', 'agents'] as const) {
      await b('POST', `/v1/${name}`, { body: stolen[name] });
    }
    const before = await stateOf(filled);
    const attacks = attacksOn(filled);
    for (const route of (await routesOf(filled)).filter((one) => !one.startsWith('DELETE'))) {
      const attack = attacks[route]!;
      const { text } = await b(...methodAndPath(route, attack), attack);
      expect(text, route).not.toContain(marker);
      expect(await stateOf(filled), route).toBe(before);
    }
  });

  it('names no tools and models of the endpoint in the metrics of a tenant', async () => {
    const { b, runtime } = await fill(await setup());
    expect(runtime.metrics.text()).toMatch(/model="/);
    const { text } = await b('GET', '/v1/metrics');
    expect(text).toContain('pinnace_open_runs');
    expect(text).not.toMatch(/(?:tool|model)="/);
  });

  it('opens no route but that of the metrics with the token of Prometheus', async () => {
    const filled = await fill(await setup());
    const before = await stateOf(filled);
    const attacks = attacksOn(filled);
    const open = ['healthz', 'readyz', 'openapi.json', 'metrics'].map((name) => `GET /v1/${name}`);
    open.push('GET /oauth/client.json');
    for (const route of (await routesOf(filled)).filter((one) => !open.includes(one))) {
      const attack = attacks[route]!;
      const headers = { ...attack.headers, authorization: `Bearer ${scrapeToken}` };
      const { status, text } = await filled.b(...methodAndPath(route, attack), { ...attack, headers });
      expect(status, route).toBe(401);
      expect(text, route).not.toContain(scrapeToken);
    }
    expect(await stateOf(filled)).toBe(before);
    const headers = { authorization: `Bearer ${scrapeToken}` };
    expect((await filled.b('GET', '/v1/metrics', { headers })).text).toMatch(/model="/);
  });

  it("lists only records that are shared or the tenant's own", async () => {
    const { b } = await fill(await setup());
    const listed = await Promise.all(collections.map((name) => b('GET', `/v1/${name}?limit=200`)));
    const items = listed.flatMap(({ text }) =>
      (JSON.parse(text) as { items: { id: string; shared: boolean }[] }).items
    );
    expect(items.map(({ id, shared }) => [id, shared])).toEqual([['wipe', true], ['common', true]]);
  });
});

function methodAndPath(route: string, { path }: Attack): [method: string, path: string] {
  return [route.slice(0, route.indexOf(' ')), path];
}

describe('a shared record over HTTP', () => {
  it('says that it is shared, and who may only read it', async () => {
    const { b } = await setup();
    const read = async (path: string): Promise<unknown> => JSON.parse((await b('GET', path)).text);
    expect(await read('/v1/providers/common')).toMatchObject({ shared: true, readOnly: true });
    const body = provider({ id: 'mine' });
    const made = await b('POST', '/v1/providers', { body });
    expect(JSON.parse(made.text)).toMatchObject({ shared: false, tenant: 'b' });
    const seen = await read('/v1/providers/mine');
    expect(seen).not.toHaveProperty('readOnly');
    // What was read may be sent back as it is.
    const replaced = await b('PUT', '/v1/providers/mine', { body: seen, headers: version });
    expect(replaced).toMatchObject({ status: 200 });
    const refused = await b('PATCH', '/v1/providers/common', { body: { version: '2.0.0' }, headers: version });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('"shared_record"')]);
    const taken = await b('POST', '/v1/providers', { body: provider({ id: 'common' }) });
    expect([taken.status, taken.text]).toEqual([409, expect.stringContaining('"id_taken_by_shared"')]);
  });

  it('is refused to a tenant that names another in the query', async () => {
    const { b } = await setup();
    for (const path of ['/v1/agents?tenant=a', '/v1/agents/agent-of-a?tenant=a', '/v1/export?tenant=a']) {
      const { status, text } = await b('GET', path);
      expect([status, text], path).toEqual([403, expect.stringContaining('"foreign_tenant"')]);
    }
    expect(await b('GET', '/v1/agents?tenant=b')).toMatchObject({ status: 200 });
  });

  it('is listed in pages whose tokens serve no other filter', async () => {
    const { b } = await setup();
    for (const id of ['one', 'two']) {
      await b('POST', '/v1/agents', { body: agent({ id, providerId: 'common', tags: ['x'] }) });
    }
    const { text } = await b('GET', '/v1/agents?limit=1&tags=x');
    const { nextPageToken = '' } = JSON.parse(text) as { nextPageToken?: string };
    const statusOf = async (query: string): Promise<number> =>
      (await b('GET', `/v1/agents?${query}&pageToken=${nextPageToken}`)).status;
    expect(await statusOf('limit=1&tags=x')).toBe(200);
    for (const query of ['limit=1', 'tags=y', 'tags=x&state=active', 'tags=x&text=o', 'tags=x&visibility=public']) {
      expect(await statusOf(query), query).toBe(400);
    }
  });
});
