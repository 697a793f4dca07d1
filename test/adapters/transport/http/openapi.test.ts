import { mcpSignIn } from '../../../../adapters/mcp/sign-in.ts';
import { createOAuthPeer } from '../../../fixtures/mcp/oauth-peer.ts';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { textSource } from '../../../../adapters/grounding/text.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { developmentAuthenticator } from '../../../../adapters/transport/development-authenticator.ts';
import { createHandler, type HandlerOptions } from '../../../../adapters/transport/http.ts';
import { createBodyIntake } from '../../../../adapters/transport/signed/body.ts';
import { createApp } from '../../../../adapters/transport/handler.ts';
import {
  createAudit,
  createGrounding,
  createPlanner,
  createRegistry,
  createRuntime,
  defineTool,
} from '../../../../src/index.ts';
import { compileJsonSchema } from '../../../../src/tools/json-schema/json-schema.ts';
import { fakeMcp } from '../../../fixtures/mcp.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { agent, dataSource, mcpServer, provider, tool } from '../../../fixtures/records.ts';
import { runRequest } from '../../../fixtures/runtime.ts';

const token = 'a-token-for-tests-only';

type Json = Readonly<Record<string, unknown>>;

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Json }>> };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Readonly<Record<string, { schema: Json }>> }>
  >;
}

interface Document {
  readonly openapi: string;
  readonly info: Json;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>>; readonly securitySchemes: Json };
}

