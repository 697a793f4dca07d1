import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memorySink } from '../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { developmentAuthenticator } from '../../../adapters/transport/development-authenticator.ts';
import { createHandler, type Handler, type HandlerOptions } from '../../../adapters/transport/http.ts';
import {
  createAudit,
  createEventRing,
  createPrincipal,
  type CreateRuntimeOptions,
  defineTool,
  localPrincipal,
  PinnaceError,
  type PlanningRuntime,
  type ProblemCode,
  type UIMessage,
} from '../../../src/index.ts';
import { attacksOn, endpointOfEverything, fillEndpoint, methodAndPath, routesOf } from '../../fixtures/every-route.ts';
import { callsTools, says, scriptedModel, stallingStream } from '../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, userMessage } from '../../fixtures/runtime.ts';

const token = 'a-token-for-tests-only';

function endpoint(
  options: Partial<HandlerOptions> = {},
  given: Partial<Omit<CreateRuntimeOptions, 'models'>> = {},
): { readonly serve: Handler; readonly runtime: PlanningRuntime } {
  const { model } = scriptedModel(() => stallingStream(says('Hel').slice(0, 3)));
  const runtime = testRuntime({ model, storage: memoryStorage(), ...given });
  return { runtime, serve: createHandler(runtime, { authenticator: developmentAuthenticator({ token }), ...options }) };
}

function start(overrides: Record<string, unknown> = {}): Request {
  return new Request('http://127.0.0.1/v1/runs', {
    method: 'POST',
    headers: {
      'authorization': `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': `"${crypto.randomUUID()}"`,
    },
    body: JSON.stringify({ ...runRequest(), ...overrides }),
  });
}

describe('an array in the place of an object', () => {
  it('is refused by every route that changes or replaces something', async () => {
    const filled = await fillEndpoint(await endpointOfEverything({ a: { tenant: 'a', subject: 'a1' } }));
    const routes = (await routesOf(filled)).filter((route) => /^(PATCH|PUT) /.test(route));
    expect(routes.length).toBeGreaterThan(10);
    for (const route of routes) {
      const attack = attacksOn(filled)[route]!; // every route has one
      const { status, text } = await filled.owner(...methodAndPath(route, attack), {
        body: [],
        headers: attack.headers ?? {},
      });
      expect([route, status, text]).toEqual([route, 400, expect.stringContaining('must be an object')]);
    }
  });
});

describe('a chat in which a tool has returned what requests must not have', () => {
  it.each(['{"__proto__":{"a":1}}', '{"b":{"constructor":1}}', '[{"prototype":null}]'])(
    'can be sent again: %s',
    async (output) => {
      const chatter = defineTool({
        id: 'read',
        description: 'Reads',
        input: v.strictObject({}),
        execute: () => JSON.parse(output) as unknown,
      });
      const { model } = scriptedModel(callsTools({ tool: 'read', input: {} }), says('Read'), says('Again'));
      const runtime = testRuntime({ model, storage: memoryStorage(), tools: [chatter] });
      const serve = createHandler(runtime, { authenticator: developmentAuthenticator({ token }) });
      const send = async (method: string, path: string, body?: object) => {
        const headers = { 'authorization': `Bearer ${token}`, 'content-type': 'application/json' };
        const response = await serve(
          new Request(`http://127.0.0.1/v1${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) }),
        );
        return { status: response.status, text: await response.text() };
      };
      const chat = '/agents/helper/chat';
      await send('POST', chat, { id: 'chat-1', messages: [userMessage('Read')], store: true });
      const { text } = await send('GET', '/chats/chat-1');
      expect(text).toContain('output-available');
      const { messages } = JSON.parse(text) as { readonly messages: readonly unknown[] };
      const sentAgain = await send('POST', chat, { id: 'chat-2', messages: [...messages, userMessage('Go on', 'm9')] });
      expect([sentAgain.status, sentAgain.text]).toEqual([200, expect.stringContaining('Again')]);
    },
  );
});

describe('the name of a file to ingest', () => {
  it.each(['a\0.md', 'a\r\nb.md', 'a\x1b[2J.md', 'a\u202etxt.md', 'a\u2066.md'])(
    'is refused where it hides or moves text: %j',
    async (name) => {
      const { owner } = await endpointOfEverything({ a: { tenant: 'a', subject: 'a1' } });
      const body = { files: [{ name, text: 'Hello' }] };
      const { status, text } = await owner('POST', '/v1/data-sources/handbook/ingest', { body });
      expect([status, text]).toEqual([400, expect.stringContaining('must be one line without control characters')]);
    },
  );
});

