import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { denoEgress } from '../../../adapters/egress/deno.ts';
import { mcpConnector2026 } from '../../../adapters/mcp/client-2026.ts';
import { mcpSignIn } from '../../../adapters/mcp/sign-in.ts';
import { memorySecrets } from '../../../adapters/secrets/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { bearerAuthenticator, digestOfToken } from '../../../adapters/transport/bearer-authenticator.ts';
import { createHandler } from '../../../adapters/transport/http.ts';
import { scopes } from '../../../src/base/principal.ts';
import { createRegistry, type Storage } from '../../../src/index.ts';
import { createPeer } from '../../contracts/mcp/peer.ts';
import { continued, sealKey } from '../../fixtures/mcp/oauth-peer.ts';
import { callsTools, says, scriptedModel, streamOf } from '../../fixtures/model.ts';
import { runRequest, testRuntime } from '../../fixtures/runtime.ts';

const redirectUri = 'https://chat.example.com/callback';
const servers: Server[] = [];

/** Listens on this machine, and returns the origin. */
async function listen(make: (origin: string) => RequestListener | Promise<RequestListener>): Promise<string> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.on('request', await make(origin));
  return origin;
}

interface World {
  readonly issuer: string;
  readonly mcp: string;
  readonly grants: readonly string[];
}

/** An authorization server of `oidc-provider`, and an MCP server that takes its tokens. */
async function startServers(): Promise<World> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const grants: string[] = [];
  const peer = createPeer('modern');
  let issuer = '';
  const mcp = await listen((origin) => async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '', origin);
    const send = async (answer: Response): Promise<void> => {
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(Buffer.from(await answer.arrayBuffer()));
    };
    if (url.pathname.startsWith('/.well-known/oauth-protected-resource')) {
      const resource = { resource: `${origin}/mcp`, authorization_servers: [issuer], scopes_supported: ['read'] };
      return await send(Response.json(resource));
    }
    const token = request.headers.authorization?.slice('Bearer '.length);
    const claims = token === undefined
      ? {}
      : JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    if (claims.aud !== `${origin}/mcp` || claims.exp * 1000 < Date.now()) {
      return await send(new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer scope="read"' } }));
    }
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : []
    );
    const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) };
    await send(
      await peer.handle(
        new Request(url, { method: request.method ?? 'GET', headers: headers as [string, string][], ...body }),
      ),
    );
  });
  issuer = await listen(async (origin) => {
    const provider = new Provider(origin, {
      jwks: { keys: [{ ...await exportJWK(privateKey), alg: 'RS256', use: 'sig' }] },
      scopes: ['read', 'offline_access'],
      clientDefaults: { grant_types: ['authorization_code', 'refresh_token'], id_token_signed_response_alg: 'RS256' },
      features: {
        registration: { enabled: true },
        revocation: { enabled: true },
        devInteractions: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => `${mcp}/mcp`,
          useGrantedResource: () => true,
          getResourceServerInfo: (_context: unknown, resource: string) => ({
            scope: 'read',
            audience: resource,
            accessTokenFormat: 'jwt',
            accessTokenTTL: 60,
            jwt: { sign: { alg: 'RS256' } },
          }),
        },
      },
      issueRefreshToken: () => true,
      rotateRefreshToken: true,
      pkce: { required: () => true },
      responseTypes: ['code'],
    });
    provider.on('grant.success', ({ oidc }: { oidc: { params?: { grant_type?: string } } }) => {
      grants.push(oidc.params?.grant_type ?? '');
    });
    return provider.callback();
  });
  return { issuer, mcp, grants };
}

/** Follows the pages of the authorization server as a browser would, and returns the query of the redirect URI. */
async function consent(start: string): Promise<Record<string, string>> {
  const cookies = new Map<string, string>();
  let [url, init]: [string, RequestInit] = [start, {}];
  for (let steps = 0; steps < 20; steps++) {
    if (url.startsWith(redirectUri)) return Object.fromEntries(new URL(url).searchParams);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: { ...init.headers as Record<string, string>, cookie },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location !== null) {
      [url, init] = [new URL(location, url).href, {}];
      continue;
    }
    const page = await answer.text();
    const action = /action="([^"]+)"/.exec(page)?.[1];
    if (action === undefined) throw new Error(`No form at ${url}: ${page.slice(0, 500)}`);
    const body = new URLSearchParams({
      prompt: page.includes('value="login"') ? 'login' : 'consent',
      login: 'ann',
      password: 'x',
    });
    [url, init] = [new URL(action, url).href, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }];
  }
  throw new Error('The authorization server redirects without end');
}

