/** OAuth for `/mcp`: the endpoint is a protected resource (RFC 9728) of an authorization server that the host names. */

import type { MiddlewareHandler } from 'hono';
import { PinnaceError, toPinnaceError } from '../../../src/base/errors.ts';
import { loadOnce } from '../../../src/base/load-once.ts';
import type { Authenticator, NonceVerifier } from '../../../src/contracts/authenticator.ts';
import type { JwtAuthenticatorOptions } from '../jwt-authenticator.ts';
import type { Revocable } from './authentication.ts';
import type { SignedEnv } from './env.ts';
import { bearerTokenOf, isJwt } from '../bearer-token.ts';

/** How MCP clients sign in: with access tokens (JWT) that an authorization server issues for this endpoint. */
export interface McpAuthOptions
  extends
    Pick<JwtAuthenticatorOptions, 'issuer' | 'keys' | 'egress' | 'privateOrigins' | 'requireType' | 'principalOf'> {
  /** The URL of `/mcp` as clients know it. It is the audience of tokens: tokens for anything else are refused. */
  readonly resource: string;
  /** The OAuth scopes that a token must have, and that clients ask for. */
  readonly scopes?: readonly string[];
  /** The name that clients show when they ask a person to sign in. */
  readonly name?: string;
}

type RequestAuthenticator = Authenticator & Partial<Revocable> & Partial<NonceVerifier>;

/** Where protected resources describe themselves (RFC 9728). */
export const wellKnownPath = '/.well-known/oauth-protected-resource';

const load = /* @__PURE__ */ loadOnce(() => import('../jwt-authenticator.ts'));

/**
 * Returns the authenticator of `/mcp`: a bearer token that is a JWT must be one of the authorization server; everything else is left to
 * the endpoint's own authenticator.
 *
 * @throws PinnaceError `invalid_argument` (`invalid_mcp_auth`) for an issuer or a resource that is no https URL.
 */
export function withAccessTokens(
  authenticator: RequestAuthenticator,
  { resource, scopes = [], ...options }: McpAuthOptions,
  now: () => number,
): RequestAuthenticator {
  for (const url of [resource, options.issuer]) requirePublicUrl(url);
  const ofTokens = loadOnce(async () => {
    const { jwtAuthenticator } = await load();
    return jwtAuthenticator({ ...options, audience: resource, requiredScopes: scopes, now });
  });
  const find = async (request: Request): Promise<RequestAuthenticator> =>
    hasJwt(request) ? await ofTokens() : authenticator;
  return {
    authenticate: async (request) => await (await find(request)).authenticate(request),
    async verify(request) {
      const found = await find(request);
      return await found.verify?.(request) ?? { principal: await found.authenticate(request) };
    },
    ...(authenticator.onRevoked && { onRevoked: authenticator.onRevoked.bind(authenticator) }),
  };
}

/** A signature of another kind, and an opaque token, are the endpoint's own. */
function hasJwt(request: Request): boolean {
  return isJwt(bearerTokenOf(request, Infinity) ?? '');
}

/** A resource and an issuer are identifiers: they are compared as text, and must lead to no place that another may serve. */
function requirePublicUrl(text: string): void {
  const url = URL.parse(text);
  const isLoopback = url?.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  const isPlain = url !== null && url.hash === '' && url.username === '' && url.password === '' && url.search === '';
  if (isPlain && (url.protocol === 'https:' || isLoopback)) return;
  throw new PinnaceError('invalid_argument', 'Cannot serve MCP clients that sign in: use https URLs without a query', {
    details: { reason: 'invalid_mcp_auth' },
  });
}

/** Returns the URL of the resource's description. */
export function metadataUrlOf(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return `${origin}${wellKnownPath}${pathname === '/' ? '' : pathname}`;
}

/** Serves the description. It is public: every page may read it. */
export function protectedResource(
  { resource, issuer, scopes = [], name }: McpAuthOptions,
): MiddlewareHandler<SignedEnv> {
  const paths: ReadonlySet<string> = new Set([new URL(metadataUrlOf(resource)).pathname, `${wellKnownPath}/mcp`]);
  const description = {
    resource,
    authorization_servers: [issuer],
    bearer_methods_supported: ['header'],
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    ...(name !== undefined && { resource_name: name }),
  };
  return async (c, next) => {
    if (!paths.has(c.req.path)) return await next();
    return c.json(description, 200, { 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=3600' });
  };
}

/**
 * Returns the challenge of a refused request, for `WWW-Authenticate`; `undefined` for other responses. It comes first: parsers of MCP
 * clients read no other place.
 */
export function challengeOf(
  auth: McpAuthOptions | undefined,
  { status, error }: { readonly status: number; readonly error: unknown },
): string | undefined {
  const { code, details } = toPinnaceError(error);
  const lacksScope = status === 403 && details?.['reason'] === 'insufficient_scope';
  if (status !== 401 && !(auth && lacksScope)) return undefined;
  if (!auth) return 'Bearer';
  const why = lacksScope ? 'insufficient_scope' : code.startsWith('token_') ? 'invalid_token' : undefined;
  const { scopes = [] } = auth;
  return [
    `Bearer resource_metadata="${metadataUrlOf(auth.resource)}"`,
    ...(scopes.length > 0 ? [`scope="${scopes.join(' ')}"`] : []),
    ...(why === undefined ? [] : [`error="${why}"`]),
  ].join(', ');
}
