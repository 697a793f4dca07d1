/** The routes of operation: health, readiness, metrics, caches, manifests, the check of MCP servers, the OpenAPI document. */

import type { Context } from 'hono';
import * as v from 'valibot';
import { PinnaceError } from '../../../../src/base/errors.ts';
import { McpFinding } from '../../../../src/base/schema.ts';
import {
  type McpValidation as Validation,
  McpValidationRequest,
} from '../../../../src/contracts/mcp/mcp-validation.ts';
import { cacheKeyForms } from '../../../../src/log/cache-key.ts';
import type { HostedRuntime, Manifest } from '../../../../src/runtime/runtime.ts';
import { readAs } from '../request.ts';
import { type MetricsToken, orMetricsToken, type Served, type SignedEnv } from '../authentication.ts';
import { empty, type Json, json, type Operations, shapeOf } from '../operation.ts';

const Invalidation: v.GenericSchema<unknown, { keys: string[] }> = v.strictObject({
  keys: v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(300))), v.minLength(1), v.maxLength(1000)),
});

const Prewarm: v.GenericSchema<unknown, { agentIds: string[] }> = v.strictObject({
  agentIds: v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(256))), v.minLength(1), v.maxLength(100)),
});

const Readiness = v.object({
  status: v.picklist(['ok', 'failed']),
  checks: v.optional(v.record(v.string(), v.picklist(['ok', 'failed']))),
  failures: v.optional(v.record(
    v.string(),
    v.object({
      code: v.string(),
      reason: v.optional(v.string()),
      message: v.string(),
      cause: v.optional(v.string()),
    }),
  )),
  problems: v.optional(v.array(v.object({
    agentId: v.string(),
    tenant: v.optional(v.string()),
    reason: v.string(),
    message: v.string(),
  }))),
  capabilities: v.optional(v.record(v.string(), v.unknown())),
});

const ManifestPage = v.object({
  agentId: v.string(),
  digest: v.string(),
  tools: v.array(v.object({ id: v.string(), excluded: v.optional(v.string()) })),
  trust: v.picklist(['open', 'watched', 'guarded']),
  flows: v.array(v.object({
    id: v.string(),
    acts: v.boolean(),
    reads: v.picklist(['trusted', 'untrusted', 'private']),
    sends: v.picklist(['public', 'tenant', 'principal']),
  })),
  egress: v.optional(v.array(v.string())),
  problems: v.optional(v.array(v.object({ reason: v.string(), message: v.string() }))),
  nextPageToken: v.optional(v.string()),
});

const OfferedContent = v.object({
  id: v.string(),
  uri: v.optional(v.string()),
  label: v.string(),
  fingerprint: v.optional(v.string()),
  change: v.picklist(['same', 'changed', 'added']),
  changedFields: v.array(v.string()),
  included: v.boolean(),
  definition: v.unknown(),
});

const McpValidation = v.object({
  serverId: v.string(),
  status: v.picklist(['pending', 'valid', 'error']),
  revision: v.number(),
  approved: v.boolean(),
  digest: v.string(),
  protocolVersion: v.string(),
  serverInfo: v.object({ name: v.string(), version: v.string() }),
  instructions: v.optional(v.string()),
  instructionsChanged: v.boolean(),
  tools: v.array(v.object({
    name: v.string(),
    exposedAs: v.optional(v.string()),
    fingerprint: v.optional(v.string()),
    change: v.picklist(['same', 'changed', 'added']),
    changedFields: v.array(v.string()),
    included: v.boolean(),
    effect: v.optional(v.picklist(['read', 'write', 'destructive'])),
    definition: v.unknown(),
  })),
  removed: v.array(v.string()),
  content: v.optional(v.object({
    prompts: v.array(OfferedContent),
    resources: v.array(OfferedContent),
    templates: v.array(OfferedContent),
    removed: v.array(v.string()),
    total: v.number(),
  })),
  findings: v.array(McpFinding),
});

