import { describe, expect, it } from 'vitest';
import { readChallenge } from '../../../adapters/mcp/oauth.ts';
import {
  createOAuthPeer,
  issuer,
  mcpOrigin,
  person,
  redirectUri,
  serverMetadata,
  signInWorld,
  type SignInWorldOptions,
} from '../../fixtures/mcp/oauth-peer.ts';
import { lastData } from '../../fixtures/runtime.ts';

const admin = person('ann', { deployment: true });

/** A server that registers clients by number, and knows those of them that it was not told to forget. */
function forgetful(): SignInWorldOptions & { readonly forget: () => void } {
  let made = 0;
  let oldest = 1;
  return {
    forget: () => void (oldest = made + 1),
    async first(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/register') {
        const metadata = await request.json() as object;
        return Response.json({ ...metadata, client_id: `client-${++made}` }, { status: 201 });
      }
      if (pathname !== '/token') return undefined;
      const client = new URLSearchParams(await request.clone().text()).get('client_id') ?? '';
      if (Number(client.slice('client-'.length)) >= oldest) return undefined;
      return Response.json({ error: 'invalid_client' }, { status: 401 });
    },
  };
}

/** A world with another answer at some addresses. */
function answering(part: string, answer: () => Response): SignInWorldOptions {
  return { first: ({ url }) => url.includes(part) ? answer() : undefined };
}

async function clientOf(world: Awaited<ReturnType<typeof signInWorld>>, who = person()): Promise<string | null> {
  const { url } = await world.runtime.mcpSignIns.start('docs', { redirectUri }, who);
  return new URL(url).searchParams.get('client_id');
}

describe('an issuer', () => {
  it.each<[string, SignInWorldOptions]>([
    ['the server writes it with one', { resource: { authorization_servers: [`${issuer}/`] } }],
    ['the record has one', { auth: { issuer: `${issuer}/` } }],
    [
      'both servers write it with one',
      {
        server: { issuer: `${issuer}/` },
        resource: { authorization_servers: [`${issuer}/`] },
        iss: `${issuer}/`,
      },
    ],
    [
      'the record and the server do, and the authorization server does not',
      { auth: { issuer: `${issuer}/` }, resource: { authorization_servers: [`${issuer}/`] } },
    ],
  ])('without a path is the same with and without a slash, where %s', async (_, options) => {
    const world = await signInWorld(options);
    await world.prepare();
    expect(lastData(await world.run(), 'data-run')).toBeDefined();
    expect(world.oauth.tokenRequests).toHaveLength(1);
  });

  it.each([`${issuer}/tenant/`, `${issuer}//`, 'https://login.example.com:8443/', 'http://login.example.com/'])(
    'is another one at %s',
    async (other) => {
      const { runtime } = await signInWorld({ resource: { authorization_servers: [other] } });
      await expect(runtime.validateMcpServer('docs', {}, admin)).rejects.toMatchObject({
        details: { reason: 'mcp_issuer_unlisted' },
      });
    },
  );

  it('in an answer is the one of the metadata, to the last character', async () => {
    for (const [named, iss] of [[issuer, `${issuer}/`], [`${issuer}/`, issuer]] as const) {
      const world = await signInWorld({
        server: { issuer: named },
        resource: { authorization_servers: [named] },
        iss,
      });
      await world.approve();
      await expect(world.signIn()).rejects.toMatchObject({ details: { reason: 'mcp_issuer_mismatch' } });
      expect(world.oauth.tokenRequests).toEqual([]);
    }
  });

  it('may list what it supports in another order each time', async () => {
    let turn = 0;
    const scopes = ['read', 'write', 'admin'];
    const facts = { resource: `${mcpOrigin}/mcp`, authorization_servers: [issuer] };
    const world = await signInWorld(answering('oauth-protected-resource', () => {
      const scopes_supported = turn++ % 2 === 0 ? scopes : scopes.toReversed();
      return Response.json({ ...facts, scopes_supported });
    }));
    await world.prepare();
    expect(turn).toBeGreaterThan(2);
  });
});

