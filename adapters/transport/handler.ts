/**
 * The HTTP endpoint: a `Request` in, a `Response` out, the same on every server that speaks Fetch. What must hold:
 *
 * 1. A route is reached through the guard of its row (`serveOn`): a row without a scope is open, all others verify their caller.
 * 2. Errors of all routes end in `onError`, as one problem each. From 500 on, the cause is reported, and the problem does not contain
 *    it. A refusal before the caller is verified is emitted without a principal.
 * 3. The trace is set before anything can refuse the request, so every problem names it. Unread bodies are dropped last.
 * 4. Bodies count against the address of the client until its tenant is known, and against the tenant from then on.
 */

import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { TrieRouter } from 'hono/router/trie-router';
import { checkKnownOptions, checkOptions, optional, type Wanted, wrongArgument } from '../../src/base/check-options.ts';
import { PinnaceError, toPinnaceError } from '../../src/base/errors.ts';
import type { McpSignIn } from '../../src/contracts/mcp/sign-in.ts';
import { reportHidden } from '../../src/events/report.ts';
import type { Planner } from '../../src/planner/planner.ts';
import type { Registry } from '../../src/registry/registry.ts';
import type { HostedRuntime } from '../../src/runtime/runtime.ts';
import {
  createAdmission,
  createQuotas,
  createSubjectWatch,
  defaultStartObjectiveMs,
  type QuotaLimits,
} from './http/admission.ts';
import {
  createAuthentication,
  createMetricsToken,
  createSessionWatch,
  type Served,
  serveOn,
  type SignedEnv,
} from './http/authentication.ts';
import { describeApp } from './http/operation.ts';
import {
  createGetPath,
  isRefusedByEndpoint,
  problemResponse,
  requireAddress,
  setTarget,
  setTrace,
  wellKnownPath,
} from './http/request.ts';
import { aguiRoutes } from './http/routes/agui.ts';
import { auditRoutes, eventRoutes } from './http/routes/audit.ts';
import { chatRoutes, storedChatRoutes } from './http/routes/chat.ts';
import { type GroundingRouteOptions, groundingRoutes } from './http/routes/grounding.ts';
import { blobRoutes, budgetRoutes, subjectRoutes } from './http/routes/holdings.ts';
import { inboxRoutes } from './http/routes/inbox.ts';
import { clientMetadataRoutes, mcpContentRoutes, signInRoutes } from './http/routes/mcp-content.ts';
import { type McpRouteOptions, mcpRoutes, protectedResource, withAccessTokens } from './http/routes/mcp.ts';
import { operationRoutes } from './http/routes/operations.ts';
import { registryRoutes } from './http/routes/registry.ts';
import { forkRoutes, runRoutes } from './http/routes/runs.ts';
import { scheduleRoutes } from './http/routes/schedules.ts';
import { undoRoutes } from './http/routes/undo.ts';
import { approvalRoutes, messageRoutes, planRoutes } from './http/routes/steering.ts';
import { type BodyIntake, type BodyLimits, createBodyIntake, dropBody, receiveBy } from './signed/body.ts';
import type { RequestAuthenticator } from './signed/caller.ts';

