import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { jwtAuthenticator, type JwtAuthenticatorOptions } from '../../../adapters/transport/jwt-authenticator.ts';
import { scriptedEgress } from '../../fixtures/egress.ts';
import { createTokenIssuer, issuer, resource } from '../../fixtures/mcp/access-tokens.ts';

const principalOf: JwtAuthenticatorOptions['principalOf'] = ({ sub, org }) =>
  typeof org === 'string' ? { tenant: org, subject: sub, agents: ['helper'], scopes: ['run:create'] } : undefined;

function request(token: string, scheme = 'Bearer'): Request {
  return new Request(resource, { headers: { authorization: `${scheme} ${token}` } });
}

async function setup(options: Partial<JwtAuthenticatorOptions> = {}) {
  const server = await createTokenIssuer();
  const authenticator = jwtAuthenticator({ issuer, audience: resource, keys: server.keys, principalOf, ...options });
  return { ...server, authenticate: (token: string) => authenticator.authenticate(request(token)) };
}

describe('an access token', () => {
  it('stands for whom the host says', async () => {
    const { authenticate, token } = await setup();
    expect(await authenticate(await token())).toMatchObject({
      via: 'http',
      tenant: 't1',
      subject: 'ada',
      agents: ['helper'],
      scopes: ['run:create'],
    });
    expect(await authenticate(await token({ aud: ['https://other.example', resource] }))).toMatchObject({
      subject: 'ada',
    });
  });

  it.each<[string, Record<string, unknown>]>([
    ['an ID token', { typ: 'JWT' }],
    ['a token without a type', { typ: undefined }],
  ])('is not %s, unless the host accepts those', async (_, header) => {
    const { authenticate, token } = await setup();
    await expect(authenticate(await token({}, header))).rejects.toMatchObject({
      code: 'token_invalid',
      status: 401,
      message: expect.stringContaining('"typ": "at+jwt" (RFC 9068), or set "requireType: false"'),
    });
    const relaxed = await setup({ requireType: false });
    expect(await relaxed.authenticate(await relaxed.token({}, header))).toMatchObject({ subject: 'ada' });
  });

  it.each(['logout+jwt', 'id+jwt', 'gc-session+jwt', 'dpop+jwt'])('is never of the type %s', async (typ) => {
    const { authenticate, token } = await setup({ requireType: false });
    await expect(authenticate(await token({}, { typ }))).rejects.toMatchObject({ code: 'token_invalid' });
  });

  it('is refused where it was issued in the future, 30 s of clock difference aside', async () => {
    const now = Date.now();
    const { authenticate, token } = await setup({ now: () => now });
    const seconds = Math.floor(now / 1000);
    expect(await authenticate(await token({ iat: seconds + 29 }))).toMatchObject({ subject: 'ada' });
    expect(await authenticate(await token({ iat: undefined }))).toMatchObject({ subject: 'ada' });
    for (const iat of [seconds + 32, seconds + 3600, 'soon', null]) {
      await expect(authenticate(await token({ iat, exp: seconds + 7200 }))).rejects.toMatchObject({
        code: 'token_invalid',
      });
    }
  });

  it('names who speaks for its subject (RFC 8693), and its roles', async () => {
    const { authenticate, token } = await setup({
      principalOf: (claims) => ({
        tenant: 't1',
        subject: claims.sub,
        agents: '*',
        scopes: [],
        ...(Array.isArray(claims['roles']) && { roles: claims['roles'] }),
      }),
    });
    expect(await authenticate(await token({ act: { sub: 'shop', act: { sub: 'bank' } }, roles: ['finance'] })))
      .toMatchObject({ subject: 'ada', actor: 'shop', roles: ['finance'] });
    for (const act of [{}, 'shop', null, { sub: '' }, { sub: 7 }, []]) {
      await expect(authenticate(await token({ act }))).rejects.toMatchObject({ code: 'token_invalid' });
    }
    await expect(authenticate(await token({ roles: ['a', ''] }))).rejects.toMatchObject({ code: 'token_invalid' });
  });

  it.each<[string, JwtAuthenticatorOptions['principalOf']]>([
    ['tenant', ({ sub, nothing }) => ({ tenant: String(nothing), subject: sub, agents: '*', scopes: [] })],
    ['tenant of JavaScript', ({ sub }) => ({ tenant: undefined as never, subject: sub, agents: '*', scopes: [] })],
    ['tenant of an object', ({ sub }) => ({ tenant: '[object Object]', subject: sub, agents: '*', scopes: [] })],
    ['subject', ({ nothing }) => ({ tenant: 't1', subject: String(nothing), agents: '*', scopes: [] })],
    ['actor', ({ sub, nothing }) => ({ tenant: 't1', subject: sub, actor: String(nothing), agents: '*', scopes: [] })],
  ])('is refused where the claim of its %s is missing', async (_, maps) => {
    const { authenticate, token } = await setup({ principalOf: maps });
    await expect(authenticate(await token())).rejects.toMatchObject({ code: 'token_invalid', status: 401 });
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>?]>([
    ['for another audience', { aud: 'https://other.example/mcp' }],
    ['for a resource that only starts like this one', { aud: `${resource}/more` }],
    ['for the same resource with another slash', { aud: `${resource}/` }],
    ['without an audience', { aud: undefined }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['of an issuer with a slash more', { iss: `${issuer}/` }],
    ['without a subject', { sub: undefined }],
    ['with an empty subject', { sub: '' }],
    ['without an end', { exp: undefined }],
    ['that begins later', { nbf: Math.floor(Date.now() / 1000) + 3600 }],
    ['that is bound to a key', { cnf: { jkt: 'x' } }],
    ['that is an id token of a logout', {}, { typ: 'logout+jwt' }],
    ['of no one here', { org: undefined }],
    ['with an unknown key', {}, { kid: 'key-2' }],
  ])('%s is refused', async (_, claims, header) => {
    const { authenticate, token } = await setup();
    await expect(authenticate(await token(claims, header))).rejects.toMatchObject({
      code: 'token_invalid',
      status: 401,
    });
  });

  it('is refused after its end, 30 s of clock difference aside', async () => {
    let now = Date.now();
    const { authenticate, token } = await setup({ now: () => now });
    const given = await token();
    now += 320_000;
    await expect(authenticate(given)).resolves.toMatchObject({ subject: 'ada' });
    now += 20_000;
    await expect(authenticate(given)).rejects.toMatchObject({ code: 'token_expired', status: 401 });
  });

  it('is refused when it was signed by another, not at all, or with the public key as a shared secret', async () => {
    const { authenticate, token, keys } = await setup();
    const other = await createTokenIssuer();
    const good = await token();
    const [header = '', payload = '', signature = ''] = good.split('.');
    const none = btoa(JSON.stringify({ alg: 'none', typ: 'at+jwt' })).replaceAll('=', '');
    const shared = new TextEncoder().encode(JSON.stringify(keys.keys[0]));
    const symmetric = await new SignJWT({ org: 't1' }).setProtectedHeader({ alg: 'HS256', kid: 'key-1' }).setIssuer(
      issuer,
    )
      .setAudience(resource).setSubject('ada').setExpirationTime('5m').sign(shared);
    const forged = btoa(
      JSON.stringify({ ...JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))), sub: 'eve' }),
    );
    const changed = [header, forged.replaceAll('=', '').replaceAll('+', '-').replaceAll('/', '_'), signature].join('.');
    for (const bad of [await other.token(), symmetric, changed, `${none}.${payload}.AA`, `${good}x`, 'a.b.c']) {
      await expect(authenticate(bad)).rejects.toMatchObject({ code: 'token_invalid' });
    }
  });

  it.each(['', 'opaque-token', `a.b.${'c'.repeat(20_000)}`])(
    'must be a JWT of at most 16 KiB (%.10s)',
    async (text) => {
      const { authenticate } = await setup();
      await expect(authenticate(text)).rejects.toMatchObject({ status: 401 });
    },
  );

  it('must have the scopes that are required', async () => {
    const { authenticate, token } = await setup({ requiredScopes: ['agents:use', 'agents:run'] });
    await expect(authenticate(await token({ scope: 'agents:use' }))).rejects.toMatchObject({
      code: 'forbidden',
      details: { reason: 'insufficient_scope', scopes: ['agents:use', 'agents:run'] },
    });
    const words = ['agents:run', 'agents:use'];
    const scope = undefined; // as some authorization servers leave it out
    for (
      const claims of [{ scope: words.join(' ') }, { scope: words }, { scope, scp: words }, {
        scope,
        scp: words.join(' '),
      }]
    ) {
      await expect(authenticate(await token(claims))).resolves.toMatchObject({ subject: 'ada' });
    }
  });

  it('gives no hint of why it was refused', async () => {
    const { authenticate, token } = await setup();
    const errors = [{ aud: 'https://other.example' }, { iss: 'https://evil.example' }, { sub: undefined }].map(
      async (claims) => await authenticate(await token(claims)).catch((error: Error) => error.message),
    );
    expect(new Set(await Promise.all(errors)).size).toBe(1);
  });
});