describe('a client that the authorization server has forgotten', () => {
  it('is registered again after a revocation, and other callers keep the grants of a client that is still known', async () => {
    const options = forgetful();
    const world = await signInWorld(options);
    await world.prepare();
    await world.signIn(person('bob'));
    expect(await clientOf(world)).toBe('client-1');
    await world.runtime.mcpSignIns.revoke('docs', person());
    await world.signIn();
    expect(await clientOf(world)).toBe('client-2');
    expect((await world.run({}, person('bob'))).some(({ type }) => type === 'tool-output-available')).toBe(true);
  });

  it('is registered again when a code cannot be exchanged, when no sign-in finishes within ten minutes, and once for an interruption', async () => {
    let now = Date.now();
    const options = forgetful();
    const world = await signInWorld({ ...options, now: () => now });
    await world.prepare();
    options.forget();
    await expect(world.signIn()).rejects.toMatchObject({ details: { oauthError: 'invalid_client' } });
    await world.signIn();
    expect(await clientOf(world)).toBe('client-2');
    expect(await clientOf(world)).toBe('client-2');
    now += 600_001;
    expect(await clientOf(world)).toBe('client-3');
  });

  it('asks for a sign-in when a refresh says so, and the sign-in registers another', async () => {
    let now = Date.now();
    const options = forgetful();
    const world = await signInWorld({ ...options, now: () => now });
    await world.prepare();
    options.forget();
    now += 3_590_000;
    expect(lastData(await world.run(), 'data-interruption')).toMatchObject({ kind: 'sign_in' });
    await world.signIn();
    expect(await clientOf(world)).toBe('client-2');
  });
});

describe('a refresh', () => {
  it('sends the scope that was granted, and none to a server that refuses it', async () => {
    for (const refuses of [false, true]) {
      let now = Date.now();
      const world = await signInWorld({
        now: () => now,
        async first(request) {
          if (!refuses || new URL(request.url).pathname !== '/token') return undefined;
          const form = new URLSearchParams(await request.clone().text());
          if (!form.has('refresh_token') || !form.has('scope')) return undefined;
          return Response.json({ error: 'invalid_scope' }, { status: 400 });
        },
      });
      await world.prepare();
      now += 3_590_000;
      expect((await world.run()).some(({ type }) => type === 'tool-output-available')).toBe(true);
      expect(world.oauth.tokenRequests.at(-1)?.get('scope')).toBe(refuses ? null : 'read');
    }
  });

  it.each(['invalid_request', 'unauthorized_client', 'invalid_target'])(
    'that is refused with %s asks for a sign-in',
    async (error) => {
      let now = Date.now();
      const world = await signInWorld({
        now: () => now,
        async first(request) {
          const form = new URLSearchParams(request.method === 'POST' ? await request.clone().text() : '');
          return form.has('refresh_token') ? Response.json({ error }, { status: 400 }) : undefined;
        },
      });
      await world.prepare();
      now += 3_590_000;
      expect(lastData(await world.run(), 'data-interruption')).toMatchObject({ kind: 'sign_in' });
    },
  );
});

describe('a registration', () => {
  it('may answer null for what it does not say', async () => {
    const world = await signInWorld({
      async first(request) {
        if (new URL(request.url).pathname !== '/register') return undefined;
        const nothing = {
          client_uri: null,
          logo_uri: null,
          contacts: null,
          jwks: null,
          client_secret: null,
          scope: null,
        };
        return Response.json({ ...await request.json() as object, ...nothing, client_id: 'one' }, { status: 201 });
      },
    });
    await world.prepare();
    expect(world.oauth.tokenRequests[0]?.get('client_id')).toBe('one');
  });

  it.each([[400, false], [401, false], [403, false], [404, false], [429, true], [503, true]])(
    'that is refused with %d names the remedy and the status',
    async (status, retryable) => {
      const world = await signInWorld({
        first: ({ url }) => url.endsWith('/register') ? new Response('Forbidden', { status }) : undefined,
      });
      await world.approve();
      await expect(world.runtime.mcpSignIns.start('docs', { redirectUri }, person())).rejects.toMatchObject({
        code: 'unavailable',
        details: { reason: 'mcp_no_client', status },
        message: expect.stringContaining('"auth.client"'),
        retryable,
      });
    },
  );
});