/** The options of an endpoint. */
export interface HandlerOptions {
  /** Verifies every request but those for health and the OpenAPI document. */
  readonly authenticator: RequestAuthenticator;
  /** The path that the endpoint is below, such as `/agents`; signatures cover it. At the root when absent. */
  readonly basePath?: string;
  /** The largest body of every request; absent: 16 MiB for runs, chats, forks, files and imports, 1 MiB for others. */
  readonly maxBodyBytes?: number;
  /** How long a body may take to arrive, and how many may arrive at once. */
  readonly bodies?: Partial<BodyLimits>;
  /** The time without an event after which a stream sends a comment, in milliseconds (15,000). */
  readonly keepAliveMs?: number;
  /** How many runs may be in progress at once. */
  readonly quotas?: Partial<QuotaLimits>;
  /**
   * The longest that the start of a run may take, in milliseconds (2,000). A start that would take longer is refused at once as
   * `overloaded` (503) with `Retry-After`. `Infinity` refuses none.
   */
  readonly startObjectiveMs?: number;
  /** The origins whose pages may call the endpoint from a browser; none when absent. */
  readonly origins?: readonly string[];
  /** Serves MCP clients at `/mcp`; absent, nothing is served there. */
  readonly mcp?: McpRouteOptions;
  /**
   * The sign-in of the runtime. With its `endpointUrl`, the endpoint serves the OAuth client ID metadata document at
   * `/oauth/client.json`; absent, nothing is served there.
   */
  readonly mcpSignIn?: Pick<McpSignIn, 'clientMetadata'>;
  /** Serves the registries, at `/v1/agents` and so on; absent, they are not served. */
  readonly registry?: Registry;
  /** Serves grounding, at `/v1/grounding` and `/v1/data-sources/:id/ingest`; absent, it is not served. */
  readonly grounding?: GroundingRouteOptions;
  /** Serves the plans of this planner, at `/v1/plans/:id`; absent, they are not served. */
  readonly planner?: Planner;
  /**
   * A token with which Prometheus reads `GET /v1/metrics`, with the names of tools and models, 32 to 512 characters. It opens no
   * other route. Absent, reading them needs a principal with the scope `admin`.
   */
  readonly metricsToken?: string;
  /** What the platform can do, for `GET /v1/readyz`. */
  readonly capabilities?: () => Promise<Readonly<Record<string, unknown>>>;
  /** Milliseconds since 1970; the clock of the platform when absent. */
  readonly now?: () => number;
  /** From 0 to 1, for the spread of `Retry-After`; `Math.random` when absent. */
  readonly random?: () => number;
}

/** What each option must be: the same in `createHandler` and in the endpoints that take its options. */
export const handlerOptions: Readonly<Record<keyof HandlerOptions, Wanted>> = {
  authenticator: ['.authenticate', 'an authenticator, such as bearerAuthenticator({ tokens })'],
  origins: ['array?', 'an array of origins, such as ["https://app.example.com"]'],
  ...optional('basePath', 'maxBodyBytes', 'bodies', 'keepAliveMs', 'quotas', 'startObjectiveMs', 'mcp'),
  ...optional('mcpSignIn', 'registry', 'grounding', 'planner', 'metricsToken', 'capabilities', 'now', 'random'),
};

/** The connection of a request, as `Deno.serve` and `@hono/node-server` pass it. */
export interface ConnectionInfo {
  readonly remoteAddr?: object;
  /** The request as it came, as `@hono/node-server` passes it: its `Request` has a path without dot segments. */
  readonly incoming?: {
    readonly url?: string | undefined;
    readonly socket?: { readonly remoteAddress?: string | undefined };
  };
}

/** Serves one request. Never rejects: errors are problem responses (RFC 9457). */
export type Handler = (request: Request, connection?: ConnectionInfo) => Promise<Response>;

/**
 * Creates the handler of an endpoint.
 *
 * @throws PinnaceError `invalid_argument` for an unknown option or one of a wrong kind, such as no authenticator (reason `wrong_argument`), and for
 * a `metricsToken` that is too short (reason `metrics_token`).
 */
export function createHandler(runtime: HostedRuntime, options: HandlerOptions): Handler {
  checkHandler(runtime, options);
  const intake = createBodyIntake(options.bodies);
  const app = createApp(runtime, { ...options, intake });
  return async (request, connection) => {
    requireWebRequest(request, connection);
    receiveBy(intake, request, { address: addressOf(connection) });
    if (typeof connection?.incoming?.url === 'string') setTarget(request, connection.incoming.url);
    return await app.fetch(request);
  };
}

