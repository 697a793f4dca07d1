import { afterEach, describe, expect, it, vi } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { modelSource } from '../../../adapters/models/source.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createAuthenticator } from '../../../adapters/transport/authenticator.ts';
import { bearerAuthenticator, digestOfToken } from '../../../adapters/transport/bearer-authenticator.ts';
import { authenticateByScheme } from '../../../adapters/transport/by-scheme.ts';
import { createClient } from '../../../adapters/transport/client.ts';
import { connectRuntime, exposeRuntime } from '../../../adapters/transport/comlink.ts';
import { developmentAuthenticator } from '../../../adapters/transport/development-authenticator.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import { createIssuer } from '../../../adapters/transport/issuer.ts';
import { jwtAuthenticator } from '../../../adapters/transport/jwt-authenticator.ts';
import { createRuntime } from '../../../src/index.ts';
import { readAll } from '../../fixtures/runtime.ts';
import { expectMistakes, untyped } from './expect-mistakes.ts';

const runtime = () =>
  createRuntime({
    catalog: staticCatalog({ agents: [], providers: [] }),
    models: modelSource(),
    storage: memoryStorage(),
  });
const token = { digest: 'a'.repeat(64), tenant: 't1', subject: 's1', agents: '*', scopes: ['run:create'] } as const;
const authenticator = () => bearerAuthenticator({ tokens: [token] });
const handlerWith = (options: object) => () =>
  createHandler(runtime(), untyped({ authenticator: authenticator(), ...options }));
const handler = 'Cannot create the handler';
const anAuthenticator = 'pass an authenticator, such as bearerAuthenticator({ tokens })';

expectMistakes('createHandler', [
  [
    'no runtime',
    () => createHandler(untyped(undefined), untyped({})),
    `${handler}: "runtime" is missing; pass what createRuntime returns, then { authenticator }`,
  ],
  [
    'a runtime alone',
    () => createHandler(runtime(), untyped(undefined)),
    `${handler}: "options" is missing; pass { authenticator } after the runtime`,
  ],
  [
    'one object',
    () => createHandler(untyped({ runtime: runtime(), authenticator: authenticator() }), untyped(undefined)),
    `${handler}: "runtime" is an object; pass what createRuntime returns, then { authenticator }`,
  ],
  [
    'no authenticator',
    handlerWith({ authenticator: undefined }),
    `${handler}: "authenticator" is missing; ${anAuthenticator}`,
  ],
  [
    'a function as authenticator',
    handlerWith({ authenticator }),
    `${handler}: "authenticator" is a function; ${anAuthenticator}`,
  ],
  [
    'one origin',
    handlerWith({ origins: '*' }),
    `${handler}: "origins" is a string; pass an array of origins, such as ["https://app.example.com"]`,
  ],
  [
    'every origin',
    handlerWith({ origins: ['*'] }),
    `${handler}: "*" is no origin; list each, such as "https://app.example.com"`,
  ],
  [
    'an origin with a path',
    handlerWith({ origins: ['https://a.example/'] }),
    `${handler}: "https://a.example/" is no origin; list each, such as "https://app.example.com"`,
  ],
  [
    'a relative base path',
    handlerWith({ basePath: 'agents' }),
    `${handler}: "basePath" must start with "/", as "/agents"`,
  ],
]);

const tokenWith = (parts: object) => () => bearerAuthenticator(untyped({ tokens: [{ ...token, ...parts }] }));
const byToken = 'Cannot authenticate by token 0';
const noToken =
  'Cannot make the digest of the token: it must be a text of 1 to 512 visible ASCII characters without spaces, and without "Bearer"';
const known = 'run:create, run:read, run:cancel, tool:approve, registry:read, registry:write, grounding:read, admin';

expectMistakes('bearerAuthenticator', [
  [
    'no options',
    () => bearerAuthenticator(untyped(undefined)),
    'Cannot authenticate by tokens: the options are missing; pass { tokens }',
  ],
  [
    'an array',
    () => bearerAuthenticator(untyped([token])),
    'Cannot authenticate by tokens: "tokens" is missing; pass an array of { digest, tenant, subject, agents, scopes }',
  ],
  [
    'a bare token',
    () => bearerAuthenticator(untyped({ tokens: ['s3cret'] })),
    `${byToken}: the options are a string; pass { digest, tenant, subject, scopes }`,
  ],
  [
    'a promised digest',
    tokenWith({ digest: digestOfToken('x') }),
    `${byToken}: "digest" is a promise, so await it; pass the result of "await digestOfToken(token)", not the token itself`,
  ],
  ['an unknown scope', tokenWith({ scopes: ['run'] }), `${byToken}: there is no scope "run"; there are ${known}`],
  ['no tenant', tokenWith({ tenant: undefined }), `${byToken}: "tenant" is missing; pass the id of the tenant`],
  ['one agent', tokenWith({ agents: 'helper' }), `${byToken}: "agents" must be "*" or an array of ids`],
  ['an empty token', () => digestOfToken(''), noToken],
  ['a whole header', () => digestOfToken('Bearer x'), noToken],
]);