describe('a request whose Host header is no host name', () => {
  it.each([
    ['of two hosts', 'http://127.0.0.1:8787, x/v1/agents', '127.0.0.1:8787, x'],
    ['with a port that does not exist', 'http://127.0.0.1:99999/v1/healthz', '127.0.0.1:99999'],
    ['with half an address', 'http://[::1/v1/runs', '[::1'],
    ['with a path of its own', 'http://127.0.0.1/v1/healthz#/v1/runs', '127.0.0.1/v1/healthz#'],
    ['with a user name', 'http://user@127.0.0.1/v1/healthz', 'user@127.0.0.1'],
  ])('is refused, %s', async (_, url, host) => {
    const request = new Request('http://127.0.0.1/v1/healthz');
    // As servers pass it on; `new Request` takes no such address, and in a browser no such header.
    Object.defineProperty(request, 'url', { value: url });
    const headers = { get: (name: string) => name === 'host' ? host : null };
    Object.defineProperty(request, 'headers', { value: headers });
    const response = await endpoint().serve(request);
    expect([response.status, await response.json()]).toMatchObject([400, { details: { reason: 'invalid_host' } }]);
  });
});

describe('the events of refused requests', () => {
  const look = (headers: Record<string, string> = {}): Request =>
    new Request('http://127.0.0.1/v1/runs/run_x', { headers });
  const wrong = { authorization: 'Bearer wrong' };

  function observed(options: Partial<HandlerOptions> = {}) {
    const { sink, events } = memorySink();
    const clock = { now: 1_800_000_000_000 };
    const audit = createAudit({ storage: memoryStorage() });
    const ring = createEventRing({ capacity: 50 });
    const now = (): number => clock.now;
    const refused = () => events.filter(({ action }) => action === 'request.refused');
    return { ...endpoint({ ...options, now }, { sinks: [sink], audit, ring, now }), audit, ring, clock, refused };
  }

  it.each<[name: string, options: Partial<HandlerOptions>, request: () => Request, error: object, actor: string]>([
    ['authentication', {}, look, { code: 'authentication_required' }, 'endpoint'],
    ['authentication, of a wrong token', {}, () => look(wrong), { code: 'token_invalid' }, 'endpoint'],
    [
      'the quota of a tenant',
      { quotas: { runsPerTenant: 0 } },
      start,
      { code: 'rate_limited', details: { reason: 'tenant_quota' } },
      'developer',
    ],
    [
      'the quota of the instance',
      { quotas: { runs: 0 } },
      start,
      { details: { reason: 'instance_quota' } },
      'developer',
    ],
    ['the length of a body', { maxBodyBytes: 10 }, start, { code: 'body_too_large' }, 'developer'],
    [
      'a limit on bodies',
      { bodies: { perTenant: 0 } },
      start,
      { code: 'rate_limited', details: { reason: 'tenant_bodies' } },
      'developer',
    ],
  ])('have the trace of the problem answer, after a refusal by %s', async (_name, options, request, error, actor) => {
    const { serve, refused } = observed(options);
    const { traceId } = await (await serve(request())).json() as { traceId: string };
    expect(refused()).toMatchObject([{ traceId, error, status: 'denied', actor: { id: actor } }]);
  });

  it('hold no token, path or text of the request', async () => {
    const { serve, refused } = observed();
    await serve(look({ authorization: 'Bearer the-wrong-token' }));
    expect(JSON.stringify(refused())).not.toMatch(/the-wrong-token|run_x/);
  });

  it('are one a second for a cause, and the next one counts the others', async () => {
    const { serve, refused, clock } = observed();
    for (let i = 0; i < 100; i++) await serve(look(wrong));
    expect(refused()).toHaveLength(1);
    clock.now += 1000;
    await serve(look(wrong));
    expect(refused().map(({ payloadSummary }) => payloadSummary)).toEqual(['', 'coalesced=99']);
  });

  it('push no other event out of the ring within a second, and are never stored in the audit', async () => {
    let codes = 0;
    const authenticate = async (): Promise<never> => {
      throw new PinnaceError(`code_${codes++}` as ProblemCode, 'No', { status: 401 });
    };
    const { serve, refused, ring, audit } = observed({ authenticator: { authenticate } });
    for (let i = 0; i < 200; i++) await serve(look());
    expect(refused()).toHaveLength(5);
    expect(ring.lastSeq).toBe(5);
    for (const tenant of [undefined, localPrincipal().tenant]) {
      expect((await audit.log(tenant).list({})).items).toEqual([]);
    }
  });
});

