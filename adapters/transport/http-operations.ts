/** The routes for those who operate an endpoint: health, readiness, metrics, caches, what an agent may use. */

import { parse } from '../../src/parse.ts';
import { type Principal, requireScope, type Scope } from '../../src/runtime/principal.ts';
import type { HandlerContext } from './http.ts';
import { readJson } from './http-body.ts';
import { Invalidation, Prewarm } from './http-requests.ts';
import { describeEndpoint } from './openapi.ts';

/** Adds the routes. Those for health need no signature and tell no secrets. */
export function addOperationRoutes({ app, runtime, authenticator, capabilities }: HandlerContext): void {
  const authorized = async (request: Request, scope: Scope): Promise<Principal> => {
    const principal = await authenticator.authenticate(request);
    requireScope(principal, scope);
    return principal;
  };
  app.get('/v1/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/v1/readyz', async (c) => {
    const checks = await runtime.ready();
    const ready = Object.values(checks).every((check) => check === 'ok');
    return c.json({ status: ready ? 'ok' : 'failed', checks, capabilities }, ready ? 200 : 503);
  });
  app.get('/v1/openapi.json', (c) => c.json(describeEndpoint()));
  app.get('/v1/metrics', async (c) => {
    await authorized(c.req.raw, 'admin');
    return c.text(runtime.metrics.text(), 200, { 'content-type': 'text/plain; version=0.0.4' });
  });
  app.post('/v1/invalidations', async (c) => {
    await authorized(c.req.raw, 'registry:write');
    const { keys } = parse(Invalidation, (await readJson(c.req.raw)).data, { what: 'the invalidation' });
    await runtime.invalidate(keys);
    return c.body(null, 204);
  });
  app.post('/v1/prewarm', async (c) => {
    const principal = await authorized(c.req.raw, 'registry:read');
    const { agentIds } = parse(Prewarm, (await readJson(c.req.raw)).data, { what: 'the agents to prewarm' });
    return c.json(await runtime.prewarm(agentIds, principal));
  });
  app.get('/v1/agents/:id/manifest', async (c) => {
    const principal = await authenticator.authenticate(c.req.raw);
    return c.json(await runtime.manifest(c.req.param('id'), principal));
  });
}