describe('an authorization server that is not exact', () => {
  const registers = (client: object) => answering('/register', () => Response.json(client, { status: 201 }));
  const bytes = new Blob([JSON.stringify(serverMetadata)], { type: 'application/octet-stream' });

  it.each<[string, SignInWorldOptions]>([
    ['says the id of a client alone', registers({ client_id: 'registered' })],
    [
      'writes times as texts, and no secret as an empty one',
      registers({ client_id: 'registered', client_id_issued_at: '1760000000', client_secret: '' }),
    ],
    ['leaves out what only identities need', { server: { response_types_supported: undefined } }],
    ['protects a resource with a slash', { resource: { resource: `${mcpOrigin}/mcp/` } }],
    ['calls metadata bytes', answering('oauth-authorization-server', () => new Response(bytes))],
    ['is wrong in what nothing reads', {
      resource: { jwks_uri: '', scopes_supported: 'read', tls_client_certificate_bound_access_tokens: 'false' },
      server: {
        service_documentation: '',
        revocation_endpoint: '',
        code_challenge_methods_supported: 'S256',
        client_id_metadata_document_supported: 'false',
      },
    }],
    ['registers with empty texts and other types', {
      async first(request) {
        if (!request.url.endsWith('/register')) return undefined;
        const empty = { client_uri: '', logo_uri: '/logo', contacts: '', grant_types: 'code', scope: ['read'] };
        const secret = { client_secret: 's', client_secret_expires_at: '0' };
        return Response.json({ ...await request.json() as object, ...empty, ...secret, client_id: 12 });
      },
    }],
  ])('is read where it %s', async (_, options) => {
    const world = await signInWorld(options);
    await world.prepare();
    expect(lastData(await world.run(), 'data-run')).toMatchObject({ state: 'completed' });
  });

  it('may add parameters to its answer', async () => {
    const world = await signInWorld();
    await world.approve();
    const { url } = await world.runtime.mcpSignIns.start('docs', { redirectUri }, person());
    const callback = { ...await world.oauth.consent(url), scope: 'read', session_state: 'x' };
    await world.runtime.mcpSignIns.finish(callback, person());
    expect(world.oauth.tokenRequests).toHaveLength(1);
  });
});

describe('tokens', () => {
  const tokens = {
    access_token: 'access-1-0123456789',
    refresh_token: 'refresh-1',
    token_type: 'Bearer',
    expires_in: 3600,
  };
  /** A world whose token endpoint answers so, first of all or to a refresh, and whose server takes the token. */
  async function worldOf(answer: (form: URLSearchParams) => Response | undefined) {
    let now = Date.now();
    const options: SignInWorldOptions = {
      async first(request) {
        if (new URL(request.url).pathname !== '/token') return undefined;
        return answer(new URLSearchParams(await request.clone().text())) ?? Response.json(tokens);
      },
    };
    const oauth = createOAuthPeer(options);
    oauth.valid.add(tokens.access_token);
    return { world: await signInWorld({ ...options, oauth, now: () => now }), pass: () => (now += 3_590_000) };
  }

  it.each<[string, Response]>([
    ['in words of a form', new Response(new URLSearchParams({ ...tokens, expires_in: '3600' }))],
    ['without a type', Response.json({ ...tokens, token_type: '' })],
    ['that never expire', Response.json({ ...tokens, expires_in: 'never' })],
    ['that never expire, as 0 says', Response.json({ ...tokens, expires_in: 0, refresh_token: '' })],
    ['with an identity that is no text', Response.json({ ...tokens, id_token: {}, scope: 1 })],
  ])('are taken %s', async (_, answer) => {
    const { world } = await worldOf(() => answer.clone());
    await world.prepare();
    expect((await world.run()).some(({ type }) => type === 'tool-output-available')).toBe(true);
  });

  it.each<[string, Response]>([
    ['an error with facts that are null', Response.json({ error: 'invalid_grant', error_uri: null }, { status: 400 })],
    ['an error of its own', Response.json({ error: 'token_expired' }, { status: 401 })],
    ['an error in words of a form', new Response(new URLSearchParams({ error: 'invalid_grant' }), { status: 400 })],
    ['an error as an object', Response.json({ error: { code: 'invalid_grant' } }, { status: 400 })],
    ['an error in very deep lists', new Response(`{"error":${'['.repeat(20_000)}${']'.repeat(20_000)}}`)],
    ['an error under 200', Response.json({ error: 'bad_refresh_token' })],
    ['a page', new Response('<html>', { status: 403 })],
    ['nothing', new Response(null, { status: 404 })],
  ])('that are refused with %s are asked for again', async (_, answer) => {
    const { world, pass } = await worldOf((form) => form.has('refresh_token') ? answer.clone() : undefined);
    await world.prepare();
    pass();
    expect(lastData(await world.run(), 'data-interruption')).toMatchObject({ kind: 'sign_in' });
  });

  it.each([[408, {}], [429, {}], [500, { error: 'oops' }], [503, {}]])(
    'that cannot be had now, as %d says, end no sign-in',
    async (status, data) => {
      let fails = true;
      const { world, pass } = await worldOf((form) =>
        fails && form.has('refresh_token') ? Response.json(data, { status }) : undefined
      );
      await world.prepare();
      pass();
      expect(lastData(await world.run(), 'data-tool-error')).toMatchObject({ retryable: true });
      fails = false;
      expect((await world.run()).some(({ type }) => type === 'tool-output-available')).toBe(true);
    },
  );
});

