/** The login of a shop: an authorization server of `oidc-provider`, with a page where people sign in. */

import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { Provider } from 'oidc-provider';
import { closeServer, listen, type TestServer } from './http-server.ts';

/** How the server issues tokens. */
export interface ShopLoginOptions {
  /** Where people come back to. */
  readonly redirectUri: string;
  /** The endpoints that tokens can be for. */
  readonly audiences: readonly string[];
  /** The claims of an account in its access tokens. */
  readonly claimsOf: (accountId: string) => Readonly<Record<string, unknown>>;
  /** How long the next access token is valid. */
  readonly ttlSeconds: () => number;
  /** The key that signs; a new one when absent. */
  readonly key?: JWK;
}

/** The client that pages are: it has no secret. */
export const clientId = 'shop-page';

/** Returns a key for one or several servers. */
export async function createLoginKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...await exportJWK(privateKey), alg: 'RS256', use: 'sig', kid: 'login' };
}

/** Starts the server on 127.0.0.1: authorization code with PKCE, access tokens as JWT. Any name and password signs in. */
export async function startShopLogin(options: ShopLoginOptions): Promise<TestServer> {
  const { redirectUri, audiences, claimsOf, ttlSeconds, key = await createLoginKey() } = options;
  const server = createServer();
  const url = await listen(server);
  const provider = new Provider(url, {
    jwks: { keys: [key] },
    scopes: ['openid', 'offline_access'],
    clients: [{
      client_id: clientId,
      token_endpoint_auth_method: 'none',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    }],
    clientBasedCORS: (_context: unknown, origin: string) => origin === new URL(redirectUri).origin,
    extraTokenClaims: (_context: unknown, { accountId }: { readonly accountId: string }) => claimsOf(accountId),
    features: {
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: unknown, audience: string) => {
          if (!audiences.includes(audience)) throw new Error('Unknown resource');
          const jwt = { sign: { alg: 'RS256' } };
          return { scope: '', audience, accessTokenFormat: 'jwt', accessTokenTTL: ttlSeconds(), jwt };
        },
      },
    },
    issueRefreshToken: () => true,
    pkce: { required: () => true },
    responseTypes: ['code'],
  });
  server.on('request', provider.callback());
  return { url, close: () => closeServer(server) };
}
