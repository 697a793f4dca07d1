import { createServer, type RequestListener, type Server } from 'node:http';
import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider } from 'oidc-provider';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { denoEgress } from '../../../adapters/egress/deno.ts';
import { toNodeListener } from '../../../adapters/node.ts';
import { bearerAuthenticator } from '../../../adapters/transport/bearer-authenticator.ts';
import { listedResources } from '../../../adapters/transport/mcp-content.ts';
import { mcpEndpoint } from '../../fixtures/mcp/mcp-host.ts';
import { closeServer, listen } from '../../tools/servers/http-server.ts';

const servers: Server[] = [];

/** Starts a server whose listener needs to know its origin. */
async function start(make: (origin: string) => RequestListener | Promise<RequestListener>): Promise<string> {
  const server = createServer();
  servers.push(server);
  const origin = await listen(server);
  server.on('request', await make(origin));
  return origin;
}

/** An authorization server of `oidc-provider`; its tokens are for the resource that the client names. */
async function authorizationServer(origin: string): Promise<RequestListener> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const provider = new Provider(origin, {
    jwks: { keys: [{ ...await exportJWK(privateKey), alg: 'RS256', use: 'sig', kid: 'key-1' }] },
    scopes: ['agents:use'],
    clients: [{
      client_id: 'robot',
      client_secret: 'secret-of-the-robot',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    }],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          scope: 'agents:use',
          audience: resource,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 60,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
  return provider.callback();
}

/** An endpoint that takes the tokens of the issuer, over its own way out. */
function resourceServer(issuer: string): (origin: string) => RequestListener {
  const who = listedResources([{
    uri: 'x://who',
    name: 'who',
    read: ({ principal: { tenant, subject } }) => [{ text: `${tenant} ${subject}` }],
  }]);
  return (origin) =>
    toNodeListener(mcpEndpoint({
      authenticator: bearerAuthenticator({ tokens: [] }),
      mcp: {
        resources: [who],
        auth: {
          issuer,
          resource: `${origin}/mcp`,
          keys: `${issuer}/jwks`,
          egress: denoEgress(),
          privateOrigins: [issuer],
          scopes: ['agents:use'],
          principalOf: ({ sub }) => ({ tenant: 't1', subject: sub, agents: '*', scopes: ['run:create'] }),
        },
      },
    }));
}

function connect(url: string, issuer: string, sendTo = url) {
  const authProvider = new ClientCredentialsProvider({
    clientId: 'robot',
    clientSecret: 'secret-of-the-robot',
    expectedIssuer: issuer,
  });
  const tokens: string[] = [];
  const transport = new StreamableHTTPClientTransport(new URL(sendTo), {
    authProvider,
    fetch: async (input, init) => {
      const token = new Headers(init?.headers).get('authorization');
      if (token?.startsWith('Bearer ')) tokens.push(token);
      return await fetch(input, init);
    },
  });
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  return { client, tokens, connected: client.connect(transport) };
}

let issuer: string;
let one: string;
let other: string;
beforeAll(async () => {
  issuer = await start(authorizationServer);
  one = await start(resourceServer(issuer));
  other = await start(resourceServer(issuer));
});
afterAll(async () => {
  for (const server of servers) await closeServer(server);
});

describe('an MCP client that signs in at an authorization server of oidc-provider', () => {
  it('finds it from the challenge, and reads as the principal of its token', async () => {
    const { client, connected } = connect(`${one}/mcp`, issuer);
    await connected;
    expect(await client.readResource({ uri: 'x://who' })).toMatchObject({ contents: [{ text: 't1 robot' }] });
    await client.close();
  });

  it('cannot use its token at another resource of the same authorization server', async () => {
    const { client, connected, tokens } = connect(`${one}/mcp`, issuer);
    await connected;
    await client.close();
    const [token = ''] = tokens;
    const statusAt = async (origin: string) => {
      const headers = {
        'authorization': token,
        'content-type': 'application/json',
        'accept': 'application/json, text/event-stream',
      };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
      const response = await fetch(`${origin}/mcp`, { method: 'POST', headers, body });
      await response.text();
      return response.status;
    };
    expect(token).toMatch(/^Bearer \S+\.\S+\.\S+$/);
    expect(await statusAt(one)).toBe(200);
    expect(await statusAt(other)).toBe(401);
  });
});
