import { describe, expect, it } from 'vitest';
import {
  createOAuthPeer,
  issuer,
  mcpOrigin,
  type OAuthPeerOptions,
  person,
  redirectUri,
  signInWorld,
} from '../../fixtures/mcp/oauth-peer.ts';

const admin = person('ann', { deployment: true });

/** Looks at a server, and returns how it is refused, with the servers. */
async function refusedLook(options: OAuthPeerOptions) {
  const world = await signInWorld(options);
  const error: unknown = await world.runtime.validateMcpServer('docs', {}, admin).then(
    () => undefined,
    (e: unknown) => e,
  );
  return { error, ...world };
}

/** Starts a sign-in that is approved, and returns the parameters of the redirect with the world. */
async function started(options: OAuthPeerOptions = {}) {
  const world = await signInWorld(options);
  await world.approve();
  const { url } = await world.runtime.mcpSignIns.start('docs', { redirectUri }, person());
  return { ...world, url, params: await world.oauth.consent(url) };
}

describe('the look at where people sign in', () => {
  it('refuses an authorization server that does not list PKCE with S256', async () => {
    for (const methods of [undefined, ['plain']]) {
      const { error } = await refusedLook({ server: { code_challenge_methods_supported: methods } });
      expect(error).toMatchObject({ code: 'unavailable', details: { reason: 'mcp_auth_unsafe' } });
    }
  });

  it('refuses a server without metadata of its own, and does not try its origin as the issuer', async () => {
    const { error, oauth } = await refusedLook({ resource: null });
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(oauth.to('/.well-known/oauth-authorization-server')).toEqual([]);
  });

  it('reads metadata at the origin of the server only', async () => {
    for (const host of ['https://evil.example', 'http://169.254.169.254', 'https://mcp.example.com.evil.example']) {
      const { error, oauth } = await refusedLook({ challenge: `Bearer resource_metadata="${host}/metadata"` });
      expect(error).toMatchObject({ code: 'unavailable', details: { reason: 'mcp_auth_metadata' } });
      expect(oauth.requests.filter(({ url }) => new URL(url).origin !== mcpOrigin)).toEqual([]);
    }
  });

  it('refuses metadata of another resource', async () => {
    const { error } = await refusedLook({ resource: { resource: 'https://other.example.com/mcp' } });
    expect(error).toMatchObject({ details: { reason: 'mcp_auth_metadata' } });
  });

  it('refuses endpoints that are not https, and those with user information', async () => {
    const bad = [
      'http://login.example.com/x',
      'https://a:b@login.example.com/x',
      'http://127.0.0.1/x',
      'javascript:alert(1)',
    ];
    for (const name of ['authorization_endpoint', 'token_endpoint', 'registration_endpoint', 'revocation_endpoint']) {
      for (const url of bad) {
        const { error } = await refusedLook({ server: { [name]: url } });
        expect(error, `${name} ${url}`).toMatchObject({ code: 'unavailable' });
      }
    }
  });

  it('shows another issuer that the server names, and does not request it', async () => {
    const { error, oauth } = await refusedLook({ resource: { authorization_servers: ['https://evil.example'] } });
    expect(error).toMatchObject({
      code: 'forbidden',
      details: { reason: 'mcp_issuer_unlisted', hosts: ['evil.example'] },
    });
    expect(oauth.requests.filter(({ url }) => new URL(url).hostname === 'evil.example')).toEqual([]);
  });

  it('refuses metadata of another issuer', async () => {
    const { error } = await refusedLook({ server: { issuer: 'https://evil.example' } });
    expect(error).toMatchObject({ code: 'forbidden', details: { reason: 'mcp_issuer_mismatch' } });
  });

  it('reads a challenge that comes after one of another scheme', async () => {
    const world = await signInWorld({
      challenge: 'Basic realm="a, Bearer b=\\"c\\"", Bearer error="x", scope="files:read"',
    });
    await world.approve();
    const { url } = await world.runtime.mcpSignIns.start('docs', { redirectUri }, person());
    expect(new URL(url).searchParams.get('scope')).toBe('files:read');
  });

  it('sends discovery without the header of the protocol version, so that pages need no preflight', async () => {
    const { oauth } = await started();
    const discovery = oauth.requests.filter(({ url }) => url.includes('/.well-known/'));
    expect(discovery.length).toBeGreaterThan(1);
    expect(discovery.filter(({ headers }) => headers.has('mcp-protocol-version'))).toEqual([]);
  });

  it('follows no redirect', async () => {
    const elsewhere = (request: Request) =>
      request.url.includes('/.well-known/oauth-authorization-server')
        ? new Response(null, { status: 302, headers: { location: `${issuer}/other` } })
        : undefined;
    const { error, oauth } = await refusedLook({ first: elsewhere });
    expect(error).toMatchObject({ code: 'forbidden' });
    expect(oauth.to('/other')).toEqual([]);
  });

  it('reads at most 64 KiB', async () => {
    const { error } = await refusedLook({ server: { padding: 'x'.repeat(70_000) } });
    expect(error).toMatchObject({ code: 'budget_exceeded' });
  });
});

