/** The HTTP endpoint: a `Request` in, a `Response` out, the same on every server that speaks Fetch. */

import { Hono, type MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { PinnaceError, toPinnaceError } from '../../../src/base/errors.ts';
import type { Authenticator } from '../../../src/contracts/authenticator.ts';
import type { Principal } from '../../../src/base/principal.ts';
import type { HostedRuntime } from '../../../src/runtime/runtime.ts';
import { type BodyIntake, type BodyLimits, createBodyIntake } from './body-intake.ts';
import { addMcpRoute, type McpRouteOptions } from './mcp.ts';
import type { Planner } from '../../../src/planner/planner.ts';
import type { Registry } from '../../../src/registry/registry.ts';
import { addRegistryRoutes } from './registry.ts';
import { addAuditRoutes } from './audit.ts';
import { addEventRoute } from './events.ts';
import { addGroundingRoutes, type GroundingRouteOptions } from './grounding.ts';
import { addOperationRoutes } from './operations.ts';
import { addPlanRoutes } from './plans.ts';
import { problemResponse } from './problem.ts';
import { createRefusedRequests, type RefusedRequests } from './refused-requests.ts';
import { createQuotas, type QuotaLimits } from './quotas.ts';
import { requireAddress } from './require-address.ts';
import { addRunRoutes } from './runs.ts';
import { dropBody, receiveBy } from '../signed/body.ts';
import { nameTrace } from './trace.ts';

/** What an endpoint needs besides the runtime. */
export interface HandlerOptions {
  /** Verifies every request but those for health. There is no endpoint without one. */
  readonly authenticator: Authenticator & Partial<Revocable>;
  /** The largest body that a request may have. */
  readonly maxBodyBytes?: number;
  /** How long a body may take to arrive, and how many may arrive at once. */
  readonly bodies?: Partial<BodyLimits>;
  /** The time without an event after which a stream sends a comment. */
  readonly keepAliveMs?: number;
  /** How many runs may go on at once. */
  readonly quotas?: Partial<QuotaLimits>;
  /** The origins whose pages may call the endpoint from a browser; none when absent. */
  readonly origins?: readonly string[];
  /** Serves MCP clients at `/mcp`; absent, nothing is served there. */
  readonly mcp?: McpRouteOptions;
  /** Serves the registries, at `/v1/agents` and so on; absent, they are not served. */
  readonly registry?: Registry;
  /** Serves grounding, at `/v1/grounding` and `/v1/data-sources/:id/ingest`; absent, it is not served. */
  readonly grounding?: GroundingRouteOptions;
  /** Serves the plans that this planner keeps, at `/v1/plans/:id`; absent, they are not served. */
  readonly planner?: Planner;
  /** What `GET /v1/readyz` tells besides, as what the platform can do. */
  readonly capabilities?: () => Promise<Readonly<Record<string, unknown>>>;
  readonly now?: () => number;
  /** From 0 to 1, for the spread of `Retry-After`; `Math.random` when absent. */
  readonly random?: () => number;
}

/** An authenticator that hears of revoked sessions. */
export interface Revocable {
  onRevoked(principal: Principal, listener: () => void): () => void;
}

/** What routes share. */
export interface HandlerContext
  extends
    Required<Omit<HandlerOptions, 'quotas' | 'bodies' | 'origins' | 'mcp' | 'registry' | 'grounding' | 'planner'>> {
  readonly registry: Registry | undefined;
  readonly grounding: GroundingRouteOptions | undefined;
  readonly planner: Planner | undefined;
  readonly app: Hono;
  readonly runtime: HostedRuntime;
  readonly quotas: ReturnType<typeof createQuotas>;
  readonly refusals: RefusedRequests;
}

/** What a server knows of the connection of a request, as `Deno.serve` passes it. */
export interface ConnectionInfo {
  readonly remoteAddr?: object;
}

/** Serves one request. Never throws: what goes wrong is a problem answer (RFC 9457). */
export type Handler = (request: Request, connection?: ConnectionInfo) => Promise<Response>;

/**
 * Gives the handler of an endpoint.
 *
 * @throws TypeError without an authenticator.
 */
export function createHandler(runtime: HostedRuntime, options: HandlerOptions): Handler {
  const {
    authenticator,
    maxBodyBytes = 1_048_576,
    keepAliveMs = 15_000,
    capabilities = noCapabilities,
    now = Date.now,
    random = Math.random,
    origins = [],
    mcp,
    registry,
    grounding,
    planner,
  } = options;
  if (typeof authenticator?.authenticate !== 'function') {
    throw new TypeError('Cannot make a handler without an authenticator');
  }
  const app = new Hono();
  const refusals = createRefusedRequests(runtime);
  app.onError((error, c) => {
    refusals.answered(c.req.raw, error);
    return problemResponse(c, error, { now: now(), random });
  });
  app.notFound(() => {
    throw new PinnaceError('not_found', 'Nothing is served at this path', { details: { reason: 'no_route' } });
  });
  app.use(dropUnreadBodies);
  app.use(requireAddress);
  app.use(nameTrace);
  app.use(
    '/v1/*',
    cors({
      origin: [...origins],
      allowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      allowHeaders,
      exposeHeaders,
      maxAge: 600,
    }),
  );
  const quotas = createQuotas(options.quotas);
  const intake = createBodyIntake(options.bodies);
  const context = {
    app,
    runtime,
    authenticator: counted(authenticator, { metrics: runtime.metrics, intake, refusals }),
    maxBodyBytes,
    keepAliveMs,
    capabilities,
    now,
    random,
    quotas,
    refusals,
    registry,
    grounding,
    planner,
  };
  addRunRoutes(context);
  addOperationRoutes(context);
  addEventRoute(context);
  addAuditRoutes(context);
  if (mcp) addMcpRoute(context, { mcp, origins });
  if (registry) addRegistryRoutes(context, registry);
  if (grounding) addGroundingRoutes(context, grounding);
  if (planner) addPlanRoutes(context, planner);
  for (const path of new Set(app.routes.map((route) => route.path))) {
    if (path.startsWith('/v1/') && !path.endsWith('*')) app.all(path, methodNotAllowed); // not that of CORS
  }
  return async (request, connection) => {
    receiveBy(intake, request, { address: addressOf(connection) });
    return await app.fetch(request);
  };
}

/** Counts the requests that the authenticator rejects, emits an event for them, and counts what its tenants send. */
function counted(
  authenticator: HandlerOptions['authenticator'],
  { metrics, intake, refusals }: Pick<HostedRuntime, 'metrics'> & Pick<HandlerContext, 'refusals'> & {
    readonly intake: BodyIntake;
  },
): HandlerOptions['authenticator'] {
  return {
    async authenticate(request) {
      try {
        const principal = await authenticator.authenticate(request);
        receiveBy(intake, request, { tenant: principal.tenant });
        refusals.verified(request, principal);
        return principal;
      } catch (error) {
        metrics.count('pinnace_authentication_refused_total', { code: toPinnaceError(error).code });
        refusals.unverified(request, error);
        throw error;
      }
    },
    ...(authenticator.onRevoked && { onRevoked: authenticator.onRevoked.bind(authenticator) }),
  };
}

async function noCapabilities(): Promise<Readonly<Record<string, unknown>>> {
  return {};
}

const allowHeaders = [
  'authorization',
  'content-type',
  'content-digest',
  'idempotency-key',
  'if-match',
  'last-event-id',
  'signature',
  'signature-input',
  'traceparent',
];
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
 * Hono answers HEAD as GET and drops the body: a stream that nobody reads or cancels would hold its run. A request's body that no
 * route has read is stopped too, so that a refused sender does not go on sending.
 */
const dropUnreadBodies: MiddlewareHandler = async (c, next) => {
  await next();
  if (c.req.method === 'HEAD') await c.res.body?.cancel();
  dropBody(c.req.raw);
};

/** The address of the client, or of the proxy before the endpoint; `undefined` where the server does not pass it. */
function addressOf(connection: ConnectionInfo | undefined): string | undefined {
  const address = connection?.remoteAddr;
  if (!address || !('hostname' in address)) return undefined;
  return typeof address.hostname === 'string' ? address.hostname : undefined;
}

function methodNotAllowed(): never {
  throw new PinnaceError('method_not_allowed', 'This path does not serve this method', { status: 405 });
}