/** An endpoint with everything that it can serve. */
async function setup() {
  const storage = memoryStorage();
  const audit = createAudit({ storage });
  const wipe = defineTool({
    id: 'wipe',
    description: 'Wipes',
    input: v.strictObject({}),
    execute: (_, { log }) => {
      log('wiping');
      throw new Error('no cloth');
    },
  });
  const registry = createRegistry({ storage, audit, tools: [wipe.definition] });
  const grounding = createGrounding({ sources: [textSource({ id: 'handbook', storage })], records: registry });
  const { model } = scriptedModel(callsTools({ tool: 'wipe', input: {} }), says('Hi'));
  const runtime = createRuntime({
    catalog: registry,
    storage,
    audit,
    grounding,
    tools: [wipe],
    mcp: fakeMcp().connector,
    models: { model: () => model },
  });
  const { promise: never } = Promise.withResolvers<never>();
  const planner = createPlanner({ storage, runAgent: () => never });
  const authenticator = developmentAuthenticator({ token });
  const owner = await authenticator.authenticate(
    new Request('http://127.0.0.1/', { headers: { authorization: `Bearer ${token}` } }),
  );
  const { planId } = await planner.start({ goal: 'Test' }, owner);
  const options: HandlerOptions = {
    authenticator,
    registry,
    planner,
    grounding: { grounding, storage },
    mcpSignIn: mcpSignIn({
      egress: createOAuthPeer().egress,
      redirectUris: ['https://chat.example.com/callback'],
      endpointUrl: 'https://agents.example.com',
    }),
  };
  const handle = createHandler(runtime, options);
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    handle(
      new Request(`http://127.0.0.1${path}`, {
        method,
        headers: {
          'authorization': `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  const document = await (await send('GET', '/v1/openapi.json')).json() as Document;
  const app = createApp(runtime, { ...options, intake: createBodyIntake() });
  return { send, document, app, planId };
}

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation }))
  );

/** Every value under `$ref`, wherever it is. */
function refsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === '$ref' && typeof inner === 'string' ? [inner] : refsOf(inner)
  );
}

describe('the OpenAPI document', () => {
  it('is the document on record, byte for byte', async () => {
    const { send } = await setup();
    const text = await (await send('GET', '/v1/openapi.json')).text();
    await expect(text).toMatchFileSnapshot('../../../fixtures/openapi.txt');
  });

  it('refers only to components that exist, and has none that nothing refers to', async () => {
    const { document } = await setup();
    const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    expect([...new Set(refsOf(document))].toSorted()).toEqual(known.toSorted());
  });

  it('names the scope and the problems of every route that needs authentication', async () => {
    const { document, send } = await setup();
    for (const { path, method, operation } of operationsOf(document)) {
      const where = `${method} ${path}`;
      const isOpen = ['/v1/healthz', '/v1/readyz', '/v1/openapi.json', '/oauth/client.json', '/v1/hooks/{id}'].includes(
        path,
      );
      expect(operation.security.length, where).toBe(isOpen ? 0 : 1);
      const anonymous = await send(method.toUpperCase(), path, undefined, { authorization: 'none' });
      expect(anonymous.status === 401, where).toBe(!isOpen || path.startsWith('/v1/hooks')); // whose proof is a signature
      await anonymous.body?.cancel();
      if (isOpen) continue;
      expect(operation.security[0]?.['gcSession'], where).toHaveLength(1);
      for (const status of ['400', '401', '403', '429', '503', 'default']) {
        const schema = operation.responses[status]?.content?.['application/problem+json']?.schema;
        expect(schema, `${where} ${status}`).toEqual({ $ref: '#/components/schemas/Problem' });
      }
    }
  });
});

/** Checks values against schemas of the document, apart from patterns: the record schemas have some that look ahead. */
function checker(document: Document) {
  const withoutPatterns = (value: unknown): Json =>
    JSON.parse(JSON.stringify(value, (name, inner: unknown) => name === 'pattern' ? undefined : inner)) as Json;
  const components = withoutPatterns(document.components);
  const check = (schema: Json, value: unknown, where: string): void =>
    expect(compileJsonSchema({ ...withoutPatterns(schema), components })(value), where).toEqual([]);
  const statuses = new Set<number>();
  return {
    /** The statuses of the responses that were checked. */
    statuses,
    /** Checks a response against what its operation declares, and returns its body. */
    response: async (template: string, method: string, response: Response): Promise<Json> => {
      statuses.add(response.status);
      const where = `${method} ${template} ${response.status}`;
      const declared = document.paths[template]?.[method.toLowerCase()]?.responses[response.status];
      expect(declared, where).toBeDefined();
      const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
      if (type === '') return {};
      const schema = declared?.content?.[type]?.schema;
      expect(schema, `${where} ${type}`).toBeDefined();
      const body: unknown = type.endsWith('json') ? await response.json() : await response.text();
      check(schema ?? {}, body, where);
      return typeof body === 'object' ? body as Json : { text: body };
    },
    check,
  };
}

const collections = {
  'providers': [provider({ id: 'p', kind: 'custom' }), { model: 'other' }],
  'data-sources': [dataSource({ id: 'handbook' }), { name: 'Other' }],
  'mcp-servers': [mcpServer({ id: 'm', alias: 'm' }), { alias: 'other' }],
  'tools': [tool({ id: 't', name: 't' }), { description: 'Other' }],
  'agents': [agent({ id: 'a', providerId: 'p', entryTools: ['t', 'wipe'] }), { name: 'Other' }],
} as const;

describe('a response', () => {
  it('of plans, grounding and operation is what the document says', async () => {
    const { document, send, planId } = await setup();
    const { response } = checker(document);
    expect(await response('/v1/plans/{id}', 'GET', await send('GET', `/v1/plans/${planId}`))).toMatchObject({ planId });
    await response('/v1/plans/{id}', 'GET', await send('GET', '/v1/plans/plan_none'));
    await response('/v1/plans/{id}/pause', 'POST', await send('POST', `/v1/plans/${planId}/pause`));
    await response('/v1/data-sources', 'POST', await send('POST', '/v1/data-sources', dataSource({ id: 'handbook' })));
    const files = { files: [{ name: 'a.md', text: '# Sails\n\nThe word is jib.' }] };
    const ingest = '/v1/data-sources/{id}/ingest';
    await response(ingest, 'POST', await send('POST', '/v1/data-sources/handbook/ingest', files));
    const streamed = await send('POST', '/v1/data-sources/handbook/ingest', files, { accept: 'text/event-stream' });
    await response(ingest, 'POST', streamed);
    const hits = await send('POST', '/v1/grounding/handbook/retrieve', { query: 'jib' });
    expect(await response('/v1/grounding/{source}/retrieve', 'POST', hits)).toMatchObject({ hits: [{ rank: 1 }] });
    for (const path of ['/v1/healthz', '/v1/readyz', '/v1/openapi.json', '/v1/metrics', '/oauth/client.json']) {
      await response(path, 'GET', await send('GET', path));
    }
    const invalidation = await send('POST', '/v1/invalidations', { keys: ['*'] });
    await response('/v1/invalidations', 'POST', invalidation);
  });

  it('that streams a run has chunks that the document describes', async () => {
    const { document, send } = await setup();
    const { response, check } = checker(document);
    for (const name of ['providers', 'tools', 'agents'] as const) {
      await send('POST', `/v1/${name}`, collections[name][0]);
    }
    const key = { 'idempotency-key': '"a-key-for-the-test"' };
    const started = await send('POST', '/v1/runs', runRequest({ agentId: 'a' }), key);
    const runId = started.headers.get('x-run-id') ?? '';
    const { text } = await response('/v1/runs', 'POST', started);
    const chunks = String(text).split('\n').filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)) as { readonly type: string });
    const types = chunks.map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining([
      'data-run',
      'data-manifest',
      'data-usage',
      'data-tool-error',
      'data-tool-log',
      'text-delta',
    ]));
    const { schema } = document.paths['/v1/runs']!['post']!.responses[200]!.content!['text/event-stream']!;
    check(schema['contentSchema'] as Json, chunks, 'the chunks');
    const broken = [{ type: 'data-run', data: { state: 'lost' } }];
    expect(() => check(schema['contentSchema'] as Json, broken, 'no such run')).toThrow('no such run'); // so the check above bites
    await response('/v1/runs/{id}', 'GET', await send('GET', `/v1/runs/${runId}`));
    await response('/v1/runs/{id}/stream', 'GET', await send('GET', `/v1/runs/${runId}/stream`));
    await response('/v1/chats/{id}/stream', 'GET', await send('GET', '/v1/chats/none/stream'));
    const messages = '/v1/runs/{id}/messages';
    const message = { id: 'm2', parts: [{ type: 'text', text: 'Hi' }] };
    await response(messages, 'POST', await send('POST', `/v1/runs/${runId}/messages`, message)); // 409
    await response(messages, 'POST', await send('POST', '/v1/runs/none/messages', message)); // 404
    await response(messages, 'POST', await send('POST', `/v1/runs/${runId}/messages`, { parts: [] })); // 400
    check(
      document.paths[messages]!['post']!.responses[202]!.content!['application/json']!.schema,
      { messageId: 'm2', state: 'accepted' },
      'an accepted message',
    );
    check(
      schema['contentSchema'] as Json,
      [{ type: 'data-steering', id: 'm2', data: { messageId: 'm2', state: 'undelivered' } }],
      'an undelivered message',
    );
    check(schema['contentSchema'] as Json, [{ type: 'data-output', id: runId, data: { city: 'Oslo' } }], 'an answer');
    await response('/v1/runs/{id}', 'DELETE', await send('DELETE', `/v1/runs/${runId}`));
    await response('/v1/runs/{id}', 'GET', await send('GET', '/v1/runs/none'));
  });
});
