import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createPrincipal, type Storage, type UIMessageChunk } from '../../../src/index.ts';
import { virtualTime } from '../../../src/simulation/virtual-time.ts';
import { says, scriptedModel, stallingStream } from '../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, textOf } from '../../fixtures/runtime.ts';
import { mortal, recovered } from '../../fixtures/processes/lost-instance.ts';
import { signedEndpoint } from '../../fixtures/signed-endpoint.ts';

const hello = () => scriptedModel(says('Hel', 'lo'));
const stalled = () => scriptedModel(() => stallingStream(says('Hel').slice(0, 3)));
const request = runRequest();

/** Reads up to the first text. */
async function untilText(stream: ReadableStream<UIMessageChunk>): Promise<ReadableStreamDefaultReader<UIMessageChunk>> {
  const reader = stream.getReader();
  for (let next = await reader.read(); next.value?.type !== 'text-delta';) next = await reader.read();
  return reader;
}

async function runIdOf(reader: ReadableStreamDefaultReader<UIMessageChunk>): Promise<string> {
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    if (next.value.type === 'data-run') return (next.value.data as { runId: string }).runId;
  }
  throw new Error('No data-run chunk');
}

describe('an endpoint and its client', () => {
  it('never run anything twice for one key: the retry joins the run, a later one gets its replay', async () => {
    const model = hello();
    const client = await (await signedEndpoint(testRuntime(model))).client();
    const idempotencyKey = 'the-key-of-this-run';
    const both = await Promise.all([1, 2, 3].map(async () => readAll(await client.run(request, { idempotencyKey }))));
    const later = await readAll(await client.run(request, { idempotencyKey }));
    for (const chunks of both) expect(chunks).toEqual(later);
    expect(model.calls).toHaveLength(1);
  });

  it('let a run survive a connection that is cut after every few bytes', async () => {
    const model = scriptedModel(says(...Array.from({ length: 40 }, (_, i) => `w${i} `)));
    const endpoint = await signedEndpoint(testRuntime(model));
    let connections = 0;
    const client = await endpoint.client({}, {
      fetch: async (given) => (connections++, cut(await endpoint.serve(given), 700)),
      attempts: 100,
    });
    const chunks = await readAll(await client.run(request));
    expect(textOf(chunks)).toBe(Array.from({ length: 40 }, (_, i) => `w${i} `).join(''));
    expect(connections).toBeGreaterThan(3);
    expect(model.calls).toHaveLength(1);
  });

  it('have nothing to resume when all was read', async () => {
    const client = await (await signedEndpoint(testRuntime(hello()))).client();
    const chunks = await readAll(await client.run(request));
    const runId = String(lastData(chunks, 'data-run')['runId']);
    const { lastEventId } = await client.status(runId);
    expect(await client.resume(runId, { lastEventId: String(lastEventId) })).toBeNull();
    await expect(client.resume(runId, { lastEventId: `${runId}:999` })).rejects.toMatchObject({
      code: 'last_event_id_invalid',
    });
    expect(await client.reconnectToStream({ chatId: 'chat-1' })).toBeNull();
  });

  it('hide runs of another tenant, and refuse agents and scopes that the certificate does not name', async () => {
    const endpoint = await signedEndpoint(testRuntime(hello()));
    const chunks = await readAll(await (await endpoint.client()).run(request));
    const runId = String(lastData(chunks, 'data-run')['runId']);
    const stranger = await endpoint.client({ tenant: 't2' });
    await expect(stranger.status(runId)).rejects.toMatchObject({ code: 'not_found', status: 404 });
    await expect(stranger.resume(runId)).rejects.toMatchObject({ code: 'not_found' });
    const other = await endpoint.client({ agents: ['another'] });
    await expect(other.run(request)).rejects.toMatchObject({ code: 'forbidden', status: 403 });
    const reader = await endpoint.client({ scopes: ['run:read'] });
    await expect(reader.run(request)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(reader.cancel(runId)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(reader.call('GET', '/v1/metrics')).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('stop the runs of a session that is revoked', async () => {
    const endpoint = await signedEndpoint(testRuntime(stalled()));
    const client = await endpoint.client({ sub: 'lost-laptop' });
    const reader = await untilText(await client.run(request));
    await endpoint.authenticator.revoke({ kind: 'subject', issuer: 'https://gc.example', subject: 'lost-laptop' });
    const rest: UIMessageChunk[] = [];
    for (let next = await reader.read(); !next.done; next = await reader.read()) rest.push(next.value);
    expect(rest.at(-1)).toEqual({ type: 'abort', reason: 'session_revoked' });
    await expect(client.run(request)).rejects.toMatchObject({ code: 'certificate_revoked', status: 401 });
  });

  it('end a run that another instance has left when its session was revoked meanwhile', async () => {
    const storage = memoryStorage();
    const dying = mortal(storage);
    const first = await signedEndpoint(testRuntime({ ...stalled(), storage: dying.storage }));
    const runId = await runIdOf((await (await first.client()).run(request)).getReader());
    dying.kill();
    const second = testRuntime({ ...stalled(), storage });
    const endpoint = await signedEndpoint(second);
    await endpoint.authenticator.revoke({ kind: 'subject', issuer: 'https://gc.example', subject: 's1' });
    const me = createPrincipal({ via: 'http', tenant: 't1', subject: 's1', agents: '*', scopes: ['run:read'] });
    const chunks = await recovered(second, runId, storage, me);
    expect(chunks.at(-1)).toEqual({ type: 'abort', reason: 'session_revoked' });
  });

  it('keep to the quotas of a tenant and of the instance', async () => {
    const endpoint = await signedEndpoint(testRuntime(stalled()), { quotas: { runsPerTenant: 1, runs: 2 } });
    const [a, b, c] = await Promise.all(
      ['t1', 't2', 't3'].map((tenant) => endpoint.client({ tenant }, { attempts: 1 })),
    );
    const first = await a!.run(request);
    await expect(a!.run(request)).rejects.toMatchObject({
      code: 'rate_limited',
      status: 429,
      retryAfterMs: expect.any(Number),
    });
    await b!.run(request);
    await expect(c!.run(request)).rejects.toMatchObject({ code: 'overloaded', status: 503 });
    await a!.cancel(await runIdOf(first.getReader()));
    await c!.run(request);
  });

  it('invalidate and prewarm with the scopes for it', async () => {
    const endpoint = await signedEndpoint(testRuntime(hello()));
    const operator = await endpoint.client({ scopes: ['registry:read', 'registry:write', 'admin'] });
    expect(await operator.call('POST', '/v1/prewarm', { body: { agentIds: ['helper', 'nobody'] } })).toEqual({
      warmed: ['agent:helper', 'provider:default', 'tools'],
      failed: { nobody: 'not_found' },
    });
    await operator.call('POST', '/v1/invalidations', { body: { keys: ['agent:helper'] } });
    await expect(operator.call('POST', '/v1/invalidations', { body: { keys: [] } })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  });
});

describe('the endpoint', () => {
  it('responds to a missing or wrong signature with what to sign, and with its time', async () => {
    const { serve } = await signedEndpoint(testRuntime(hello()));
    const response = await serve(new Request('https://worker.example/v1/runs/run_x'));
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('GC-Session error="authentication_required"');
    expect(response.headers.get('accept-signature')).toContain('"content-digest"');
    expect(await response.json()).toMatchObject({ serverTime: expect.any(String), code: 'authentication_required' });
  });

  it('is not ready when its storage is away', async () => {
    const runtime = testRuntime(hello());
    const failed = { checks: { storage: 'failed', catalog: 'ok' }, failures: {} } as const;
    const { serve } = await signedEndpoint({ ...runtime, diagnose: async () => failed });
    expect((await serve(new Request('https://worker.example/v1/readyz'))).status).toBe(503);
  });
});

describe('GET /v1/readyz', () => {
  const ask = (authorization?: string): Request =>
    new Request('https://worker.example/v1/readyz', { headers: authorization === undefined ? {} : { authorization } });
  const metricsToken = 'scrape-token-of-the-deployment-000';
  const never = (): Promise<never> => new Promise(() => undefined);

  it('answers 503 within 3 s when the storage hangs, and names it', async () => {
    using time = virtualTime();
    const storage = { get: never, list: never, commit: never };
    const { serve } = await signedEndpoint(testRuntime({ ...hello(), storage }), { metricsToken });
    const answer = serve(ask(`Bearer ${metricsToken}`));
    expect(await time.passUntil(answer, 3_000)).toBe(true);
    const response = await answer;
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ status: 'failed', checks: { storage: 'failed', catalog: 'ok' } });
  });

  it('answers within 3 s when what the platform can do does not come', async () => {
    using time = virtualTime();
    const { serve } = await signedEndpoint(testRuntime(hello()), { capabilities: never, metricsToken });
    const answer = serve(ask(`Bearer ${metricsToken}`));
    expect(await time.passUntil(answer, 3_000)).toBe(true);
    expect(await (await answer).json()).toMatchObject({ status: 'ok', capabilities: {} });
  });

  it('tells strangers ready or not, and its checks and platform to operators', async () => {
    const endpoint = await signedEndpoint(testRuntime(hello()), {
      capabilities: async () => ({ runtime: 'Node 26.10.0' }),
      metricsToken,
    });
    const details = {
      status: 'ok',
      checks: { storage: 'ok', catalog: 'ok' },
      capabilities: { runtime: 'Node 26.10.0' },
    };
    const admin = await endpoint.client({ scopes: ['admin'] });
    const reader = await endpoint.client({ scopes: ['run:read', 'registry:read'] });
    expect(await admin.call('GET', '/v1/readyz')).toEqual(details);
    expect(await (await endpoint.serve(ask(`Bearer ${metricsToken}`))).json()).toEqual(details);
    expect(await reader.call('GET', '/v1/readyz')).toEqual({ status: 'ok' });
    for (const authorization of [undefined, 'none', 'Bearer x', `Bearer ${metricsToken}x`, 'GC-Session a.b.c']) {
      const response = await endpoint.serve(ask(authorization));
      expect([response.status, await response.json()], authorization).toEqual([200, { status: 'ok' }]);
    }
  });

  it('answers an operator within 3 s when the storage that verifies them hangs', async () => {
    using time = virtualTime();
    const storage = { get: never, list: never, commit: never };
    const session = await signedEndpoint(testRuntime({ ...hello(), storage }), {
      authenticator: { authenticate: never },
    });
    const answer = session.serve(ask('GC-Session a.b.c'));
    expect(await time.passUntil(answer, 3_000)).toBe(true);
    expect(await (await answer).json()).toEqual({ status: 'failed' });
  });

  it('lets strangers cause one write in ten seconds, and sees an outage after one', async () => {
    let [time, commits, isAway] = [0, 0, false];
    const memory = memoryStorage();
    const storage: Storage = {
      ...memory,
      commit: (changes) => (commits++, memory.commit(changes)),
      get: (key) => isAway ? Promise.reject(new Error('away')) : memory.get(key),
    };
    const { serve } = await signedEndpoint(testRuntime({ ...hello(), storage, now: () => time }));
    for (time = 0; time < 10_000; time += 500) expect((await serve(ask())).status).toBe(200);
    expect(commits).toBe(2); // the entry, and its removal
    isAway = true;
    time += 1_000;
    expect((await serve(ask())).status).toBe(503);
  });

  it('answers 503 when the storage is full', async () => {
    const { serve } = await signedEndpoint(testRuntime({ ...hello(), storage: memoryStorage({ maxEntries: 0 }) }));
    expect((await serve(ask())).status).toBe(503);
  });
});

/** The same answer with its connection cut after this many bytes. */
function cut(response: Response, bytes: number): Response {
  let left = bytes;
  const body = response.body?.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk.slice(0, left));
        left -= chunk.length;
        if (left <= 0) controller.error(new TypeError('The connection was cut'));
      },
    }),
  );
  return new Response(body ?? null, response);
}