/** The holder of the token. */
const me = createPrincipal({ ...localPrincipal(), tenant: 'development', subject: 'developer' });

/** An endpoint at which one call waits for a person, and what sends a decision on it. */
async function setup() {
  const deleted: string[] = [];
  const tool = defineTool({
    id: 'delete_note',
    description: 'Deletes a note',
    approval: 'always',
    input: v.strictObject({ noteId: v.string() }),
    execute: ({ noteId }) => (deleted.push(noteId), 'gone'),
  });
  const { model } = scriptedModel(callsTools({ tool: 'delete_note', input: { noteId: 'n1' } }), says('Done'));
  const runtime = testRuntime({ model, tools: [tool] });
  const handler = createHandler(runtime, { authenticator: developmentAuthenticator({ token }) });
  const chunks = await readAll(await runtime.run(runRequest(), me));
  const asked = chunks.find((chunk) => chunk.type === 'tool-approval-request');
  if (asked?.type !== 'tool-approval-request') throw new Error('Nothing was asked');
  const { approvalId } = asked;
  const runId = String(lastData(chunks, 'data-run')['runId']);
  const decide = async (body: BodyInit, path = `/v1/runs/${runId}/approvals/${approvalId}`) => {
    const headers = { 'authorization': `Bearer ${token}`, 'content-type': 'application/json' };
    return await handler(new Request(`http://127.0.0.1${path}`, { method: 'POST', headers, body }));
  };
  const waiting = {
    id: 'm2',
    role: 'assistant',
    parts: [{
      type: 'tool-delete_note',
      toolCallId: 'call-0',
      input: { noteId: 'n1' },
      state: 'approval-responded',
      approval: { id: approvalId, approved: true },
    }],
  } as UIMessage;
  const goOn = async () => {
    const chat = { id: 'chat-1', messages: [userMessage('Delete n1'), waiting] };
    return await readAll(await runtime.run(runRequest({ chat }), me));
  };
  return { deleted, decide, goOn, runId, approvalId };
}

const yes = '{"approved":true}';

describe('a decision over HTTP', () => {
  it.each<[string, (ids: { readonly runId: string; readonly approvalId: string }) => [BodyInit, string?], number]>([
    ['that says yes and no', () => ['{"approved":false,"approved":true}'], 400],
    ['that only looks like a yes', () => ['{"approved":"true"}'], 400],
    ['that is a number', () => ['{"approved":1}'], 400],
    ['whose yes is inherited', () => ['{"__proto__":{"approved":true}}'], 400],
    ['with more than was asked', () => ['{"approved":true,"input":{"noteId":"n2"}}'], 400],
    ['whose reason has half a character', () => ['{"approved":true,"reason":"\\ud800"}'], 400],
    ['whose reason is 10 MB', () => [`{"approved":true,"reason":"${'x'.repeat(10_000_000)}"}`], 413],
    ['that is a list', () => ['[{"approved":true}]'], 400],
    ['of another run', ({ approvalId }) => [yes, `/v1/runs/run_${'0'.repeat(32)}/approvals/${approvalId}`], 404],
    ['with another id', ({ runId }) => [yes, `/v1/runs/${runId}/approvals/apr_${'0'.repeat(32)}`], 404],
    [
      'with an id of 100,000 characters',
      ({ runId }) => [yes, `/v1/runs/${runId}/approvals/${'a'.repeat(100_000)}`],
      404,
    ],
    ['whose id climbs', ({ runId, approvalId }) => [yes, `/v1/runs/x%2F..%2F${runId}/approvals/${approvalId}`], 404],
    ['whose id ends in a zero', ({ runId, approvalId }) => [yes, `/v1/runs/${runId}/approvals/${approvalId}%00`], 404],
    ['whose id is no text', ({ runId }) => [yes, `/v1/runs/${runId}/approvals/%FF%FE`], 404],
  ])('%s decides nothing, and the call is not made', async (_, forge, status) => {
    const { deleted, decide, goOn, ...ids } = await setup();
    expect((await decide(...forge(ids))).status).toBe(status);
    await goOn();
    expect(deleted).toEqual([]);
    expect((await decide(yes)).status).toBe(204); // it is still open
  });

  it('is made once: the same again, and its opposite, are refused', async () => {
    const { deleted, decide, goOn } = await setup();
    expect((await decide('{"approved":false}')).status).toBe(204);
    for (const body of [yes, '{"approved":false}']) expect((await decide(body)).status).toBe(409);
    await goOn();
    expect(deleted).toEqual([]);
  });
});