function checkHandler(runtime: unknown, options: HandlerOptions): void {
  const action = 'create the handler';
  checkOptions(action, { runtime, options }, {
    runtime: ['.run', 'what createRuntime returns, then { authenticator }'],
    options: ['object', '{ authenticator } after the runtime'],
  });
  checkKnownOptions(action, options, handlerOptions);
  const { origins = [], basePath = '' } = options;
  const wrong = origins.find((origin) => !/^[a-z][a-z\d+.-]*:\/\/[^/*\s]+$/i.test(origin));
  if (wrong !== undefined) {
    throw wrongArgument(action, 'origins', `"${wrong}" is no origin; list each, such as "https://app.example.com"`);
  }
  if (!/^(\/|$)/.test(basePath)) {
    throw wrongArgument(action, 'basePath', `"basePath" must start with "/", as "/${basePath}"`);
  }
}

/** A handler that `createServer` of `node:http` calls gets neither a `Request`, nor can it answer by what it returns. */
function requireWebRequest(request: Partial<Request>, response: unknown): void {
  if (typeof request.headers?.get === 'function') return;
  const why = 'it is no Request; for node:http pass createServer(toNodeListener(handler)), of "pinnace/node"';
  const { writeHead, end } = (response ?? {}) as { writeHead?: unknown; end?: unknown }; // of node:http, or nothing
  if (typeof writeHead === 'function' && typeof end === 'function') {
    writeHead.call(response, 500, { 'content-type': 'text/plain' });
    end.call(response, `Cannot handle the request: ${why}\n`);
  }
  throw wrongArgument('handle the request', 'request', why);
}

export function createApp(
  runtime: HostedRuntime,
  { intake, ...options }: HandlerOptions & { readonly intake: BodyIntake },
): Hono<SignedEnv> {
  const { authenticator, origins = [], capabilities = noCapabilities, mcp, registry, grounding, planner } = options;
  const { keepAliveMs = 15_000, now = Date.now } = options;
  const { startObjectiveMs = defaultStartObjectiveMs } = options;
  const { metrics } = runtime;
  const { maxBodyBytes } = options;
  const authentication = createAuthentication({ authenticator, metrics, intake, maxBodyBytes });
  const { authenticate } = authentication;
  const watchSession = createSessionWatch(authenticator);
  runtime.runs.watchers.add(watchSession);
  const quotas = createQuotas(options.quotas);
  const admission = createAdmission({ objectiveMs: startObjectiveMs, now });
  runtime.metrics.gauge('pinnace_starting_runs', () => admission.starting);
  const app = createBase(runtime, options);
  const endpoint: Served = {
    runtime,
    serve: serveOn(app, authentication),
    authenticate,
    watchSession,
    watchSubject: createSubjectWatch({ report: runtime.report, now }),
    quotas,
    admission,
    keepAliveMs,
    now,
    capabilities,
    describe: () => describeApp(app),
  };
  for (const routes of [runRoutes, forkRoutes, undoRoutes, chatRoutes, aguiRoutes, storedChatRoutes]) routes(endpoint);
  subjectRoutes(endpoint, grounding?.grounding);
  for (const routes of [blobRoutes, budgetRoutes, messageRoutes, approvalRoutes, inboxRoutes, signInRoutes]) {
    routes(endpoint);
  }
  operationRoutes(endpoint, options.metricsToken === undefined ? undefined : createMetricsToken(options.metricsToken));
  for (const routes of [mcpContentRoutes, eventRoutes, auditRoutes, scheduleRoutes]) routes(endpoint);
  const authenticateMcp = mcp?.auth
    ? createAuthentication({
      authenticator: withAccessTokens(authenticator, mcp.auth, now),
      metrics,
      intake,
      maxBodyBytes,
    }).authenticate
    : authenticate;
  const host = mcp && { onError: runtime.report, ...mcp };
  const forMcp = { authenticate: authenticateMcp, origins, watchSession, keepAliveMs, now };
  if (host) app.route('/mcp', mcpRoutes({ mcp: host, ...forMcp }));
  if (mcp?.auth) app.use(`${wellKnownPath}/*`, cors()).get(`${wellKnownPath}/*`, protectedResource(mcp.auth));
  const clientMetadata = options.mcpSignIn?.clientMetadata;
  if (clientMetadata) clientMetadataRoutes(endpoint, clientMetadata);
  if (registry) registryRoutes(endpoint, registry);
  if (grounding) groundingRoutes(endpoint, grounding);
  if (planner) planRoutes(endpoint, planner);
  return app;
}

/** Creates an app that serves nothing yet: problems, the trace, CORS, 404 and 405. */
function createBase(
  runtime: Pick<HostedRuntime, 'refused' | 'report'>,
  { now = Date.now, random = Math.random, origins = [], basePath, authenticator }: HandlerOptions,
): Hono<SignedEnv> {
  // Hono's default router compiles all routes into one expression with the first request: that takes 8 ms of a cold start.
  const app = new Hono<SignedEnv>({ getPath: createGetPath(basePath), router: new TrieRouter() });
  const respond = (c: Context<SignedEnv>, error: unknown): Response =>
    problemResponse(c, error, { now: now(), random });
  app.onError((error, c) => {
    const { isUnverified, trace, principal } = c.var;
    const { method, path } = c.req;
    if (toPinnaceError(error).status >= 500) {
      reportHidden(runtime.report, error, { kind: 'http', id: `${method} ${path}`, traceId: trace.traceId });
    }
    if (isUnverified || isRefusedByEndpoint(error)) {
      runtime.refused(error, { ...trace, principal: isUnverified ? undefined : principal });
    }
    return respond(c, error);
  });
  app.notFound((c) =>
    respond(c, new PinnaceError('not_found', notFoundText(c.req.path), { details: { reason: 'no_route' } }))
  );
  app.use(dropUnreadBodies, setTrace, requireAddress);
  // Which headers a page of a listed origin sends is its own matter: its tools for traces add some.
  app.use(
    '/v1/*',
    cors({
      origin: [...origins],
      allowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      exposeHeaders,
      maxAge: 600,
      ...(authenticator.usesCookies && { credentials: true }),
    }),
  );
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c, methods) => notAllowed(respond(c, wrongMethod(methods)), methods),
    }),
  );
  return app;
}