it('that is signed by a shared secret is refused, although the issuer lists the secret', async () => {
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const k = btoa(String.fromCharCode(...secret)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  const { authenticate } = await setup({ keys: { keys: [{ kty: 'oct', k, kid: 'key-1', alg: 'HS256' }] } });
  const token = new SignJWT({ org: 't1' }).setProtectedHeader({ alg: 'HS256', kid: 'key-1' }).setIssuer(issuer);
  const signed = await token.setAudience(resource).setSubject('ada').setExpirationTime('5m').sign(secret);
  await expect(authenticate(signed)).rejects.toMatchObject({ code: 'token_invalid' });
});

describe('the keys of an issuer', () => {
  const url = 'https://login.example.com/jwks';

  it('are loaded over the egress, from their URL alone, once', async () => {
    const server = await createTokenIssuer();
    const { egress, sent } = scriptedEgress([() => Response.json(server.keys)]);
    const { authenticate } = await setup({ keys: url, egress });
    await authenticate(await server.token());
    await authenticate(await server.token({ sub: 'bob' }));
    expect(sent.map(({ method, url: address }) => `${method} ${address}`)).toEqual([`GET ${url}`]);
    expect(JSON.stringify(sent)).not.toContain('Bearer');
  });

  it('are not loaded again for each unknown key', async () => {
    const server = await createTokenIssuer();
    const { egress, sent } = scriptedEgress([() => Response.json(server.keys)]);
    const { authenticate } = await setup({ keys: url, egress });
    await authenticate(await server.token());
    for (let at = 0; at < 5; at++) {
      await expect(authenticate(await server.token({}, { kid: `no-${at}` }))).rejects.toMatchObject({
        code: 'token_invalid',
      });
    }
    expect(sent).toHaveLength(1);
  });

  it.each<[string, () => Response]>([
    ['a redirect', () => new Response(null, { status: 302, headers: { location: 'https://evil.example/jwks' } })],
    ['a redirect at its own origin', () => new Response(null, { status: 302, headers: { location: '/other' } })],
    ['an error', () => new Response('sk-SECRET', { status: 500 })],
    ['no JSON', () => new Response('<html>', { headers: { 'content-type': 'application/json' } })],
    ['no keys', () => Response.json({ hello: 1 })],
    ['a body that is too long', () => Response.json({ keys: [], pad: 'x'.repeat(100_000) })],
  ])('that cannot be loaded for %s are no verdict on the token', async (_, answer) => {
    const server = await createTokenIssuer();
    const { egress, sent } = scriptedEgress([answer]);
    const { authenticate } = await setup({ keys: url, egress });
    const error = await authenticate(await server.token()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'unavailable', details: { reason: 'keys_unavailable' } });
    expect((error as Error).message).not.toContain('SECRET');
    expect(sent.map(({ url: address }) => address)).toEqual([url]);
  });

  it('need https and an egress', async () => {
    const { egress } = scriptedEgress([() => Response.json({ keys: [] })]);
    const invalid = { code: 'invalid_argument', details: { reason: 'invalid_keys_url' } };
    await expect(setup({ keys: 'http://login.example/jwks', egress })).rejects.toMatchObject(invalid);
    await expect(setup({ keys: 'nonsense', egress })).rejects.toMatchObject(invalid);
    await expect(setup({ keys: url })).rejects.toMatchObject(invalid);
  });
});