describe('the URL that a person opens', () => {
  it('requests a code with PKCE, for the resource to the last character', async () => {
    const { url } = await started();
    const { searchParams, origin } = new URL(url);
    expect(origin).toBe(issuer);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'registered',
      code_challenge_method: 'S256',
      redirect_uri: redirectUri,
      resource: `${mcpOrigin}/mcp`,
      scope: 'read',
    });
    expect(searchParams.get('state')).toMatch(/^[\w-]{43}$/);
  });

  it('is made for listed redirect URIs only', async () => {
    const world = await signInWorld();
    await world.approve();
    const start = world.runtime.mcpSignIns.start('docs', { redirectUri: `${redirectUri}/evil` }, person());
    await expect(start).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'redirect_uri_unlisted' },
    });
  });

  it('is refused when the metadata is not what was approved', async () => {
    const server: Record<string, unknown> = {};
    const events: unknown[] = [];
    const world = await signInWorld({ server, sinks: [(event) => void events.push(event)] });
    await world.approve();
    const oauth = createOAuthPeer({ server: { token_endpoint: `${issuer}/other` } });
    const moved = await signInWorld({
      oauth,
      storage: world.storage,
      sinks: [(event) => void events.push(event)],
    });
    const start = moved.runtime.mcpSignIns.start('docs', { redirectUri }, person());
    await expect(start).rejects.toMatchObject({ code: 'conflict', details: { reason: 'mcp_auth_changed' } });
    expect(events).toContainEqual(expect.objectContaining({ action: 'mcp.auth_changed', status: 'denied' }));
  });

  it('requests no more than the record allows', async () => {
    const world = await signInWorld({ auth: { scopes: ['read'] }, challenge: 'Bearer scope="read admin"' });
    await world.approve();
    const { url } = await world.runtime.mcpSignIns.start('docs', { redirectUri }, person());
    expect(new URL(url).searchParams.get('scope')).toBe('read');
  });
});

