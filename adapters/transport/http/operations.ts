/** The routes for those who operate an endpoint: health, readiness, metrics, caches, what an agent may use. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { McpValidationRequest } from '../../../src/contracts/mcp-validation.ts';
import { parse } from '../../../src/base/parse.ts';
import { type Principal, requireScope, type Scope } from '../../../src/base/principal.ts';
import type { Manifest } from '../../../src/runtime/runtime.ts';
import type { HandlerContext } from './handler.ts';
import { readJson } from './body.ts';
import { Invalidation, Prewarm } from './requests.ts';
import { describeEndpoint } from './openapi/openapi.ts';

/** Adds the routes. Those for health need no signature and tell no secrets. */
export function addOperationRoutes(context: HandlerContext): void {
  const { app, runtime, authenticator, capabilities, maxBodyBytes, registry, grounding, planner } = context;
  const authorized = async (request: Request, scope: Scope): Promise<Principal> => {
    const principal = await authenticator.authenticate(request);
    requireScope(principal, scope);
    return principal;
  };
  app.get('/v1/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/v1/readyz', async (c) => {
    const [checks, known] = await Promise.all([runtime.ready(), inTime(capabilities)]);
    const ready = Object.values(checks).every((check) => check === 'ok');
    return c.json({ status: ready ? 'ok' : 'failed', checks, capabilities: known }, ready ? 200 : 503);
  });
  app.get(
    '/v1/openapi.json',
    (c) =>
      c.json(describeEndpoint({
        registry: registry !== undefined,
        grounding: grounding !== undefined,
        plans: planner !== undefined,
      })),
  );
  app.get('/v1/metrics', async (c) => {
    const { deployment = false } = await authorized(c.req.raw, 'admin');
    const text = runtime.metrics.text();
    return c.text(deployment ? text : withoutNames(text), 200, { 'content-type': 'text/plain; version=0.0.4' });
  });
  app.post('/v1/invalidations', async (c) => {
    const principal = await authorized(c.req.raw, 'registry:write');
    const { keys } = parse(Invalidation, (await readJson(c.req.raw, maxBodyBytes)).data, { what: 'the invalidation' });
    await runtime.invalidate(keys, principal);
    return c.body(null, 204);
  });
  app.post('/v1/prewarm', async (c) => {
    const principal = await authorized(c.req.raw, 'registry:read');
    const { agentIds } = parse(Prewarm, (await readJson(c.req.raw, maxBodyBytes)).data, {
      what: 'the agents to prewarm',
    });
    return c.json(await runtime.prewarm(agentIds, principal));
  });
  app.post('/v1/mcp-servers/:id/validate', async (c) => {
    const principal = await authorized(c.req.raw, 'registry:write');
    const request = parse(McpValidationRequest, (await readJson(c.req.raw, maxBodyBytes)).data, {
      what: 'the check of an MCP server',
    });
    return c.json(await runtime.validateMcpServer(c.req.param('id'), request, principal, { signal: c.req.raw.signal }));
  });
  app.get('/v1/agents/:id/manifest', async (c) => {
    const principal = await authenticator.authenticate(c.req.raw);
    const manifest = await runtime.manifest(c.req.param('id'), principal);
    return c.json(pageOf(manifest, c.req.query('limit'), c.req.query('pageToken')));
  });
}

/** What the platform can do says nothing of readiness: it is left out when it takes long or fails. */
async function inTime(capabilities: HandlerContext['capabilities']): ReturnType<HandlerContext['capabilities']> {
  const { promise: late, resolve } = Promise.withResolvers<Record<string, never>>();
  const timer = setTimeout(() => resolve({}), capabilitiesMs);
  try {
    return await Promise.race([late, Promise.resolve().then(capabilities).catch(() => ({}))]);
  } finally {
    clearTimeout(timer);
  }
}

const capabilitiesMs = 2_000;
/** The metrics of an endpoint are of all tenants: which tools and models the others have is for the deployment alone. */
function withoutNames(metrics: string): string {
  return metrics.split('\n').filter((line) => !/^\w+\{(?:.*,)?(?:tool|model)="/.test(line)).join('\n');
}

const maxPage = 1000;

/** One page of a manifest. The token names the digest, so that no page of another manifest continues this one. */
function pageOf(
  { tools, ...manifest }: Manifest,
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
  return { ...manifest, tools: tools.slice(Number(at), end), ...more };
}
