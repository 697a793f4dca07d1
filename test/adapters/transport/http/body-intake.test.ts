import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { developmentAuthenticator } from '../../../../adapters/transport/development-authenticator.ts';
import { type BodyLimits, createBodyIntake, readBody, receiveBy } from '../../../../adapters/transport/signed/body.ts';
import { type ConnectionInfo, createHandler, type Handler } from '../../../../adapters/transport/http.ts';
import { virtualTime } from '../../../../src/simulation/virtual-time.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { testRuntime } from '../../../fixtures/runtime.ts';
import { createSession } from '../signed/session.ts';

const token = 'a-token-for-tests-only';

/** A request whose body a test sends piece by piece. */
function trickle(
  { url = 'http://127.0.0.1/v1/runs', headers = {} }: { readonly url?: string; readonly headers?: HeadersInit } = {},
) {
  const state = { cancelled: false };
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (given) => void (controller = given),
    cancel: () => void (state.cancelled = true),
  });
  const request = new Request(url, { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
  return {
    state,
    request,
    send: (bytes: number | Uint8Array) =>
      controller?.enqueue(typeof bytes === 'number' ? new Uint8Array(bytes) : bytes),
    end: () => controller?.close(),
  };
}

/** A trickle to an endpoint, with the token. */
const authorized = () =>
  trickle({
    headers: {
      'authorization': `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': `"${crypto.randomUUID()}"`,
    },
  });

function endpoint(bodies: Partial<BodyLimits> = {}): Handler {
  const runtime = testRuntime({ model: scriptedModel(says('Hi')).model });
  // The body is refused before a tool is asked for.
  const mcp = { hosts: ['127.0.0.1'], storage: memoryStorage(), tools: async () => ({}) as never };
  return createHandler(runtime, { authenticator: developmentAuthenticator({ token }), bodies, mcp });
}

async function problemOf(answer: Promise<Response>): Promise<unknown> {
  const response = await answer;
  return { status: response.status, ...await response.json() as object };
}

describe('a body that is being received', () => {
  it('is stopped at the deadline, and its sender is cut', async () => {
    using time = virtualTime();
    const { request, send, state } = trickle();
    const work = readBody(request, { maxBytes: 1000 });
    work.catch(() => undefined);
    for (let second = 0; second < 9; second++) {
      send(1);
      expect(await time.passUntil(work, 1_000)).toBe(false);
    }
    expect(await time.passUntil(work, 1_100)).toBe(true);
    await expect(work).rejects.toMatchObject({ code: 'body_timeout', status: 408, retryable: true });
    expect(state.cancelled).toBe(true);
    expect(time.timers).toBe(0);
  });

  it('may take longer than the deadline while it keeps to the rate', async () => {
    using time = virtualTime();
    const { request, send, end } = trickle();
    receiveBy(createBodyIntake({ deadlineMs: 1_000, bytesPerSecond: 1_000 }), request, {});
    const work = readBody(request, { maxBytes: 100_000 });
    for (let second = 0; second < 20; second++) {
      send(1_000);
      expect(await time.passUntil(work, 900)).toBe(false);
    }
    end();
    expect(await time.passUntil(work, 10)).toBe(true);
    expect((await work).length).toBe(20_000);
    expect(time.timers).toBe(0);
  });

  it('is answered with 408 by a route, also by the one of MCP clients', async () => {
    using time = virtualTime();
    const serve = endpoint({ deadlineMs: 500 });
    const run = authorized();
    const mcp = trickle({
      url: 'http://127.0.0.1/mcp',
      headers: { 'authorization': `Bearer ${token}`, 'content-type': 'application/json' },
    });
    for (const { request, state } of [run, mcp]) {
      const answer = problemOf(serve(request));
      expect(await time.passUntil(answer, 600)).toBe(true);
      expect(await answer).toMatchObject({ status: 408, code: 'body_timeout' });
      expect(state.cancelled).toBe(true);
    }
  });

  it.each<[string, Partial<BodyLimits>, number, string, ConnectionInfo?]>([
    ['a tenant', { perTenant: 2 }, 429, 'tenant_bodies'],
    ['an address', { perAddress: 2 }, 429, 'address_bodies'],
    ['an address that the server of Hono passes', { perAddress: 2 }, 429, 'address_bodies', {
      incoming: { socket: { remoteAddress: '192.0.2.1' } },
    }],
    ['the endpoint', { total: 2 }, 503, 'instance_bodies'],
  ])(
    'counts against the limit of %s, until it is received or stopped',
    async (_name, limits, status, reason, passed) => {
      using time = virtualTime();
      const serve = endpoint({ ...limits, deadlineMs: 10_000 });
      const from = passed ?? { remoteAddr: { transport: 'tcp', hostname: '192.0.2.1', port: 50_000 } };
      const [first, second, third, fourth] = Array.from({ length: 4 }, authorized);
      const answers = [first, second].map((one) => problemOf(serve(one!.request, from)));
      await time.pass(2_000);
      const refused = serve(third!.request, from);
      expect(await time.passUntil(refused, 2_000)).toBe(true);
      expect((await refused).headers.get('retry-after')).toMatch(/^[12]$/);
      expect(await problemOf(refused)).toMatchObject({ status, retryable: true, details: { reason } });
      first!.end();
      expect(await answers[0]).toMatchObject({ status: 400 });
      const later = problemOf(serve(fourth!.request, from));
      fourth!.end();
      expect(await later).toMatchObject({ status: 400 });
      await time.pass(10_000);
      expect(await answers[1]).toMatchObject({ status: 408 });
    },
  );

  it('is stopped when all bodies together hold too much', async () => {
    using time = virtualTime();
    const serve = endpoint({ totalBytes: 1_000 });
    const [first, second] = [authorized(), authorized()];
    const answers = [first, second].map(({ request }) => problemOf(serve(request)));
    first.send(600);
    await time.pass(1);
    second.send(600);
    expect(await time.passUntil(answers[1]!, 100)).toBe(true);
    expect(await answers[1]).toMatchObject({ status: 503, details: { reason: 'instance_body_bytes' } });
    first.send(300);
    first.end();
    expect(await time.passUntil(answers[0]!, 100)).toBe(true);
    expect(await answers[0]).toMatchObject({ status: 400 });
  });

  it('is stopped when those of its tenant hold too much, and others are received', () => {
    const intake = createBodyIntake({ tenantBytes: 1_000 });
    const [first, second, other] = ['a', 'a', 'b'].map((tenant) => intake.enter({ tenant }));
    first?.take(600);
    expect(() => second?.take(600)).toThrow(
      expect.objectContaining({ code: 'rate_limited', details: { reason: 'tenant_body_bytes' } }),
    );
    other?.take(600);
    for (const left of [first, second]) left?.leave();
    expect(() => intake.enter({ tenant: 'a' }).take(1_000)).not.toThrow();
  });

  it.each([
    ['/v1/runs', false],
    ['/v1/agents/helper/chat', false],
    ['/v1/agents/helper/agui', false],
    ['/v1/runs/r/forks', false],
    ['/v1/blobs', false],
    ['/v1/runs/r/messages', true],
    ['/v1/runs/r/approvals/a', true],
  ])('may have more than 1 MiB where a route takes files, signed or not: %s', async (path, isRefused) => {
    const body = JSON.stringify({ text: 'x'.repeat(1_500_000) });
    const { authenticator, request } = await createSession();
    const signed = createHandler(testRuntime(scriptedModel(says('Hello'))), { authenticator });
    const [open, sealed] = await Promise.all([
      endpoint()(
        new Request(`http://127.0.0.1${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body,
        }),
      ),
      signed(await request({ url: `https://worker.example${path}`, body })),
    ]);
    expect([open.status === 413, sealed.status === 413]).toEqual([isRefused, isRefused]);
  });

  it('comes in pieces of any size, as long as they are not all tiny', async () => {
    const bytes = new Uint8Array(300_000).fill(65);
    const of = (size: number): Promise<Uint8Array> => {
      let at = 0;
      const stream = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (at >= bytes.length) return controller.close();
          controller.enqueue(bytes.slice(at, at += size));
        },
      });
      const request = new Request('http://127.0.0.1/', { method: 'POST', body: stream, duplex: 'half' } as RequestInit);
      receiveBy(createBodyIntake(), request, {});
      return readBody(request);
    };
    for (const size of [64, 90, 1_000, 65_536, 300_000]) expect(await of(size)).toEqual(bytes);
    for (const size of [1, 4, 30]) {
      await expect(of(size)).rejects.toMatchObject({ code: 'invalid_argument', details: { reason: 'body_in_pieces' } });
    }
  });

  it('is not read, and its sender is cut, when the request is not authenticated', async () => {
    const { request, state } = trickle({ headers: { 'content-type': 'application/json' } });
    expect((await endpoint()(request)).status).toBe(401);
    expect(state.cancelled).toBe(true);
  });

  it('is not read before the signature over the headers is right', async () => {
    const { authenticator, request } = await createSession();
    const { url, headers } = await request();
    const forged = new Headers(headers);
    forged.set('content-digest', 'sha-256=:AAAA:');
    const wrong = trickle({ url, headers: forged });
    await expect(authenticator.authenticate(wrong.request)).rejects.toMatchObject({ code: 'signature_invalid' });
    const right = trickle({ url, headers });
    const work = authenticator.authenticate(right.request);
    right.send(new TextEncoder().encode('{"agentId":"helper"}'));
    right.end();
    expect(await work).toMatchObject({ tenant: 'tenant-1' });
  });
});