/** One instance of the endpoint, of the user `ann`, whose clock may be ahead. */
async function instance({ issuer, mcp }: World, storage: Storage, aheadMs = 0) {
  const egress = denoEgress({ loopback: [issuer, mcp] });
  const registry = createRegistry({ storage, privateOrigins: ['loopback'] });
  const { model } = scriptedModel(({ prompt }) =>
    streamOf(prompt.at(-1)?.role === 'tool' ? says('ok') : callsTools({ tool: 'docs__echo', input: { text: 'hello' } }))
  );
  const runtime = testRuntime({
    model,
    catalog: registry,
    storage,
    secrets: memorySecrets({ seal: { value: sealKey, origins: ['code'] } }),
    mcp: mcpConnector2026({ egress }),
    mcpSignIn: mcpSignIn({ egress, redirectUris: [redirectUri], loopback: [issuer, mcp] }),
    sealKey: { id: 'seal' },
    now: () => Date.now() + aheadMs,
  });
  const facts = { tenant: 'acme', subject: 'ann', agents: '*', scopes, deployment: true } as const;
  const authenticator = bearerAuthenticator({ tokens: [{ digest: await digestOfToken('token-of-ann'), ...facts }] });
  const handle = createHandler(runtime, { authenticator, registry });
  const send = async (method: string, path: string, body?: unknown): Promise<Response> =>
    await handle(
      new Request(`http://127.0.0.1/v1${path}`, {
        method,
        headers: {
          authorization: 'Bearer token-of-ann',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(path === '/runs' && { 'idempotency-key': `"${crypto.randomUUID()}"` }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  const run = async (request = {}) => {
    const text = await (await send('POST', '/runs', runRequest(request))).text();
    return [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, data = '']) => JSON.parse(data));
  };
  const approve = async (): Promise<void> => {
    const look = await (await send('POST', '/mcp-servers/docs/validate', {})).json();
    expect(look).toMatchObject({ findings: [] });
    const effects = Object.fromEntries(look.tools.map(({ name }: { name: string }) => [name, 'read']));
    const answer = await send('POST', '/mcp-servers/docs/validate', { approve: true, digest: look.digest, effects });
    expect(await answer.json()).toMatchObject({ approved: true });
  };
  return { runtime, registry, send, run, approve };
}

describe('a sign-in at an authorization server of oidc-provider', () => {
  let world: World;
  beforeAll(async () => {
    world = await startServers();
  });
  afterAll(() => {
    for (const server of servers) server.close();
  });

  it('goes on at another instance after a restart between the consent and the callback', async () => {
    const storage = memoryStorage();
    const first = await instance(world, storage);
    await first.registry.put('provider', { id: 'default', kind: 'custom' });
    await first.registry.put('agent', { id: 'helper', name: 'Helper', providerId: 'default', mcp: { docs: {} } });
    const auth = { issuer: world.issuer };
    await first.registry.put('mcpServer', { id: 'docs', alias: 'docs', url: `${world.mcp}/mcp`, auth });
    await first.approve();
    const started = await (await first.send('POST', '/mcp-servers/docs/sign-in', { redirectUri })).json();
    const query = await consent(started.url);
    await first.runtime.close();

    const second = await instance(world, storage);
    expect((await second.send('POST', '/mcp-sign-ins', query)).status).toBe(204);
    expect((await second.send('POST', '/mcp-sign-ins', query)).status).toBe(404);
    await second.approve();
    expect(await (await second.send('GET', '/mcp-servers/docs/grant')).json()).toMatchObject({ state: 'active' });
    expect((await second.run()).some(({ type }) => type === 'tool-output-available')).toBe(true);

    const [later, third] = await Promise.all([instance(world, storage, 40_000), instance(world, storage, 40_000)]);
    const before = world.grants.filter((grant) => grant === 'refresh_token').length;
    const runs = await Promise.all(
      Array.from(
        { length: 20 },
        (_, at) =>
          (at % 2 === 0 ? later : third).run({ chat: { id: `chat-${at}`, messages: runRequest().chat.messages } }),
      ),
    );
    const done = runs.filter((chunks) => chunks.some(({ type }) => type === 'tool-output-available'));
    expect(done).toHaveLength(20);
    expect(world.grants.filter((grant) => grant === 'refresh_token').length - before).toBe(1);

    expect((await second.send('DELETE', '/mcp-servers/docs/grant')).status).toBe(204);
    const waiting = await second.run();
    const asked = waiting.find(({ type }) => type === 'data-interruption');
    expect(asked).toMatchObject({ data: { kind: 'sign_in', server: { alias: 'docs' } } });
    const again = { redirectUri, interruptionId: asked.data.id };
    const { url } = await (await third.send('POST', '/mcp-servers/docs/sign-in', again)).json();
    expect((await second.send('POST', '/mcp-sign-ins', await consent(url))).status).toBe(204);
    const after = await third.run(continued(waiting));
    expect(after.find(({ type }) => type === 'tool-output-available')).toMatchObject({
      output: { content: [{ text: 'hello' }] },
    });
  }, 30_000);
});
