import { describe, expect, it } from 'vitest';
import { textSource } from '../../../adapters/grounding/text.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import { createGrounding, createPrincipal, localPrincipal, type Scope } from '../../../src/index.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { testRuntime } from '../../fixtures/runtime.ts';

/** An endpoint whose caller has these scopes, or by `x-tenant` is somebody else. */
function endpoint(scopes: readonly Scope[] = ['grounding:read', 'registry:write']) {
  const storage = memoryStorage();
  const grounding = createGrounding({ sources: [textSource({ id: 'handbook', storage })] });
  const runtime = testRuntime({ model: scriptedModel(says('Hi')).model, storage });
  const authenticator = {
    authenticate: (request: Request) => {
      const tenant = request.headers.get('x-tenant') ?? 'one';
      return Promise.resolve(createPrincipal({ ...localPrincipal(), via: 'http', tenant, scopes }));
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
  it('takes files in, and answers questions about them', async () => {
    const post = endpoint();
    const report = await (await post('/data-sources/handbook/ingest', { files })).json();
    expect(report).toMatchObject({ written: 2, files: [{ file: 'anchor.md', state: 'done' }, { state: 'done' }] });
    const answer = await post('/grounding/handbook/retrieve', { query: 'winch greased', topK: 1 });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      hits: [{ content: expect.stringContaining('every spring'), confidence: expect.any(Number) }],
      sources: [{ status: 'ok' }],
    });
    expect(await (await post('/data-sources/handbook/ingest', { files })).json()).toMatchObject({ written: 0 });
  });

  it('tells the progress to whoever wants to hear it', async () => {
    const answer = await endpoint()('/data-sources/handbook/ingest', { files }, { accept: 'text/event-stream' });
    const text = await answer.text();
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    expect(text.match(/event: progress/g)?.length).toBeGreaterThanOrEqual(4);
    expect(text).toMatch(/event: report\ndata: \{"files":.*"written":2\}\n\n$/);
  });

  it('keeps tenants apart', async () => {
    const post = endpoint();
    await post('/data-sources/handbook/ingest', { files });
    const other = await post('/grounding/handbook/retrieve', { query: 'winch' }, { 'x-tenant': 'two' });
    expect(await other.json()).toMatchObject({ hits: [] });
  });

  it.each<[string, string, unknown, number]>([
    ['an unknown source', '/grounding/nowhere/retrieve', { query: 'x' }, 404],
    ['an unknown source to fill', '/data-sources/nowhere/ingest', { files }, 404],
    ['a question that asks nothing', '/grounding/handbook/retrieve', {}, 400],
    ['a question with another type', '/grounding/handbook/retrieve', { query: 7 }, 400],
    ['no files', '/data-sources/handbook/ingest', { files: [] }, 400],
    ['no JSON', '/grounding/handbook/retrieve', '{', 400],
  ])('refuses %s', async (_, path, body, status) => {
    expect((await endpoint()(path, body)).status).toBe(status);
  });

  it.each<[Scope, string, unknown]>([
    ['grounding:read', '/data-sources/handbook/ingest', { files }],
    ['registry:write', '/grounding/handbook/retrieve', { query: 'x' }],
  ])('refuses a caller who has only the scope %s', async (scope, path, body) => {
    expect((await endpoint([scope])(path, body)).status).toBe(403);
  });
});
