/** An authorization server of `oidc-provider`, and an MCP server of the SDK that takes its tokens, for pages of other origins too. */

import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { Server as McpServer } from '@modelcontextprotocol/server';
import { createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify } from 'jose';
import { Provider } from 'oidc-provider';
import { closeServer, corsHeaders, listen } from './http-server.ts';
import { mcpListener } from './mcp-listener.ts';

export interface OAuthServers {
  readonly issuer: string;
  /** The address of the MCP server. */
  readonly mcpUrl: string;
  readonly calls: readonly string[];
  /** The grant types of the token requests that succeeded. */
  readonly grants: readonly string[];
  /** Tokens that were revoked. */
  readonly revocations: () => number;
  /** Makes the authorization server answer everything with this status; `undefined`: as usual. */
  failWith(status: number | undefined): void;
  close(): Promise<void>;
}

const scopes = ['read', 'write'];

/** Starts both. */
export async function startOAuthServers(): Promise<OAuthServers> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...await exportJWK(privateKey), alg: 'RS256', use: 'sig', kid: 'test' };
  const keys = createLocalJWKSet({ keys: [{ kty: jwk.kty!, n: jwk.n!, e: jwk.e!, alg: 'RS256', kid: 'test' }] });
  const calls: string[] = [];
  const grants: string[] = [];
  let revoked = 0;
  let failure: number | undefined;
  const [login, mcp] = [createServer(), createServer()];
  const [issuer, mcpOrigin] = [await listen(login), await listen(mcp)];
  const mcpUrl = `${mcpOrigin}/mcp`;
  const provider = createProvider(issuer, { jwk, mcpUrl });
  provider.on('grant.success', ({ oidc }) => void grants.push(oidc.params?.grant_type ?? ''));
  const serve = provider.callback();
  login.on('request', (request, response) => {
    if (answersCors(request, response)) return;
    if (request.url?.startsWith('/token/revocation')) revoked++;
    if (failure === undefined) serve(request, response);
    else response.writeHead(failure).end('CANARY of the authorization server');
  });
  mcp.on('request', guarded({ mcpOrigin, mcpUrl, issuer, keys, serve: mcpListener(() => toolServer(calls)) }));
  return {
    issuer,
    mcpUrl,
    calls,
    grants,
    revocations: () => revoked,
    failWith: (status) => (failure = status),
    async close() {
      await Promise.all([closeServer(login), closeServer(mcp)]);
    },
  };
}

function createProvider(issuer: string, { jwk, mcpUrl }: { readonly jwk: object; readonly mcpUrl: string }): Provider {
  return new Provider(issuer, {
    jwks: { keys: [jwk] },
    scopes: [...scopes, 'offline_access'],
    clientDefaults: { grant_types: ['authorization_code', 'refresh_token'], id_token_signed_response_alg: 'RS256' },
    clientAuthMethods: ['none'],
    clientBasedCORS: () => true,
    features: {
      registration: { enabled: true },
      revocation: { enabled: true },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => mcpUrl,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          scope: scopes.join(' '),
          audience: resource,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 600,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    pkce: { required: () => true },
    responseTypes: ['code'],
  });
}

/** Answers the preflights of pages; says that any page may read the others. */
function answersCors({ method }: IncomingMessage, response: ServerResponse): boolean {
  for (const [name, value] of Object.entries(corsHeaders)) response.setHeader(name, value);
  if (method !== 'OPTIONS') return false;
  response.writeHead(204).end();
  return true;
}

function guarded({ mcpOrigin, mcpUrl, issuer, keys, serve }: {
  readonly mcpOrigin: string;
  readonly mcpUrl: string;
  readonly issuer: string;
  readonly keys: ReturnType<typeof createLocalJWKSet>;
  readonly serve: RequestListener;
}): RequestListener {
  return (request, response) => {
    if (answersCors(request, response)) return;
    const { pathname } = new URL(request.url ?? '', mcpOrigin);
    if (pathname.startsWith('/.well-known/oauth-protected-resource')) {
      const metadata = { resource: mcpUrl, authorization_servers: [issuer], scopes_supported: ['read'] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata));
      return;
    }
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    void jwtVerify(token, keys, { issuer, audience: mcpUrl }).then(
      () => serve(request, response),
      () => response.writeHead(401, { 'www-authenticate': 'Bearer scope="read"' }).end(),
    );
  };
}

function toolServer(calls: string[]): McpServer {
  const server = new McpServer({ name: 'docs', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: [{
      name: 'find',
      description: 'Finds a document by its title.',
      inputSchema: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
      annotations: { readOnlyHint: true },
    }],
  }));
  server.setRequestHandler('tools/call', ({ params: { name, arguments: given } }) => {
    calls.push(name);
    return { content: [{ type: 'text', text: `Found: ${String(given?.['title'])}` }] };
  });
  return server;
}