const trust = { issuers: [], audience: 'a', authorities: ['a.example'], storage: memoryStorage() };
const jwtWith = (parts: object) => () =>
  jwtAuthenticator(
    untyped({ issuer: 'https://a.example', audience: 'https://b.example', principalOf: () => undefined, ...parts }),
  );
const byJwt = 'Cannot authenticate by access tokens';

expectMistakes('authenticators', [
  [
    'no token of development',
    () => developmentAuthenticator(untyped({})),
    'Cannot authenticate a developer: "token" is missing; pass a token of 16 characters or more',
  ],
  [
    'a list of schemes',
    () => authenticateByScheme(untyped([authenticator()])),
    'Cannot authenticate by scheme: "schemes" is an array; pass authenticators by scheme, such as { Bearer: … }',
  ],
  [
    'a scheme that is a function',
    () => authenticateByScheme(untyped({ Bearer: authenticator })),
    'Cannot authenticate by scheme: "Bearer" is a function; pass an authenticator',
  ],
  [
    'no issuers',
    () => createAuthenticator(untyped({})),
    'Cannot authenticate signed requests: "issuers" is missing; pass an array, such as [issuer.trusted]',
  ],
  [
    'an issuer with its private key',
    async () => createAuthenticator({ ...trust, issuers: [untyped(await createIssuer({ iss: 'i', audience: 'a' }))] }),
    'Cannot trust the root keys: an issuer is { iss, keys }; pass "issuer.trusted", or what `pinnace keys` prints',
  ],
  ...['https://agents.example', 'agents.example/', ' agents.example'].map((authority) =>
    [
      `${JSON.stringify(authority)} as authority`,
      () => createAuthenticator({ ...trust, authorities: [authority] }),
      'Cannot authenticate signed requests: "authorities" takes hosts, such as "agents.example.com" or "localhost:8000", ' +
      `not ${JSON.stringify(authority)}`,
    ] as const
  ),
  ['jwksUri', jwtWith({ jwksUri: 'x' }), `${byJwt}: "keys" is missing, but "jwksUri" is given; rename it to "keys"`],
  ['keys that are none', jwtWith({ keys: {} }), `${byJwt}: "keys" must be a URL or { keys: [ … ] }`],
  [
    'an issuer without a name',
    () => createIssuer(untyped({ issuer: 'x' })),
    'Cannot create the issuer: "iss" is missing, but "issuer" is given; rename it to "iss"',
  ],
  [
    'a certificate with an unknown scope',
    async () =>
      await (await createIssuer({ iss: 'i', audience: 'a' })).issue(
        untyped({ sub: 's', tenant: 't', agents: '*', scopes: ['run'] }),
      ),
    `Cannot issue a certificate: there is no scope "run"; there are ${known}`,
  ],
]);

const clientWith = (parts: object) => () => createClient(untyped({ url: 'https://a.example', ...parts }));
const client = 'Cannot create the client';

expectMistakes('createClient', [
  ['no options', () => createClient(untyped(undefined)), `${client}: the options are missing; pass { url }`],
  [
    'baseUrl',
    () => createClient(untyped({ baseUrl: 'https://a.example' })),
    `${client}: "url" is missing, but "baseUrl" is given; rename it to "url"`,
  ],
  [
    'no credentials',
    clientWith({}),
    `${client}: pass "credentials", { bearer: token }, { cookies: true } or { certificate, key }`,
  ],
  [
    'the credentials of fetch',
    clientWith({ credentials: 'include' }),
    `${client}: "credentials" is a string; pass { bearer: token }, { cookies: true } or { certificate, key }`,
  ],
  [
    'a token by another name',
    clientWith({ credentials: { token: 'x' } }),
    `${client}: "bearer" is missing, but "token" is given; rename it to "bearer"`,
  ],
  [
    'no token',
    clientWith({ credentials: { bearer: undefined } }),
    `${client}: "bearer" is missing; pass a token, or a function that returns one`,
  ],
  [
    'a whole header',
    clientWith({ credentials: { bearer: 'Bearer x' } }),
    `${client}: "bearer" must be visible ASCII characters without spaces, and without "Bearer"`,
  ],
]);

const answering = (response: () => Response) => () =>
  createClient({
    url: 'https://a.example',
    credentials: { bearer: 't' },
    fetch: () => Promise.resolve(response()),
    attempts: 1,
    wait: () => Promise.resolve(),
  }).run({
    agentId: 'helper',
    chat: { id: 'c', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'x' }] }] },
  });
const page = () => new Response('<html>', { headers: { 'content-type': 'text/html' } });
const lost = (): Response => {
  throw new TypeError('fetch failed');
};

