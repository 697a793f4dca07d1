import { DefaultChatTransport } from 'ai';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { developmentAuthenticator } from '../../../../adapters/transport/development-authenticator.ts';
import { createHandler, type Handler } from '../../../../adapters/transport/http.ts';
import { defineTool, type ObservedEvent, type OnError, type UIMessage } from '../../../../src/index.ts';
import { says, scriptedModel, stallingStream } from '../../../fixtures/model.ts';
import { readAll, runRequest, terminalChunks, testRuntime, textOf, userMessage } from '../../../fixtures/runtime.ts';

const token = 'a-token-for-tests-only';
const authenticator = developmentAuthenticator({ token });

function handler(options: { model?: ReturnType<typeof scriptedModel>; keepAliveMs?: number } = {}): Handler {
  const { model } = options.model ?? scriptedModel(says('Hel', 'lo'));
  const { keepAliveMs } = options;
  return createHandler(testRuntime({ model }), { authenticator, ...(keepAliveMs !== undefined && { keepAliveMs }) });
}

function post(
  body: BodyInit | object = runRequest(),
  headers: Record<string, string> = {},
  url = 'http://127.0.0.1/v1/runs',
) {
  return new Request(url, {
    method: 'POST',
    body: typeof body === 'object' && Object.getPrototypeOf(body) === Object.prototype
      ? JSON.stringify(body)
      : body as BodyInit,
    headers: {
      'authorization': `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': `"${crypto.randomUUID()}"`,
      ...headers,
    },
  });
}

describe('POST /v1/runs', () => {
  it.each([{ 'content-encoding': 'identity' }, { authorization: `Bearer  ${token}` }])(
    'takes a header that says the same in other words: %o',
    async (headers) => {
      expect((await handler()(post(runRequest(), headers))).status).toBe(200);
    },
  );

  it('stops the run some time after the client has left', async () => {
    const model = scriptedModel(() => stallingStream(says('Hel').slice(0, 3)));
    const response = await createHandler(testRuntime({ model: model.model, limits: { detachGraceMs: 1 } }), {
      authenticator,
    })(post());
    const reader = response.body!.getReader();
    for (let text = ''; !text.includes('Hel');) text += new TextDecoder().decode((await reader.read()).value);
    const stopped = new Promise((resolve) => model.calls[0]?.abortSignal?.addEventListener('abort', resolve));
    await reader.cancel();
    await stopped;
    expect(model.calls[0]?.abortSignal?.aborted).toBe(true);
  });

  it('keeps an idle stream alive with comments', async () => {
    const model = scriptedModel(() => stallingStream([]));
    const response = await handler({ model, keepAliveMs: 5 })(post());
    const reader = response.body!.getReader();
    let text = '';
    while (!text.includes(': keep-alive\n\n')) text += new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    expect(text).toContain('"type":"start"');
  });
});

describe("the AI SDK's own chat transport", () => {
  const transport = (serve: Handler) =>
    new DefaultChatTransport<UIMessage>({
      api: 'http://127.0.0.1/v1/runs',
      headers: { 'authorization': `Bearer ${token}`, 'idempotency-key': `"${crypto.randomUUID()}"` },
      prepareSendMessagesRequest: ({ id, messages }) => ({ body: { agentId: 'helper', chat: { id, messages } } }),
      prepareReconnectToStreamRequest: ({ id }) => ({ api: `http://127.0.0.1/v1/chats/${id}/stream` }),
      fetch: (input, init) => serve(new Request(input, init)),
    });
  const turn = {
    trigger: 'submit-message' as const,
    chatId: 'c1',
    messageId: undefined,
    messages: [userMessage('Hi')],
    abortSignal: undefined,
  };

  it('reads a run as it is', async () => {
    const chunks = await readAll(await transport(handler()).sendMessages(turn));
    expect(textOf(chunks)).toBe('Hello');
    expect(terminalChunks(chunks)).toHaveLength(1);
  });
});

describe('a problem answer', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  it.each<[string, Request, number, string]>([
    ['malformed JSON', post('{"agentId": '), 400, 'invalid_argument'],
    ['an unknown agent', post({ ...runRequest(), agentId: 'nobody' }), 404, 'not_found'],
    ['JSON nested 100,000 deep', post(deep), 400, 'invalid_argument'],
    ['a body of 17 MB', post('x'.repeat(17_000_000)), 413, 'body_too_large'],
    ['bytes that are no UTF-8', post(new Uint8Array([0x22, 0xff, 0x22])), 400, 'invalid_argument'],
    ['half a surrogate pair', post('{"agentId":"\\ud800"}'), 400, 'invalid_argument'],
    ['a reserved key', post('{"agentId":"helper","chat":{"__proto__":{}}}'), 400, 'invalid_argument'],
    ['a key twice', post('{"agentId":"helper","agentId":"nobody"}'), 400, 'invalid_argument'],
    ['JSON of 20 MB', post(`{"agentId":"${'x'.repeat(20_000_000)}"}`), 413, 'body_too_large'],
    ['a number out of range', post('{"agentId":1e400}'), 400, 'invalid_argument'],
    ['an empty body', post(''), 400, 'invalid_argument'],
    ['another content type', post('a=1', { 'content-type': 'text/plain' }), 415, 'content_type_not_supported'],
    ['an encoded body', post(runRequest(), { 'content-encoding': 'gzip' }), 415, 'content_encoding_not_allowed'],
    ['an unknown path', new Request('http://127.0.0.1/v2/x'), 404, 'not_found'],
    ['another method', new Request('http://127.0.0.1/v1/runs'), 405, 'method_not_allowed'],
    ['no token', post(runRequest(), { authorization: '' }), 401, 'authentication_required'],
    ['a wrong token', post(runRequest(), { authorization: 'Bearer wrong' }), 401, 'token_invalid'],
    [
      'a host name that is not loopback',
      post(runRequest(), {}, 'http://pinnace.example/v1/runs'),
      421,
      'misdirected_request',
    ],
  ])('says what is wrong with %s and repeats nothing of it', async (_name, request, status, code) => {
    const response = await handler()(request);
    const text = await response.text();
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(JSON.parse(text)).toMatchObject({
      type: `urn:pinnace:problem:${code}`,
      code,
      status,
      details: { reason: expect.stringMatching(/^[a-z_]+$/) },
    });
    expect(text).not.toMatch(/nobody|stack|\bat \//);
  });

  it('hides the text of an unexpected error', async () => {
    const runtime = {
      ...testRuntime(scriptedModel()),
      start: () => Promise.reject(new Error('sk-SECRET at /srv/app.ts')),
    };
    const response = await createHandler(runtime, { authenticator })(post());
    expect(response.status).toBe(500);
    expect(await response.text()).not.toMatch(/SECRET|srv/);
  });
});

