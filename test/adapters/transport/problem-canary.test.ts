import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { textSource } from '../../../adapters/grounding/text.ts';
import { memorySecrets } from '../../../adapters/secrets/memory.ts';
import { memorySink } from '../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { developmentAuthenticator } from '../../../adapters/transport/development-authenticator.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import {
  type Authenticator,
  createGrounding,
  createPrincipal,
  createRegistry,
  createRuntime,
  type CreateRuntimeOptions,
  PinnaceError,
} from '../../../src/index.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { piecesOf } from '../../fixtures/hostile/planted.ts';
import { runRequest } from '../../fixtures/runtime.ts';

const canary = '9f0aZq77Kd0Lm2xY4bNt81cW';
const pieces = piecesOf(canary);
const token = 'a-token-for-tests-only';

interface Endpoint {
  /** Gives the status, everything that came out, and the body alone. */
  readonly ask: (request: Request) => Promise<{ status: number; out: string; problem: string }>;
}

function endpoint(
  { authenticator = developmentAuthenticator({ token }), storage = memoryStorage(), ...options }:
    & Partial<CreateRuntimeOptions>
    & { authenticator?: Authenticator } = {},
): Endpoint {
  const { sink, events } = memorySink();
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'default', entryTools: ['*'] }],
      providers: [{ id: 'default', kind: 'custom', secret: { id: 'key' } }],
    }),
    models: { model: () => scriptedModel(says('ok')).model },
    secrets: memorySecrets({ key: canary }, { unboundSecrets: 'allow' }),
    sinks: [sink],
    ...options,
    storage,
  });
  const registry = createRegistry({ storage, sinks: [sink] });
  const grounding = createGrounding({ sources: [textSource({ id: 'notes', storage })] });
  const handle = createHandler(runtime, {
    authenticator,
    registry,
    grounding: { grounding, storage },
    planner: runtime.planner,
  });
  return {
    async ask(request) {
      const response = await handle(request);
      const isEndless = response.ok && endless.includes(new URL(request.url).pathname);
      const problem = isEndless ? await beginningOf(response) : await response.text();
      const out = [
        problem,
        ...[...response.headers].flat(),
        JSON.stringify(events),
        runtime.metrics.text(),
      ];
      return { status: response.status, out: out.join('\n'), problem };
    },
  };
}

const endless = ['/v1/events', '/v1/inbox/stream'];

/** Reads what has come so far of an answer that never ends, and leaves. */
async function beginningOf({ body }: Response): Promise<string> {
  const reader = body!.getReader(); // an answer that was streamed has one
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}

/** Every method of every path, as the endpoint describes itself. */
const described = await endpoint().ask(new Request('http://127.0.0.1/v1/openapi.json'));
const { paths } = JSON.parse(described.out.split('\n')[0] ?? '') as { paths: Record<string, object> };
const routes = Object.entries(paths)
  .flatMap(([path, methods]) => Object.keys(methods).map((method) => ({ path, method: method.toUpperCase() })));

/** They read nothing of a request. */
const open = ['/v1/healthz', '/v1/readyz', '/v1/openapi.json'];