/** What usual paths of other servers are called here. */
const otherPaths: readonly (readonly [path: RegExp, advice: string])[] = [
  [/\/v1\/v1\//, 'the address of an endpoint ends before "/v1"'],
  [/\/(?:healthz?|livez?|liveness|ping|status)\/?$/, 'use GET /v1/healthz'],
  [/\/(?:ready|readyz|readiness)\/?$/, 'use GET /v1/readyz'],
  [/\/metrics\/?$/, 'use GET /v1/metrics'],
  [/\/openapi\.json$/, 'use GET /v1/openapi.json'],
  [/\/chat(?:\/completions)?\/?$/, 'use POST /v1/agents/<id>/chat'],
  [/\/runs\/?$/, 'use POST /v1/runs'],
  [/\/(?:mcp\/|sse\/?)$/, 'MCP clients use /mcp, by Streamable HTTP'],
];

function notFoundText(path: string): string {
  const advice = otherPaths.find(([other]) => other.test(path))?.[1];
  return `Nothing is served at this path${advice === undefined ? '' : `: ${advice}`}`;
}

function wrongMethod(methods: readonly string[]): PinnaceError {
  return new PinnaceError('method_not_allowed', `This path does not serve this method: use ${methods.join(', ')}`);
}

function notAllowed(response: Response, methods: readonly string[]): Response {
  response.headers.set('allow', methods.join(', '));
  return response;
}

async function noCapabilities(): Promise<Readonly<Record<string, unknown>>> {
  return {};
}

const exposeHeaders = [
  'etag',
  'location',
  'retry-after',
  'x-run-id',
  'x-trace-id',
  'idempotency-replayed',
  'accept-signature',
  'date',
];

/**
 * Hono serves HEAD as GET and drops the body: a stream without a reader would hold its run. A request's body that no route has read
 * is canceled too, so that a rejected sender stops sending.
 */
const dropUnreadBodies: MiddlewareHandler = async (c, next) => {
  await next();
  if (c.req.method === 'HEAD') await c.res.body?.cancel();
  dropBody(c.req.raw);
};

/** The address of the client, or of the proxy before the endpoint; `undefined` where the server does not pass it. */
function addressOf(connection: ConnectionInfo | undefined): string | undefined {
  const address = connection?.remoteAddr;
  if (!address || !('hostname' in address)) return connection?.incoming?.socket?.remoteAddress;
  return typeof address.hostname === 'string' ? address.hostname : undefined;
}