describe('a place without metadata', () => {
  const resource = { resource: `${mcpOrigin}/mcp`, authorization_servers: [issuer], scopes_supported: ['read'] };
  it.each<[string, () => Response]>([
    ['has a page', () => new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } })],
    ['is empty', () => new Response('')],
    ['has another object', () => Response.json({ error: 'not_found' })],
    ['redirects', () => new Response(null, { status: 302, headers: { location: '/login' } })],
    ['fails', () => new Response(null, { status: 500 })],
  ])('that %s is not the last one', async (_, other) => {
    const world = await signInWorld({
      first({ url }) {
        const { origin, pathname } = new URL(url);
        if (!pathname.includes('/.well-known/')) return undefined;
        if (pathname.endsWith('/oauth-protected-resource')) return Response.json(resource);
        if (pathname.endsWith('/openid-configuration')) return Response.json(serverMetadata);
        return [mcpOrigin, issuer].includes(origin) ? other() : undefined;
      },
    });
    for (let look = 0; look < 10; look++) await world.runtime.validateMcpServer('docs', {}, admin);
    await world.prepare();
    expect(lastData(await world.run(), 'data-run')).toMatchObject({ state: 'completed' });
  });
});

describe('the challenge of a refusal', () => {
  const resourceMetadata = 'https://m.example/x';
  it.each<[string, object]>([
    ['Bearer  resource_metadata="https://m.example/x"', { resourceMetadata }],
    ['BEARER RESOURCE_METADATA="https://m.example/x", Scope="s"', { resourceMetadata, scope: 's' }],
    ['Bearer resource_metadata = "https://m.example/x"', { resourceMetadata }],
    ['Bearer error_scope="bad", x_error="bad", scope="good"', { scope: 'good' }],
    ['Bearer scope=""', {}],
    ['Bearer error_description="the \\"token\\", scope=x", error=invalid_token', { error: 'invalid_token' }],
    ['DPoP algs="ES256", Bearer scope="a b"', { scope: 'a b' }],
    ['Negotiate abc==, Bearer scope="s"', { scope: 's' }],
    ['Bearer scope="s", Basic realm="scope=\\"evil\\"", scope="evil"', { scope: 's' }],
    ['Bearer scope="a", error="invalid_token", scope="b"', { scope: 'a', error: 'invalid_token' }],
    ['Basic realm="x", scope="s"', {}],
  ])('is read from %s', (header, facts) => {
    const refusal = new Response(null, { status: 401, headers: { 'www-authenticate': header } });
    expect(readChallenge(refusal)).toEqual({ status: 401, ...facts });
  });
});

describe('a server of 2025-03-26, which issues its tokens itself', () => {
  const auth = { issuer: mcpOrigin };
  const endpoints = {
    authorization_endpoint: `${mcpOrigin}/authorize`,
    token_endpoint: `${mcpOrigin}/token`,
    registration_endpoint: `${mcpOrigin}/register`,
  };
  const own = { auth, resource: null, server: { issuer: mcpOrigin, ...endpoints }, iss: mcpOrigin };

  it.each<[string, SignInWorldOptions]>([
    ['with metadata of its own sign-in', own],
    ['without any metadata', {
      ...own,
      iss: null,
      ...answering('/.well-known/', () => new Response('', { status: 404 })),
    }],
  ])('signs people in, %s', async (_, options) => {
    const world = await signInWorld(options);
    await world.prepare();
    expect(lastData(await world.run(), 'data-run')).toMatchObject({ state: 'completed' });
    expect(world.oauth.requests.every(({ url }) => url.startsWith(`${mcpOrigin}/`))).toBe(true);
  });

  it.each<[string, SignInWorldOptions]>([
    ['metadata of a resource fails', answering('protected-resource', () => new Response('', { status: 503 }))],
    ['it names metadata that is not there', { challenge: `Bearer resource_metadata="${mcpOrigin}/nothing"` }],
    ['another issuer is trusted', { auth: { issuer } }],
  ])('is not taken for one where %s', async (_, options) => {
    const { runtime } = await signInWorld({ ...own, ...options });
    await expect(runtime.validateMcpServer('docs', {}, admin)).rejects.toMatchObject({
      details: { reason: 'mcp_auth_metadata' },
    });
  });
});

describe('missing metadata', () => {
  it.each<[string, SignInWorldOptions]>([
    ['the server has none', { resource: null }],
    ['that of the server is a page', answering('protected-resource', () => new Response('<html>'))],
    ['that of the server fails', answering('protected-resource', () => new Response('', { status: 500 }))],
    ['that of the server names no authorization server', { resource: { authorization_servers: [] } }],
    ['the authorization server has none', answering(`${issuer}/.well-known`, () => new Response('', { status: 404 }))],
  ])('is what the error says where %s', async (_, options) => {
    const { runtime } = await signInWorld(options);
    await expect(runtime.validateMcpServer('docs', {}, admin)).rejects.toMatchObject({
      details: { reason: 'mcp_auth_metadata' },
    });
  });
});