export const operatingOperations = {
  'GET /v1/healthz': {
    operationId: 'getHealth',
    summary: 'Alive',
    responses: { 200: json('The process answers', shapeOf(v.object({ status: v.literal('ok') }))) },
  },
  'GET /v1/readyz': {
    operationId: 'getReadiness',
    summary:
      'Ready; checks, failures, problems of agents and capabilities are for principals with the scope admin, and for the token of the metrics',
    responses: {
      200: json('Every check passes', shapeOf(Readiness)),
      503: json('A check fails', shapeOf(Readiness)),
    },
  },
  'GET /v1/openapi.json': {
    operationId: 'getOpenApi',
    summary: 'This description',
    responses: { 200: json('The OpenAPI document', () => ({ type: 'object' })) },
  },
  'GET /v1/metrics': {
    operationId: 'getMetrics',
    summary: 'Metrics for Prometheus',
    scope: 'admin',
    responses: { 200: { description: 'The metrics', content: { 'text/plain': () => ({ type: 'string' }) } } },
  },
  'POST /v1/invalidations': {
    operationId: 'invalidate',
    summary: `Invalidate cached definitions on every instance. Keys: ${cacheKeyForms}`,
    scope: 'registry:write',
    body: shapeOf(Invalidation),
    responses: { 204: empty('Invalidated from the next request on') },
    problems: [413, 415],
  },
  'POST /v1/prewarm': {
    operationId: 'prewarm',
    summary: 'Load what the first runs of agents need',
    scope: 'registry:read',
    body: shapeOf(Prewarm),
    responses: {
      200: json(
        'What is loaded, and the code of each agent that cannot be resolved',
        shapeOf(v.object({ warmed: v.array(v.string()), failed: v.record(v.string(), v.string()) })),
      ),
    },
    problems: [413, 415],
  },
  'POST /v1/mcp-servers/:id/validate': {
    operationId: 'validateMcpServer',
    summary: 'Check what an MCP server offers, and pin it on approval',
    scope: 'registry:write',
    body: shapeOf(McpValidationRequest),
    responses: { 200: json<Validation>('What the server offers, and the findings', shapeOf(McpValidation)) },
    problems: [404, 409, 413, 415],
  },
  'GET /v1/agents/:id/manifest': {
    operationId: 'getManifest',
    summary: 'The tool set of an agent',
    scope: 'registry:read',
    parameters: [
      { name: 'limit', in: 'query', description: '1 to 1000', schema: { type: 'integer', default: 100 } },
      { name: 'pageToken', in: 'query', schema: { type: 'string' } },
    ],
    responses: { 200: json('A page of the tools, each excluded one with its reason', shapeOf(ManifestPage)) },
    problems: [404],
  },
} satisfies Operations;

/** Creates the routes. Health, readiness and the document are open: they show nothing of a tenant. */
export function operationRoutes(endpoint: Served, hasToken: MetricsToken | undefined): void {
  const { runtime, capabilities, describe } = endpoint;
  const serve = endpoint.serve(operatingOperations);
  let document: Json | undefined;
  serve('GET /v1/healthz', (c) => c.json({ status: 'ok' }));
  serve('GET /v1/readyz', async (c) => {
    const operator = await operatorOf(c, endpoint, hasToken);
    const [{ checks, failures }, known] = await Promise.all([
      runtime.diagnose(operator ? {} : { writeEveryMs: writeForStrangersMs }),
      operator ? inTime(capabilities, runtime) : undefined,
    ]);
    const ready = Object.values(checks).every((check) => check === 'ok');
    const problems = operator ? runtime.problems(operator.principal) : [];
    const details = operator && {
      checks,
      ...(!ready && { failures }),
      ...(problems.length > 0 && { problems }),
      capabilities: known,
    };
    return c.json({ status: ready ? 'ok' : 'failed', ...details }, ready ? 200 : 503);
  });
  serve('GET /v1/openapi.json', (c) => c.json(document ??= describe()));
  const metricsGuard: Parameters<typeof serve>[2] = (usual) =>
    orMetricsToken(usual, { operation: operatingOperations['GET /v1/metrics'], hasToken });
  serve('GET /v1/metrics', (c) => {
    const deployment = c.var.isScrape ?? c.var.principal.deployment ?? false;
    const text = runtime.metrics.text();
    return c.text(deployment ? text : withoutNames(text), 200, { 'content-type': 'text/plain; version=0.0.4' });
  }, metricsGuard);
  serve('POST /v1/invalidations', async (c) => {
    const { keys } = await readAs(c.req.raw, Invalidation, { what: 'the invalidation' });
    await runtime.invalidate(keys, c.var.principal);
    return c.body(null, 204);
  });
  serve('POST /v1/prewarm', async (c) => {
    const { agentIds } = await readAs(c.req.raw, Prewarm, { what: 'the agents to prewarm' });
    return c.json(await runtime.prewarm(agentIds, c.var.principal));
  });
  serve('POST /v1/mcp-servers/:id/validate', async (c) => {
    const request = await readAs(c.req.raw, McpValidationRequest, { what: 'the check of an MCP server' });
    const { signal } = c.req.raw;
    return c.json(await runtime.validateMcpServer(c.req.param('id'), request, c.var.principal, { signal }));
  });
  serve('GET /v1/agents/:id/manifest', async (c) => {
    const manifest = await runtime.manifest(c.req.param('id'), c.var.principal);
    return c.json(pageOf(manifest, c.req.query('limit'), c.req.query('pageToken')));
  });
}

