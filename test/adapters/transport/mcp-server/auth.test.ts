import {
  Client,
  ClientCredentialsProvider,
  extractWWWAuthenticateParams,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { listedResources } from '../../../../adapters/transport/mcp-content.ts';
import { bearerAuthenticator, digestOfToken } from '../../../../adapters/transport/bearer-authenticator.ts';
import { createHandler, type HandlerOptions } from '../../../../adapters/transport/http.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { createTokenIssuer, issuer, resource } from '../../../fixtures/mcp/access-tokens.ts';
import { answerOf, askModern, mcpEndpoint, mcpRuntime } from '../../../fixtures/mcp/mcp-host.ts';
import { createSession } from '../signed/session.ts';

type Auth = NonNullable<NonNullable<HandlerOptions['mcp']>['auth']>;

const metadataUrl = 'https://agents.example/.well-known/oauth-protected-resource/mcp';

async function setup(options: Partial<Auth> = {}, more: Partial<HandlerOptions> = {}) {
  const server = await createTokenIssuer();
  const digest = await digestOfToken('opaque-token');
  const facts = { tenant: 't0', subject: 'svc', agents: '*', scopes: ['run:create'] } as const;
  const who = listedResources([{
    uri: 'x://who',
    name: 'who',
    read: ({ principal: { tenant, subject } }) => [{ text: `${tenant} ${subject}` }],
  }]);
  const serve = mcpEndpoint({
    authenticator: bearerAuthenticator({ tokens: [{ digest, ...facts }] }),
    ...more,
    mcp: {
      hosts: ['agents.example'],
      listed: ['*'],
      resources: [who],
      auth: {
        issuer,
        resource,
        keys: server.keys,
        scopes: ['agents:use'],
        name: 'Agents',
        principalOf: ({ sub, org }) => ({ tenant: String(org), subject: sub, agents: '*', scopes: ['run:create'] }),
        ...options,
      },
    },
  });
  const ask = (token: string | undefined, url = resource) =>
    askModern(serve, url)('resources/read', { uri: 'x://who' }, {
      headers: { authorization: token === undefined ? '' : `Bearer ${token}` },
    });
  return { ...server, serve, ask };
}

describe('an MCP client that signs in', () => {
  it('is challenged so that its SDK finds the description of the resource', async () => {
    const { ask } = await setup();
    const response = await ask(undefined);
    expect(response.status).toBe(401);
    expect(extractWWWAuthenticateParams(response)).toMatchObject({
      resourceMetadataUrl: new URL(metadataUrl),
      scope: 'agents:use',
    });
  });

  it('is challenged first, where requests may be signed as well', async () => {
    const session = await createSession();
    const { ask } = await setup({}, { authenticator: session.authenticator });
    const challenge = (await ask(undefined)).headers.get('www-authenticate');
    expect(challenge).toMatch(/^Bearer resource_metadata="[^"]+", scope="agents:use", GC-Session/);
  });

  it('reads the description, as any page may', async () => {
    const { serve } = await setup();
    const response = await serve(new Request(metadataUrl));
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toEqual({
      resource,
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
      scopes_supported: ['agents:use'],
      resource_name: 'Agents',
    });
    const asked = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'mcp-protocol-version' };
    const preflight = await serve(
      new Request(metadataUrl, { method: 'OPTIONS', headers: { origin: 'https://a.example', ...asked } }),
    );
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([
      204,
      'mcp-protocol-version',
    ]);
    const others = ['', '/', '/mcp/', '/other', '/..%2fmcp'].map((path) => metadataUrl.replace('/mcp', path));
    for (const url of others) expect((await serve(new Request(url))).status, url).toBe(404);
    expect((await serve(new Request(metadataUrl, { method: 'POST' }))).status).toBe(405);
  });

  it('reads the description below the path of an endpoint as well', async () => {
    const below = 'https://agents.example/agents/mcp';
    const { serve, ask, token } = await setup({ resource: below }, { basePath: '/agents' });
    const found = extractWWWAuthenticateParams(await ask(undefined, below)).resourceMetadataUrl?.href;
    expect(found).toBe('https://agents.example/.well-known/oauth-protected-resource/agents/mcp');
    const urls = [found ?? '', 'https://agents.example/agents/.well-known/oauth-protected-resource/mcp'];
    for (const url of urls) expect(await (await serve(new Request(url))).json()).toMatchObject({ resource: below });
    expect((await ask(await token({ aud: below }), below)).status).toBe(200);
    expect((await ask(await token(), below)).status).toBe(401);
  });

  it('is served as the principal of its token', async () => {
    const { ask, token } = await setup();
    const read = async (given: string) => (await answerOf(ask(given))).result.contents[0].text;
    expect(await read(await token())).toBe('t1 ada');
    expect(await read(await token({ sub: 'bob', org: 't2' }))).toBe('t2 bob');
    expect(await read('opaque-token')).toBe('t0 svc'); // the endpoint's own tokens are served as before
  });

  it.each<[string, Record<string, unknown>]>([
    ['another resource', { aud: 'https://other.example/mcp' }],
    ['the authorization server itself', { aud: issuer }],
    ['another path of this endpoint', { aud: 'https://agents.example/v1' }],
  ])('is refused with a token for %s', async (_, claims) => {
    const { ask, token } = await setup();
    const response = await ask(await token(claims));
    expect(response.status).toBe(401);
    expect(extractWWWAuthenticateParams(response)).toMatchObject({
      error: 'invalid_token',
      resourceMetadataUrl: new URL(metadataUrl),
    });
  });

  it('receives the scope that its token lacks', async () => {
    const { ask, token } = await setup({ scopes: ['agents:use', 'agents:admin'] });
    const response = await ask(await token());
    expect(response.status).toBe(403);
    expect(extractWWWAuthenticateParams(response)).toMatchObject({
      error: 'insufficient_scope',
      scope: 'agents:use agents:admin',
    });
  });

  it('has a token for `/mcp` alone', async () => {
    const { serve, token } = await setup();
    const headers = { authorization: `Bearer ${await token()}` };
    for (const path of ['/v1/agents', '/v1/chats', '/v1/runs/run_1', '/v1/events']) {
      const { status } = await serve(new Request(`https://agents.example${path}`, { headers }));
      expect([401, 404], path).toContain(status);
    }
  });

  it.each([
    ['http://agents.example/mcp', issuer],
    [`${resource}#part`, issuer],
    [`${resource}?a=1`, issuer],
    ['https://a:b@agents.example/mcp', issuer],
    [resource, 'http://login.example'],
    [resource, 'login.example'],
  ])('needs https addresses without more (%s, %s)', (ofResource, ofIssuer) => {
    const runtime = mcpRuntime();
    const auth: Auth = { resource: ofResource, issuer: ofIssuer, keys: { keys: [] }, principalOf: () => undefined };
    const make = () =>
      createHandler(runtime, {
        authenticator: bearerAuthenticator({ tokens: [] }),
        mcp: { tools: (principal) => runtime.tools('helper', principal), storage: memoryStorage(), auth },
      });
    expect(make).toThrow(expect.objectContaining({ details: { reason: 'invalid_mcp_auth' } }));
  });
});

