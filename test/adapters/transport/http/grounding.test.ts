import { describe, expect, it } from 'vitest';
import { textSource } from '../../../../adapters/grounding/text.ts';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createHandler } from '../../../../adapters/transport/http.ts';
import {
  createAudit,
  createGrounding,
  createPrincipal,
  type CreateRuntimeOptions,
  localPrincipal,
  type Scope,
} from '../../../../src/index.ts';
import { eventProblems } from '../../../../src/simulation/invariants.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { testRuntime } from '../../../fixtures/runtime.ts';

/** An endpoint whose caller has these scopes, or belongs to another tenant with `x-tenant`. */
function endpoint(
  scopes: readonly Scope[] = ['grounding:read', 'registry:write'],
  hooks: Pick<CreateRuntimeOptions, 'audit' | 'authorize' | 'sinks'> = {},
  { shared = false } = {},
) {
  const storage = memoryStorage();
  const grounding = createGrounding({ sources: [textSource({ id: 'handbook', storage, shared })] });
  const runtime = testRuntime({ model: scriptedModel(says('Hi')).model, storage, ...hooks });
  const authenticator = {
    authenticate: (request: Request) => {
      const tenant = request.headers.get('x-tenant') ?? 'one';
      const deployment = request.headers.get('x-deployment') !== 'no';
      return Promise.resolve(createPrincipal({ ...localPrincipal(), via: 'http', tenant, scopes, deployment }));
    },
  };
  const handle = createHandler(runtime, { authenticator, grounding: { grounding, storage } });
  return (path: string, body: unknown, headers: Record<string, string> = {}) =>
    handle(
      new Request(`http://127.0.0.1/v1${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    );
}

const files = [
  { name: 'anchor.md', text: '# Anchor\n\nThe anchor winch is greased every spring.' },
  { name: 'sails.txt', text: 'Sails are dried before they are folded.' },
];

describe('grounding over HTTP', () => {
  it('keeps tenants apart', async () => {
    const post = endpoint();
    await post('/data-sources/handbook/ingest', { files });
    const other = await post('/grounding/handbook/retrieve', { query: 'winch' }, { 'x-tenant': 'two' });
    expect(await other.json()).toMatchObject({ hits: [], sources: [{ status: 'ok', reason: 'no_items_of_tenant' }] });
  });

  it('fills a shared source for all tenants as the deployment, and for one as a tenant', async () => {
    const post = endpoint(undefined, {}, { shared: true });
    const asTenant = { 'x-deployment': 'no' };
    expect((await post('/data-sources/handbook/ingest', { files, shared: true }, asTenant)).status).toBe(403);
    await post('/data-sources/handbook/ingest', { files: files.slice(0, 1) });
    await post('/data-sources/handbook/ingest', { files: files.slice(1) }, asTenant);
    const ask = async (query: string, tenant: string) =>
      (await (await post('/grounding/handbook/retrieve', { query }, { 'x-tenant': tenant })).json()).hits.length;
    expect([await ask('winch', 'two'), await ask('sails', 'two'), await ask('sails', 'one')]).toEqual([1, 0, 1]);
  });

  it.each<[Scope, string, unknown]>([
    ['grounding:read', '/data-sources/handbook/ingest', { files }],
    ['registry:write', '/grounding/handbook/retrieve', { query: 'x' }],
  ])('refuses a caller who has only the scope %s', async (scope, path, body) => {
    expect((await endpoint([scope])(path, body)).status).toBe(403);
  });

  it('audits the caller that fills a source; a query changes nothing', async () => {
    const audit = createAudit({ storage: memoryStorage() });
    const { sink, events } = memorySink();
    const post = endpoint(undefined, { audit, sinks: [sink] });
    await post('/data-sources/handbook/ingest', { files });
    await (await post('/data-sources/handbook/ingest', { files }, { accept: 'text/event-stream' })).text();
    await post('/grounding/handbook/retrieve', { query: 'winch' });
    const entries = (await audit.log('one').list()).items.map(({ event }) => event);
    expect(entries.map(({ action, status }) => `${action} ${status}`)).toEqual([
      'grounding.ingest pending',
      'grounding.ingest ok',
      'grounding.ingest pending',
      'grounding.ingest ok',
    ]);
    expect(entries[0]).toMatchObject({
      actor: { type: 'user', id: 'local' },
      target: { type: 'data-source', id: 'handbook' },
      payloadSummary: 'files=2',
    });
    expect(eventProblems(events)).toEqual([]);
    const [ingesting] = events;
    expect(ingesting).toMatchObject({ action: 'grounding.ingest', traceId: entries[0]?.traceId });
    const within = events.filter(({ parentSpanId }) => parentSpanId === ingesting?.spanId);
    expect(within.map(({ action, status }) => `${action} ${status}`)).toEqual(
      ['remember pending', 'remember ok', 'remember pending', 'remember ok'],
    );
    expect(events.find(({ action, status }) => action === 'grounding.ingest' && status === 'ok')?.payloadSummary).toBe(
      'files=2 written=2',
    );
  });

  it('ingests nothing where the hook refuses, or where the audit fails', async () => {
    const audit = createAudit({ storage: memoryStorage() });
    const { sink, events } = memorySink();
    const denied = endpoint(undefined, {
      audit,
      sinks: [sink],
      authorize: (action) => action === 'grounding.ingest' ? { decision: 'deny', reason: 'no' } : { decision: 'allow' },
    });
    const refused = await denied('/data-sources/handbook/ingest', { files });
    expect(refused.status).toBe(403);
    expect((await audit.log('one').list()).items.map(({ event }) => event)).toMatchObject([
      { action: 'grounding.ingest', status: 'denied', error: { code: 'forbidden' } },
    ]);
    expect(events).toMatchObject([{ action: 'grounding.ingest', status: 'denied' }]);
    const full = createAudit({ storage: { ...memoryStorage(), commit: () => Promise.reject(new Error('disk full')) } });
    const unwritten = endpoint(undefined, { audit: full });
    expect((await unwritten('/data-sources/handbook/ingest', { files })).status).toBe(503);
    for (const post of [denied, unwritten]) {
      expect(await (await post('/grounding/handbook/retrieve', { query: 'winch' })).json()).toMatchObject({ hits: [] });
    }
  });
});