/** How often a probe without credentials may write to the storage. */
const writeForStrangersMs = 10_000;

/** A caller who may see more than ready or not: a principal with the scope `admin`, or the token of the metrics, which names none. */
async function operatorOf(
  c: Context<SignedEnv>,
  { authenticate }: Served,
  hasToken: MetricsToken | undefined,
) {
  if (c.req.header('authorization') === undefined) return undefined;
  if (await hasToken?.(c.req.raw)) return { principal: undefined };
  let isAdmin = false;
  // Who cannot be verified, also because the storage is away, is a stranger: the route answers everyone.
  const verified = authenticate(c, async () => void (isAdmin = c.var.principal.scopes.includes('admin')))
    .catch(() => undefined);
  await within(verified, undefined, verificationMs);
  return isAdmin ? { principal: c.var.principal } : undefined;
}

const verificationMs = 900;

/** Readiness does not depend on the capabilities: they are left out when they fail or take long. */
async function inTime(
  capabilities: Served['capabilities'],
  { report }: Pick<HostedRuntime, 'report'>,
): ReturnType<Served['capabilities']> {
  const failed = (cause: unknown): Record<string, never> => {
    report(cause, { kind: 'hook', id: 'capabilities' });
    return {};
  };
  return await within(Promise.resolve().then(capabilities).catch(failed), {}, capabilitiesMs);
}

async function within<T>(work: Promise<T>, otherwise: T, ms: number): Promise<T> {
  const { promise: late, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(() => resolve(otherwise), ms);
  try {
    return await Promise.race([late, work]);
  } finally {
    clearTimeout(timer);
  }
}

const capabilitiesMs = 2_000;

/** The metrics of an endpoint cover all tenants: only the deployment sees which tools and models the others have. */
function withoutNames(metrics: string): string {
  return metrics.split('\n').filter((line) => !/^\w+\{(?:.*,)?(?:tool|model)="/.test(line)).join('\n');
}

const maxPage = 1000;

/** One page of a manifest. The token names the digest, so a page of another manifest cannot continue this one. */
function pageOf(
  { tools, flows, ...manifest }: Manifest,
  limitText = '100',
  pageToken = `${manifest.digest.slice(0, 16)}.0`,
): Manifest & { readonly nextPageToken?: string } {
  const limit = Number(limitText);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxPage) {
    throw new PinnaceError('invalid_argument', `Cannot list the tools: "limit" must be 1 to ${maxPage}`, {
      details: { reason: 'invalid_limit' },
    });
  }
  const [digest, at = ''] = pageToken.split('.');
  if (digest !== manifest.digest.slice(0, 16) || !/^\d{1,9}$/.test(at)) {
    throw new PinnaceError(
      'invalid_argument',
      'Cannot list the tools: the page token is not one of this manifest; start with the first page',
      { details: { reason: 'invalid_page_token' } },
    );
  }
  const end = Number(at) + limit;
  const more = end < tools.length && { nextPageToken: `${digest}.${end}` };
  const page = tools.slice(Number(at), end);
  return { ...manifest, tools: page, flows: flows.filter(({ id }) => page.some((tool) => tool.id === id)), ...more };
}