expectMistakes('the address of a client', [
  [
    'a server of pages',
    async () => await readAll(await answering(page)()),
    'Cannot read the answer of the endpoint: it is no event stream; check that "url" is its address',
  ],
  [
    'a redirect',
    answering(() => new Response(null, { status: 308, headers: { location: 'https://b.example/' } })),
    'The endpoint answered 308; check that "url" is its address',
  ],
], 'internal');

expectMistakes('the address of a client', [
  [
    'a page that is not there',
    answering(() => new Response('<html>', { status: 404 })),
    'The endpoint answered 404; check that "url" is its address',
  ],
], 'not_found');

expectMistakes('the address of a client', [
  [
    'an endpoint that does not run',
    answering(lost),
    'Cannot reach https://a.example: check its address, and that it runs',
  ],
], 'unavailable');

describe('a client in a page', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('names the origin that the endpoint must allow', async () => {
    vi.stubGlobal('location', new URL('http://localhost:5174/chat'));
    await expect(answering(lost)()).rejects.toThrow(
      'Cannot reach https://a.example: check its address, and that it runs, and that its "origins" list ' +
        '"http://localhost:5174"',
    );
  });
});

expectMistakes('a token that is asked for', [
  [
    'none',
    () =>
      createClient({ url: 'https://a.example', credentials: { bearer: untyped(async () => undefined) } }).status('r'),
    'Cannot send the request: "bearer" returned no token',
  ],
]);

const port = (): MessagePort => {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  return port1;
};

expectMistakes('the worker', [
  [
    'no worker',
    () => connectRuntime(untyped(undefined)),
    'Cannot connect to the runtime: pass a Worker, SharedWorker or MessagePort',
  ],
  [
    'the address of a worker',
    () => connectRuntime(untyped('/worker.js')),
    'Cannot connect to the runtime: pass a Worker, SharedWorker or MessagePort',
  ],
  [
    'a promised runtime',
    () => exposeRuntime(untyped(Promise.resolve(runtime())), port()),
    'Cannot expose the runtime: "runtime" is a promise, so await it; pass what createRuntime or createBrowserRuntime returns',
  ],
]);

describe('probes at usual paths', () => {
  it.each([
    ['/runs', 'Nothing is served at this path: use POST /v1/runs'],
    ['/v1/v1/runs', 'Nothing is served at this path: the address of an endpoint ends before "/v1"'],
    ['/api/chat', 'Nothing is served at this path: use POST /v1/agents/<id>/chat'],
    ['/v1/chat/completions', 'Nothing is served at this path: use POST /v1/agents/<id>/chat'],
    ['/metrics', 'Nothing is served at this path: use GET /v1/metrics'],
    ['/healthz', 'Nothing is served at this path: use GET /v1/healthz'],
    ['/health', 'Nothing is served at this path: use GET /v1/healthz'],
    ['/v1/health', 'Nothing is served at this path: use GET /v1/healthz'],
    ['/ready', 'Nothing is served at this path: use GET /v1/readyz'],
    ['/else', 'Nothing is served at this path'],
  ])('learn at %s what to use', async (path, detail) => {
    const response = await handlerWith({})()(new Request(`https://a.example${path}`));
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'not_found', detail });
  });

  it('learn at the address of runs where messages of useChat go', async () => {
    const headers = { authorization: 'Bearer s3cret', 'content-type': 'application/json' };
    const request = new Request('https://a.example/v1/runs', { method: 'POST', headers, body: '{"messages":[]}' });
    const tokens = [{ ...token, digest: await digestOfToken('s3cret') }];
    const response = await handlerWith({ authenticator: bearerAuthenticator({ tokens }) })()(request);
    expect(await response.json()).toMatchObject({
      code: 'idempotency_key_missing',
      detail:
        'Cannot start: send a header such as Idempotency-Key: "turn-17-of-chat-c1", or use POST /v1/agents/<id>/chat for useChat',
    });
  });

  it('find it there', async () => {
    const response = await handlerWith({})()(new Request('https://a.example/v1/healthz'));
    expect(response.status).toBe(200);
  });
});

describe('schemes', () => {
  it('are found whatever their case', async () => {
    const digest = await digestOfToken('s3cret');
    const schemes = authenticateByScheme({ bearer: bearerAuthenticator({ tokens: [{ ...token, digest }] }) });
    const request = new Request('https://a.example', { headers: { authorization: 'Bearer s3cret' } });
    expect(await schemes.authenticate(request)).toMatchObject({ subject: 's1' });
    const lower = new Request('https://a.example', { headers: { authorization: 'bearer s3cret' } });
    expect(await schemes.authenticate(lower)).toMatchObject({ subject: 's1' });
  });

  it('that the endpoint does not know are refused with those that it knows', async () => {
    const schemes = authenticateByScheme({ Bearer: authenticator(), 'GC-Session': authenticator() });
    const request = new Request('https://a.example', { headers: { authorization: 'Basic YTpi' } });
    await expect(schemes.authenticate(request)).rejects.toMatchObject({
      code: 'authentication_required',
      message: 'Send an Authorization header with the scheme Bearer or GC-Session',
    });
  });
});
