/** The routes of the registry: its five collections, the tools of an agent, export and import. */

import * as v from 'valibot';
import { PinnaceError } from '../../../../src/base/errors.ts';
import {
  CatalogDocument,
  type CatalogExport,
  type ImportReport as Imported,
} from '../../../../src/registry/catalog-document.ts';
import type { Registry } from '../../../../src/registry/registry.ts';
import type { Manifest } from '../../../../src/runtime/runtime.ts';
import { readJson } from '../request.ts';
import {
  accessOf,
  collectionRoutes,
  flagOf,
  queryParameter,
  tenantParameter,
  toolShape,
  writeOf,
} from './collection.ts';
import { json, named, type Operations, shapeOf } from '../operation.ts';
import type { Served } from '../authentication.ts';
import type { ToolDefinition } from '../../../../src/base/schema.ts';

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

export const registryOperations = {
  'GET /v1/agents/:id/tools': {
    operationId: 'listAgentTools',
    summary: 'The tools that an agent can use now',
    scope: 'registry:read',
    parameters: [tenantParameter],
    responses: {
      200: json<{ readonly items: readonly ToolDefinition[] }>(
        'The tools, and those that the agent names but cannot use',
        (components) => ({
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
        }),
      ),
    },
    problems: [404],
  },
  'GET /v1/export': {
    operationId: 'exportCatalog',
    summary: 'All records of the caller',
    scope: 'registry:read',
    parameters: [tenantParameter],
    responses: { 200: json<CatalogExport>('The catalog', named('CatalogDocument', shapeOf(CatalogDocument))) },
  },
  'POST /v1/import': {
    operationId: 'importCatalog',
    hasLargeBody: true,
    summary: 'Import a catalog of at most 16 MiB',
    scope: 'registry:write',
    parameters: [
      tenantParameter,
      queryParameter('dryRun', 'Only report what would change', { type: 'boolean', default: false }),
    ],
    body: shapeOf(CatalogDocument),
    responses: { 200: json<Imported>('What changed, or would change', shapeOf(ImportReport)) },
    problems: [409, 413, 415],
  },
} satisfies Operations;

export function registryRoutes(endpoint: Served, registry: Registry): void {
  const { runtime } = endpoint;
  const serve = endpoint.serve(registryOperations);
  collectionRoutes(endpoint, 'agent', registry.agents);
  collectionRoutes(endpoint, 'tool', registry.tools);
  collectionRoutes(endpoint, 'mcpServer', registry.mcpServers);
  collectionRoutes(endpoint, 'provider', registry.providers);
  collectionRoutes(endpoint, 'dataSource', registry.dataSources);
  serve('GET /v1/agents/:id/tools', async (c) => {
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
  serve('GET /v1/export', async (c) => {
    const catalog = await registry.export(accessOf(c));
    return c.json(catalog, 200, { 'content-disposition': 'attachment; filename="catalog.json"' });
  });
  serve('POST /v1/import', async (c) => {
    const write = writeOf(c);
    const { data } = await readJson(c.req.raw);
    return c.json(await registry.import(data, { ...write, dryRun: flagOf(c, 'dryRun') }));
  });
}

/** This runtime cannot run the agent for the caller, such as an agent of a tenant that the deployment names: only the registry answers. */
function noManifest(error: unknown): Pick<Manifest, 'tools'> {
  if (error instanceof PinnaceError && (error.code === 'not_found' || error.code === 'forbidden')) return { tools: [] };
  throw error;
}
