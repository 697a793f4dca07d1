/** The routes of the registry: its five collections, the tools of an agent, export and import. */

import { Hono } from 'hono';
import * as v from 'valibot';
import { PinnaceError } from '../../../../src/base/errors.ts';
import { CatalogDocument } from '../../../../src/registry/catalog-document.ts';
import type { Registry } from '../../../../src/registry/registry.ts';
import type { HostedRuntime, Manifest } from '../../../../src/runtime/runtime.ts';
import { readJson } from '../body.ts';
import { collectionRoutes, type CollectionRoutesOptions } from './collection.ts';
import { queryParameter, tenantParameter, toolShape } from './collection-operations.ts';
import type { SignedEnv } from '../env.ts';
import { json, named, shapeOf, type SignedOperation } from '../operation.ts';
import { accessOf, flagOf, writeOf } from './registry-request.ts';

const ImportReport = v.object({
  dryRun: v.boolean(),
  created: v.number(),
  updated: v.number(),
  unchanged: v.number(),
  changes: v.array(v.object({
    kind: v.picklist(['agent', 'provider', 'tool', 'mcpServer', 'dataSource']),
    id: v.string(),
    change: v.picklist(['create', 'update']),
    differences: v.array(v.object({ path: v.string(), from: v.optional(v.unknown()), to: v.optional(v.unknown()) })),
  })),
  commits: v.number(),
});

const listAgentTools: SignedOperation = {
  operationId: 'listAgentTools',
  summary: 'The tools that an agent can use now',
  scope: 'registry:read',
  parameters: [tenantParameter],
  responses: {
    200: json('The tools, and those that the agent names but cannot use', (components) => ({
      type: 'object',
      properties: {
        items: { type: 'array', items: toolShape(components) },
        excluded: {
          type: 'array',
          items: {
            type: 'object',
            properties: { id: { type: 'string' }, reason: { type: 'string' } },
            required: ['id', 'reason'],
          },
        },
      },
      required: ['items', 'excluded'],
    })),
  },
  problems: [404],
};

const exportCatalog: SignedOperation = {
  operationId: 'exportCatalog',
  summary: 'All records of the caller',
  scope: 'registry:read',
  parameters: [tenantParameter],
  responses: { 200: json('The catalog', named('CatalogDocument', shapeOf(CatalogDocument))) },
};

const importCatalog: SignedOperation = {
  operationId: 'importCatalog',
  hasLargeBody: true,
  summary: 'Import a catalog of at most 16 MiB',
  scope: 'registry:write',
  parameters: [
    tenantParameter,
    queryParameter('dryRun', 'Only report what would change', { type: 'boolean', default: false }),
  ],
  body: shapeOf(CatalogDocument),
  responses: { 200: json('What changed, or would change', shapeOf(ImportReport)) },
  problems: [409, 413, 415],
};

/** What the routes need. */
export interface RegistryRoutesOptions extends CollectionRoutesOptions {
  readonly registry: Registry;
  readonly runtime: Pick<HostedRuntime, 'manifest'>;
}

/** Creates the routes. */
export function registryRoutes({ registry, runtime, ...options }: RegistryRoutesOptions): Hono<SignedEnv> {
  const { signed } = options;
  const app = new Hono<SignedEnv>();
  app.route('/agents', collectionRoutes('agent', registry.agents, options));
  app.route('/tools', collectionRoutes('tool', registry.tools, options));
  app.route('/mcp-servers', collectionRoutes('mcpServer', registry.mcpServers, options));
  app.route('/providers', collectionRoutes('provider', registry.providers, options));
  app.route('/data-sources', collectionRoutes('dataSource', registry.dataSources, options));
  app.get('/agents/:id/tools', signed(listAgentTools), async (c) => {
    const access = accessOf(c);
    const id = c.req.param('id');
    const bound = await registry.availableTools(id, access);
    const { tools } = await runtime.manifest(id, access.principal).catch(noManifest);
    const reasons = new Map(tools.flatMap((tool) => tool.excluded ? [[tool.id, tool.excluded] as const] : []));
    return c.json({
      items: bound.filter((tool) => !reasons.has(tool.id)),
      excluded: bound.flatMap((tool) => reasons.has(tool.id) ? [{ id: tool.id, reason: reasons.get(tool.id) }] : []),
    });
  });
  app.get('/export', signed(exportCatalog), async (c) => {
    const catalog = await registry.export(accessOf(c));
    return c.json(catalog, 200, { 'content-disposition': 'attachment; filename="catalog.json"' });
  });
  app.post('/import', signed(importCatalog), async (c) => {
    const write = writeOf(c);
    const { data } = await readJson(c.req.raw);
    return c.json(await registry.import(data, { ...write, dryRun: flagOf(c, 'dryRun') }));
  });
  return app;
}

/** This runtime cannot run the agent for the caller, such as an agent of a tenant that the deployment names: only the registry answers. */
function noManifest(error: unknown): Pick<Manifest, 'tools'> {
  if (error instanceof PinnaceError && (error.code === 'not_found' || error.code === 'forbidden')) return { tools: [] };
  throw error;
}
