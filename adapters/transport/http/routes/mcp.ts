/** The route of MCP clients: host and origin checks, authentication, and one JSON-RPC exchange. */

import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { PinnaceError, toPinnaceError } from '../../../../src/base/errors.ts';
import { isRecord, withoutNulls } from '../../../../src/base/is-record.ts';
import { parseRepairedJson } from '../../../../src/base/json.ts';
import { loadOnce } from '../../../../src/base/load-once.ts';
import { answerEarly, whenRead } from '../../mcp-server/answer-early.ts';
import type { McpEndpoint, McpHost } from '../../mcp-server/host.ts';
import { readBody } from '../../signed/body.ts';
import { type AccessTokenOptions, bearerTokenOf, isJwt, type RequestAuthenticator } from '../../signed/caller.ts';
import type { Authenticate, SignedEnv, WatchSession } from '../authentication.ts';
import { wellKnownPath } from '../request.ts';

export interface McpRouteOptions extends McpHost {
  /**
   * The host names, without a port, of the endpoint; those of this machine when absent. A page that a rebinding name server points
   * here sends its own host name, and is rejected.
   */
  readonly hosts?: readonly string[];
  /**
   * Lets MCP clients sign in by OAuth: the endpoint describes itself at `/.well-known/oauth-protected-resource/mcp`, names the
   * authorization server in its challenges, and accepts access tokens of it, at `/mcp` alone. Absent: clients send what `authenticator`
   * accepts.
   */
  readonly auth?: McpAuthOptions;
}

interface McpRoutesOptions {
  readonly mcp: McpRouteOptions;
  /** The origins whose pages may call. */
  readonly origins: readonly string[];
  readonly authenticate: Authenticate;
  readonly watchSession: WatchSession;
  readonly keepAliveMs: number;
  readonly now: () => number;
}

const loopbackHosts = ['localhost', '127.0.0.1', '[::1]'];

/** How long a response may take before it starts as a stream. */
const longestSilenceMs = 500;

/** Creates the route, to be mounted at its path. OpenAPI does not describe it: MCP clients query the server itself. */
export function mcpRoutes(options: McpRoutesOptions): Hono<SignedEnv> {
  const { mcp, origins, authenticate, keepAliveMs, now } = options;
  let loading: Promise<McpEndpoint> | undefined;
  const load = (): Promise<McpEndpoint> =>
    loading ??= import('../../mcp-server.ts')
      .then(({ createMcpEndpoint }) => createMcpEndpoint(mcp, { keepAliveMs, now }));
  const app = new Hono<SignedEnv>();
  app.use('/', offerBearer(mcp.auth), requireHost({ hosts: mcp.hosts ?? loopbackHosts, origins }));
  app.use(
    '/',
    cors({ origin: [...origins], allowMethods: ['GET', 'POST', 'DELETE'], exposeHeaders, maxAge: 600 }),
  );
  app.all('/', authenticate, async (c) => await exchange(c, options, load));
  return app;
}

/** The server is loaded with the first request that has a message to it. */
async function exchange(
  c: Context<SignedEnv>,
  { mcp, watchSession }: McpRoutesOptions,
  load: () => Promise<McpEndpoint>,
): Promise<Response> {
  const { raw } = c.req;
  const { principal } = c.var;
  const tools = await mcp.tools(principal);
  const body = await readMessage(raw);
  if (body === unreadable) return parseError();
  const endpoint = await load();
  const stop = new AbortController();
  const unwatch = watchSession(principal, stop);
  try {
    const signal = AbortSignal.any([raw.signal, stop.signal]);
    const headers = withBothTypes(raw.headers);
    const request = new Request(raw.url, { method: raw.method, headers, signal });
    const answer = endpoint.fetch(request, { principal, tools, body });
    const streams = headers.get('accept')?.includes('text/event-stream') === true;
    const onLeave = (): void => stop.abort('client_gone');
    return whenRead(await (streams ? answerEarly(answer, { waitMs: longestSilenceMs, onLeave }) : answer), unwatch);
  } catch (error) {
    unwatch();
    throw error;
  }
}

/**
 * The library looks for both types by their names. A client that accepts them by a range, or does not say what it accepts, accepts them
 * as well (RFC 9110, 12.5.1).
 */
function withBothTypes(given: Headers): Headers {
  const ranges = (given.get('accept')?.trim() || '*/*').split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return { type, isRefused: parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter)) };
  });
  const accepts = (type: string): boolean => {
    const [exact, rest] = [type, `${type.split('/')[0]}/*`];
    const found = [exact, rest, '*/*'].map((one) => ranges.find((range) => range.type === one)).find(Boolean);
    return found !== undefined && !found.isRefused;
  };
  const headers = new Headers(given);
  if (bothTypes.every(accepts)) headers.set('accept', bothTypes.join(', '));
  return headers;
}