describe('the end of a sign-in', () => {
  it('takes a state once, and not a state that it has not issued', async () => {
    const { runtime, params } = await started();
    const unknown = { ...params, state: 'x'.repeat(43) };
    await expect(runtime.mcpSignIns.finish(unknown, person())).rejects.toMatchObject({ code: 'not_found' });
    await runtime.mcpSignIns.finish(params, person());
    await expect(runtime.mcpSignIns.finish(params, person())).rejects.toMatchObject({
      code: 'not_found',
      details: { reason: 'mcp_sign_in_not_found' },
    });
  });

  it('takes a state for ten minutes', async () => {
    let now = Date.now();
    const world = await signInWorld({ now: () => now });
    await world.approve();
    const { url } = await world.runtime.mcpSignIns.start('docs', { redirectUri }, person());
    now += 600_001;
    const params = await world.oauth.consent(url);
    await expect(world.runtime.mcpSignIns.finish(params, person())).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is for the person who started it, of the same tenant', async () => {
    const { runtime, params, oauth } = await started();
    for (const other of [person('bob'), person('ann', { tenant: 'other' })]) {
      await expect(runtime.mcpSignIns.finish(params, other)).rejects.toMatchObject({
        code: 'forbidden',
        details: { reason: 'mcp_sign_in_of_another' },
      });
      const grant = runtime.mcpSignIns.grant('docs', other);
      await expect(grant.catch((error: unknown) => error)).resolves.not.toMatchObject({ state: 'active' });
    }
    expect(oauth.tokenRequests).toEqual([]);
  });

  it('compares the issuer before it reads the code, or an error', async () => {
    for (
      const iss of ['https://evil.example', `${issuer}/`, `${issuer}/x`, `${issuer}//`, issuer.toUpperCase(), null]
    ) {
      const { runtime, params, oauth } = await started({ iss });
      for (const answer of [params]) {
        await expect(runtime.mcpSignIns.finish(answer, person())).rejects.toMatchObject({
          code: 'forbidden',
          details: { reason: 'mcp_issuer_mismatch' },
        });
      }
      expect(oauth.tokenRequests).toEqual([]);
    }
    const { runtime, params: { state = '' } } = await started();
    const failed = { state, error: 'access_denied', iss: 'https://evil.example' };
    await expect(runtime.mcpSignIns.finish(failed, person())).rejects.toMatchObject({
      details: { reason: 'mcp_issuer_mismatch' },
    });
  });

  it('sends no code to another authorization server than the one that issued it', async () => {
    const evil = 'https://login.evil.example.com';
    const stolen: URLSearchParams[] = [];
    const world = await signInWorld({
      async first(request) {
        const { origin, pathname } = new URL(request.url);
        if (origin !== evil && origin !== 'https://mcp.evil.example.com') return undefined;
        if (pathname === '/mcp') return new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } });
        if (pathname.startsWith('/.well-known/oauth-protected-resource')) {
          return Response.json({ resource: 'https://mcp.evil.example.com/mcp', authorization_servers: [evil] });
        }
        if (pathname === '/register') {
          return Response.json({ ...await request.json() as object, client_id: 'registered' }, { status: 201 });
        }
        if (pathname === '/token') {
          stolen.push(new URLSearchParams(await request.text()));
          return Response.json({ error: 'invalid_grant' }, { status: 400 });
        }
        return Response.json({
          issuer: evil,
          authorization_endpoint: `${evil}/authorize`,
          token_endpoint: `${evil}/token`,
          registration_endpoint: `${evil}/register`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
          authorization_response_iss_parameter_supported: true,
        });
      },
    });
    await world.approve();
    await world.registry.put('mcpServer', {
      id: 'evil',
      alias: 'evil',
      url: 'https://mcp.evil.example.com/mcp',
      auth: { issuer: evil },
    });
    const { digest } = await world.runtime.validateMcpServer('evil', {}, admin);
    await world.runtime.validateMcpServer('evil', { approve: true, digest }, admin);
    const start = async (id: string) => (await world.runtime.mcpSignIns.start(id, { redirectUri }, person())).url;
    const [honest, hostile] = [await start('docs'), await start('evil')];
    const stateOf = (url: string) => new URL(url).searchParams.get('state') ?? '';
    const { code = '', iss = '' } = await world.oauth.consent(honest);
    // The hostile server has led the person to the honest one, whose answer comes back with the state of the hostile sign-in.
    const mixedUp = world.runtime.mcpSignIns.finish({ code, iss, state: stateOf(hostile) }, person());
    await expect(mixedUp).rejects.toMatchObject({ details: { reason: 'mcp_issuer_mismatch' } });
    // And a code of the hostile server with the state of the honest sign-in.
    const other = world.runtime.mcpSignIns.finish({ code: 'evil-code', iss: evil, state: stateOf(honest) }, person());
    await expect(other).rejects.toMatchObject({ details: { reason: 'mcp_issuer_mismatch' } });
    expect(stolen).toEqual([]);
    expect(world.oauth.tokenRequests).toEqual([]);
  });

  it('reports a refusal without the text of the server', async () => {
    const { runtime, params: { state = '' } } = await started();
    const failed = { state, error: 'TEXT OF THE SERVER', iss: issuer };
    const error = await runtime.mcpSignIns.finish(failed, person()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'forbidden', details: { reason: 'mcp_sign_in_refused' } });
    expect(JSON.stringify(error) + String(error)).not.toContain('TEXT');
  });

  it('sends the code with its verifier and the resource to the pinned token endpoint', async () => {
    const { runtime, params, oauth } = await started();
    await runtime.mcpSignIns.finish(params, person());
    const [form] = oauth.tokenRequests;
    expect(form?.get('resource')).toBe(`${mcpOrigin}/mcp`);
    expect(form?.get('code_verifier')).toMatch(/^[\w.~-]{43,}$/);
    expect(await runtime.mcpSignIns.grant('docs', person())).toMatchObject({ state: 'active', scopes: ['read'] });
  });

  it('needs the scope to write the registry where the grant is for the whole tenant', async () => {
    const world = await signInWorld({ auth: { grantee: 'tenant' } });
    await world.approve();
    const member = person('bob', { scopes: ['run:create'] });
    const { start, finish, grant } = world.runtime.mcpSignIns;
    await expect(start('docs', { redirectUri }, member)).rejects.toMatchObject({ code: 'forbidden' });
    await finish(await world.oauth.consent((await start('docs', { redirectUri }, person())).url), person());
    expect(await grant('docs', member)).toMatchObject({ state: 'active', grantee: 'tenant' });
  });
});