describe('createHandler', () => {
  it('refuses to be made without an authenticator', () => {
    const options = {} as unknown as Parameters<typeof createHandler>[1];
    expect(() => createHandler(testRuntime(scriptedModel()), options)).toThrow('"authenticator" is missing');
  });

  it('answers the health check without a token and nothing else', async () => {
    const serve = handler();
    expect((await serve(new Request('http://127.0.0.1/v1/healthz'))).status).toBe(200);
    expect((await serve(new Request('http://127.0.0.1/v1/agents/helper/manifest'))).status).toBe(401);
  });

  it('serves the manifest of an agent page by page', async () => {
    const tools = ['a', 'b', 'c'].map((id) =>
      defineTool({ id, description: id, input: v.object({}), execute: () => id })
    );
    const serve = createHandler(testRuntime({ ...scriptedModel(), tools }), { authenticator });
    const get = async (query: string) => {
      const url = `http://127.0.0.1/v1/agents/helper/manifest?${query}`;
      return (await serve(new Request(url, { headers: { authorization: `Bearer ${token}` } }))).json();
    };
    const first = await get('limit=2');
    expect(first.tools).toEqual([{ id: 'a' }, { id: 'b' }]);
    expect(await get(`limit=2&pageToken=${first.nextPageToken}`)).toEqual({
      agentId: 'helper',
      digest: first.digest,
      tools: [{ id: 'c' }],
      trust: 'open',
      flows: [{ id: 'c', acts: true, reads: 'trusted', sends: 'public' }],
    });
    for (const bad of ['limit=0', 'limit=x', 'limit=1001', 'pageToken=another.2', 'pageToken=%00']) {
      expect(await get(bad)).toMatchObject({ code: 'invalid_argument' });
    }
  });
});

describe('a page that calls the endpoint', () => {
  const preflight = (origin: string) =>
    new Request('http://127.0.0.1/v1/runs', {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
    });

  // A browser lets no script make a preflight by hand.
  it.skipIf('document' in globalThis)('is let in from the origins that are named, and from no other', async () => {
    const { model } = scriptedModel(says('hi'));
    const serve = createHandler(testRuntime({ model }), { authenticator, origins: ['https://app.example'] });
    const allowed = await serve(preflight('https://app.example'));
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(allowed.headers.get('access-control-allow-headers')).toContain('authorization');
    expect((await serve(preflight('https://evil.example'))).headers.get('access-control-allow-origin')).toBeNull();
    expect((await handler()(preflight('https://app.example'))).headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('developmentAuthenticator', () => {
  it('refuses a token that is short enough to guess', () => {
    expect(() => developmentAuthenticator({ token: 'short' })).toThrow(
      expect.objectContaining({ code: 'invalid_argument' }),
    );
  });
});

function endpoint(): { readonly serve: Handler; readonly events: readonly ObservedEvent[] } {
  const { sink, events } = memorySink();
  const runtime = testRuntime({ model: scriptedModel(says('Hi')).model, sinks: [sink] });
  const origins = ['https://app.example'];
  return { serve: createHandler(runtime, { authenticator: developmentAuthenticator({ token }), origins }), events };
}

function ask(path: string, { body, ...headers }: Record<string, string> & { body?: string } = {}): Request {
  return new Request(`http://127.0.0.1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'authorization': `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': `"${crypto.randomUUID()}"`,
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
}

describe('the trace of a request', () => {
  it('can be read by a page of a listed origin', async () => {
    const { serve } = endpoint();
    const response = await serve(ask('/v1/healthz', { origin: 'https://app.example' }));
    expect(response.headers.get('access-control-expose-headers')).toContain('x-trace-id');
  });
});

function recorder() {
  const reports: [unknown, Parameters<OnError>[1]][] = [];
  const onError: OnError = (cause, context) => void reports.push([cause, context]);
  return { reports, onError };
}

describe('an endpoint', () => {
  it('reports the cause of a response of 500, which does not contain it', async () => {
    const { reports, onError } = recorder();
    const cause = new TypeError('canary-7f21');
    const runtime = testRuntime({ ...scriptedModel(says('ok')), onError });
    const broken = { ...runtime, start: () => Promise.reject(cause) };
    const failing = createHandler(broken, { authenticator: developmentAuthenticator({ token }) });
    const response = await failing(
      new Request('http://127.0.0.1/v1/runs', {
        method: 'POST',
        body: JSON.stringify(runRequest()),
        headers: {
          'authorization': `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': `"${crypto.randomUUID()}"`,
        },
      }),
    );
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('canary');
    expect(reports).toEqual([
      [cause, { kind: 'http', id: 'POST /v1/runs', traceId: response.headers.get('x-trace-id') }],
    ]);
  });
});