const bothTypes = ['application/json', 'text/event-stream'];

const exposeHeaders = ['mcp-session-id', 'www-authenticate', 'retry-after', 'x-trace-id'];

/** Runs before anything of the request is read. Only pages send an origin. */
function requireHost(
  { hosts, origins }: { readonly hosts: readonly string[]; readonly origins: readonly string[] },
): MiddlewareHandler {
  return async (c, next) => {
    const url = new URL(c.req.url);
    if (!hosts.includes(url.hostname)) {
      throw new PinnaceError('misdirected_request', 'This endpoint does not serve this host name');
    }
    const origin = c.req.header('origin');
    if (origin !== undefined && origin !== url.origin && !origins.includes(origin)) {
      throw new PinnaceError('origin_not_allowed', 'Pages of this origin may not call this endpoint');
    }
    await next();
  };
}

const unreadable = Symbol('unreadable');

/** Returns the message; `undefined` for a request without one. A body that is not JSON by its type is never read. */
async function readMessage(request: Request): Promise<unknown> {
  if (request.method !== 'POST' || !/^application\/json\s*(;|$)/i.test(request.headers.get('content-type') ?? '')) {
    return undefined;
  }
  const bytes = await readBody(request);
  try {
    return toMessage(parseRepairedJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  } catch {
    return unreadable;
  }
}

/** The library refuses fields that JSON-RPC does not know, and null where a field is left out, as clients in many languages write it. */
function toMessage(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(toMessage);
  if (!isRecord(data)) return data;
  const { jsonrpc, id, method, params, result, error } = data;
  const isNotice = typeof method === 'string' && method.startsWith('notifications/');
  return {
    jsonrpc,
    ...(id !== undefined && (id !== null || !isNotice) && { id }),
    ...(method !== undefined && { method }),
    ...(params !== undefined && params !== null && { params: paramsOf(params) }),
    ...(result !== undefined && { result: withoutNulls(result) }),
    ...(error !== undefined && { error }),
  };
}

function paramsOf(params: unknown): unknown {
  if (!isRecord(params)) return params;
  const said = Object.entries(params).filter(([name, value]) => value !== null || !leftOut.has(name));
  return Object.fromEntries(said.map(([name, value]) => [name, ofClient.has(name) ? withoutNulls(value) : value]));
}

const leftOut: ReadonlySet<string> = new Set(['_meta', 'arguments', 'context', 'task']);
/** What a client says of itself, or a person of a question. */
const ofClient: ReadonlySet<string> = new Set(['_meta', 'capabilities', 'clientInfo', 'inputResponses']);

function parseError(): Response {
  const error = { code: -32700, message: 'Parse error: the body is not JSON, or nested too deep' };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 400 });
}

/** MCP clients know bearer tokens, not signatures: a 401 offers both, and a 403 names the scope that the token lacks. */
function offerBearer(auth: McpAuthOptions | undefined): MiddlewareHandler {
  return async (c, next) => {
    await next();
    const challenge = challengeOf(auth, { status: c.res.status, error: c.error });
    if (challenge === undefined) return;
    const own = c.res.headers.get('www-authenticate');
    c.res.headers.set('www-authenticate', own === null ? challenge : `${challenge}, ${own}`);
  };
}

/** How MCP clients sign in: with access tokens (JWT) that an authorization server issues for this endpoint. */
interface McpAuthOptions extends AccessTokenOptions {
  /** The URL of `/mcp` as clients know it. It is the audience of tokens: tokens for anything else are refused. */
  readonly resource: string;
  /** The OAuth scopes that a token must have, and that clients ask for. */
  readonly scopes?: readonly string[];
  /** The name that clients show when they ask a person to sign in. */
  readonly name?: string;
}

const load = /* @__PURE__ */ loadOnce(() => import('../../jwt-authenticator.ts'));

/**
 * Returns the authenticator of `/mcp`: a bearer token that is a JWT must be one of the authorization server; everything else is left to
 * the endpoint's own authenticator.
 * @throws PinnaceError `invalid_argument` (`invalid_mcp_auth`) for an issuer or a resource that is no https URL.
 */
export function withAccessTokens(
  authenticator: RequestAuthenticator,
  { resource, scopes = [], name: _, ...options }: McpAuthOptions,
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

function metadataUrlOf(resource: string): string {
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
    return c.json(description, 200, { 'cache-control': 'public, max-age=3600' });
  };
}

/**
 * Returns the challenge of a refused request, for `WWW-Authenticate`; `undefined` for other responses. It comes first: parsers of MCP
 * clients read no other place.
 */
function challengeOf(
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