interface Given {
  readonly id?: string;
  readonly query?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

const bodies: Readonly<Record<string, string>> = {
  'no JSON': `{"agentId": ${canary}`,
  'another type': JSON.stringify(canary),
  'a wrong value': JSON.stringify({ agentId: canary, approved: canary, keys: canary, agentIds: canary, chat: canary }),
  'an unknown field': JSON.stringify({
    ...runRequest(),
    approved: true,
    keys: ['*'],
    agentIds: ['helper'],
    extra: canary,
  }),
  'an unknown name': JSON.stringify({
    ...runRequest(),
    agentId: canary,
    agentIds: [canary],
    keys: [canary],
    decision: canary,
  }),
  'a bad message': JSON.stringify(
    runRequest({ chat: { id: canary, messages: [{ id: 'm', role: canary, parts: [] } as never] } }),
  ),
  'a bad part': JSON.stringify({
    agentId: 'helper',
    chat: { id: 'c', messages: [{ id: 'm', role: 'user', parts: [{ type: 'file', mediaType: 'a/b', url: canary }] }] },
  }),
};

/** Where an enemy may write a secret into a request. */
const wrongs: Readonly<Record<string, Given>> = {
  'its path': { id: canary },
  'its query': { query: `?after=${canary}&pageToken=${canary}&limit=${canary}` },
  'its token': { headers: { authorization: `Bearer ${canary}` } },
  'its credential': { headers: { authorization: `GC-Session ${canary}` } },
  'its key': { headers: { 'idempotency-key': canary } },
  'its cursor': { headers: { 'last-event-id': `${canary}:1` } },
  'its type': { headers: { 'content-type': canary } },
  'its encoding': { headers: { 'content-encoding': canary } },
  'its signature': { headers: { 'signature': canary, 'signature-input': canary, 'traceparent': canary } },
  ...Object.fromEntries(Object.entries(bodies).map(([what, body]) => [`its body: ${what}`, { body }])),
};

/** What is wrong in ways that hold no text of the caller's. */
const moreWrongs: readonly Given[] = [
  { id: 'nobody' },
  { query: '?limit=0' },
  { query: '?limit=1000000' },
  { query: '?extra=1' },
  { query: '?dryRun=maybe' },
  { query: '?pageToken=eyJxIjoiYSIsImEiOiJiIn0' },
  { headers: { 'if-match': '*' } },
  { headers: { 'if-match': '"1"' }, body: JSON.stringify({ id: 'other' }) },
  { body: '' },
];

function requestOf(
  { path, method }: { readonly path: string; readonly method: string },
  { id = 'helper', query = '', headers = {}, body = JSON.stringify(runRequest()) }: Given,
): Request {
  const url = `http://127.0.0.1${path.replaceAll(/\{\w+\}/g, id)}${query}`;
  const common = {
    'authorization': `Bearer ${token}`,
    'content-type': 'application/json',
    'idempotency-key': `"${crypto.randomUUID()}"`,
  };
  return new Request(url, {
    method,
    headers: { ...common, ...headers },
    body: method === 'GET' || method === 'DELETE' ? null : body,
  });
}

describe('a problem answer', () => {
  it.each(routes)('of $method $path repeats nothing of the request', async (route) => {
    const { ask } = endpoint();
    const statuses: number[] = [];
    for (const [where, given] of Object.entries(wrongs)) {
      const { status, out } = await ask(requestOf(route, given));
      statuses.push(status);
      if (status >= 400) expect(pieces.filter((piece) => out.includes(piece)), where).toEqual([]);
      expect(status, where).toBeLessThan(500);
    }
    expect(Math.max(...statuses) >= 400).toBe(!open.includes(route.path)); // there were problems at all
  });

  it.each(routes)('of $method $path names its cause', async (route) => {
    const authenticator: Authenticator = {
      authenticate: async () => createPrincipal({ via: 'http', tenant: 't', subject: 's', agents: [], scopes: [] }),
    };
    const [{ ask }, withoutScopes] = [endpoint(), endpoint({ authenticator })];
    const given = [...Object.values(wrongs), ...moreWrongs].map((one) => requestOf(route, one));
    const answers = [
      ...await Promise.all(given.map(ask)),
      await withoutScopes.ask(requestOf(route, {})),
      await ask(requestOf({ ...route, method: 'PROPFIND' }, {})),
      await ask(requestOf({ ...route, path: `${route.path}/more/than/that` }, {})),
    ];
    const problems = answers.filter(({ status }) => status >= 400).map(({ problem }) => problem);
    expect(problems.filter((problem) => !/"details":\{.*"reason":"[a-z_]+"/.test(problem))).toEqual([]);
    expect(problems.length).toBeGreaterThan(0);
  });

  it.each([['GET', `/v1/${canary}`], ['GET', `/${canary}/v1/runs`], ['PUT', `/v1/runs/${canary}`], [
    canary,
    '/v1/runs',
  ]])(
    'of %s %s, which is not served, repeats nothing of it',
    async (method, path) => {
      const { status, out } = await endpoint().ask(requestOf({ path, method }, {}));
      expect([404, 405]).toContain(status);
      expect(pieces.filter((piece) => out.includes(piece))).toEqual([]);
    },
  );

  const error = new Error(`connect https://user:${canary}@db.example?key=${canary} failed`, { cause: canary });
  const fail = (): never => {
    throw error;
  };
  const failing = { get: fail, list: fail, commit: fail };
  it.each<[string, Parameters<typeof endpoint>[0]]>([
    ['catalog', { catalog: { agent: fail, provider: fail, tool: fail, listTools: fail } }],
    ['store of secrets', { secrets: { resolve: fail } }],
    ['source of models', { models: { model: fail } }],
    ['storage', { storage: failing, limits: { storageGraceMs: 50 } }],
    ['authenticator', { authenticator: { authenticate: fail } }],
  ])('repeats nothing that a broken %s says', async (_, options) => {
    const { ask } = endpoint(options);
    const post = { path: '/v1/runs', method: 'POST' };
    const { status, out } = await ask(requestOf(post, {}));
    expect(status).toBeGreaterThanOrEqual(500);
    // Side by side: requests outlast a storage that fails for a moment.
    await Promise.all(routes.map(async (route) => {
      const answer = await ask(requestOf(route, {}));
      expect(pieces.filter((piece) => `${out}${answer.out}`.includes(piece)), route.path).toEqual([]);
    }));
  });

  it('would repeat what an error of our own says: such errors are made without secrets', async () => {
    const own = new PinnaceError('unavailable', `No key like ${canary}`);
    const { ask } = endpoint({ authenticator: { authenticate: () => Promise.reject(own) } });
    const { out } = await ask(requestOf({ path: '/v1/runs', method: 'POST' }, {}));
    expect(pieces.filter((piece) => out.includes(piece))).not.toEqual([]); // so the check above bites
  });
});