it('an endpoint whose clients do not sign in describes nothing', async () => {
  const serve = mcpEndpoint();
  expect((await serve(new Request('http://127.0.0.1/.well-known/oauth-protected-resource/mcp'))).status).toBe(404);
});

describe("the SDK's client", () => {
  /** An authorization server that issues a token for the resource that the client asks for. */
  async function signIn(audienceOf: (asked: string | null) => string | null) {
    const { serve, token } = await setup();
    const paths: string[] = [];
    const authorizationServer = async (request: Request): Promise<Response> => {
      if (new URL(request.url).pathname !== '/token') {
        const endpoints = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
        const supported = { response_types_supported: ['code'], code_challenge_methods_supported: ['S256'] };
        return Response.json({ issuer, ...endpoints, ...supported });
      }
      const form = new URLSearchParams(await request.text());
      const claims = { aud: audienceOf(form.get('resource')), sub: 'robot' };
      return Response.json({ access_token: await token(claims), token_type: 'Bearer', expires_in: 300 });
    };
    const transport = new StreamableHTTPClientTransport(new URL(resource), {
      authProvider: new ClientCredentialsProvider({ clientId: 'robot', clientSecret: 'x', expectedIssuer: issuer }),
      fetch: async (input, init) => {
        const request = new Request(input, init);
        paths.push(request.url);
        return request.url.startsWith(issuer) ? await authorizationServer(request) : await serve(request);
      },
    });
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    return { client, paths, connected: client.connect(transport) };
  }

  it('finds the authorization server by itself, signs in and reads', async () => {
    const { client, connected, paths } = await signIn((asked) => asked);
    await connected;
    expect(await client.readResource({ uri: 'x://who' })).toMatchObject({ contents: [{ text: 't1 robot' }] });
    expect(paths).toContain(metadataUrl);
    expect(paths).toContain(`${issuer}/token`);
    await client.close();
  });

  it('is refused with a token that was issued for something else', async () => {
    const { connected } = await signIn(() => 'https://other.example/mcp');
    await expect(connected).rejects.toThrow(/401/);
  });
});
