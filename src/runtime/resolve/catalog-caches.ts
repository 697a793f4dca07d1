/** The caches of a catalog's records, one of each kind. */

import type { CacheKey } from '../../log/cache-key.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Catalog } from '../../contracts/catalog.ts';
import type { Storage } from '../../contracts/storage.ts';
import type { Agent, McpServer, Provider, ToolDefinition } from '../../base/schema.ts';
import { createSourceHealth } from '../../log/source-health.ts';
import { readAnswer, readToolsAnswer } from './catalog-answers.ts';
import { createRecordCache, type RecordCache, requireOwn } from './record-cache.ts';

/** What the caches are made of. */
export interface CatalogCachesOptions {
  readonly catalog: Catalog;
  readonly storage: Storage;
  readonly metrics: Metrics;
  readonly now: () => number;
  /** The position of the last invalidation that this instance has read. */
  readonly position: () => number | undefined;
}

/** A cache of each kind of record. */
export interface CatalogCaches {
  readonly agents: RecordCache<Agent>;
  readonly providers: RecordCache<Provider>;
  /** The whole list, under the id `all`. It is never shared. */
  readonly tools: RecordCache<readonly ToolDefinition[]>;
  readonly servers: RecordCache<McpServer>;
  /** Removes what a key names; shared values whose load started before the position `since` count no longer. */
  invalidate(key: CacheKey, since: number): void;
}

/** Creates empty caches. They share the health of the catalog: one that hangs is waited for once. */
export function createCatalogCaches({ catalog, storage, metrics, now, position }: CatalogCachesOptions): CatalogCaches {
  const { source } = catalog;
  const revisionOf = ({ revision }: { readonly revision: number }): number => revision;
  const common = { now, metrics, catalog, health: createSourceHealth(now) };
  const records = { ...common, ...(source !== undefined && { shared: { storage, source, position, revisionOf } }) };
  const agents: RecordCache<Agent> = createRecordCache({
    ...records,
    name: 'agent',
    load: async (from, id, { signal, tenant }) =>
      requireOwn(readAnswer('agent', id, await from.agent(id, signal)), tenant),
  });
  const providers: RecordCache<Provider> = createRecordCache({
    ...records,
    name: 'provider',
    load: async (from, id, { signal, tenant }) =>
      requireOwn(readAnswer('provider', id, await from.provider(id, signal)), tenant),
  });
  const servers: RecordCache<McpServer> = createRecordCache({
    ...records,
    name: 'mcp-server',
    load: async (from, id, { signal, tenant }) =>
      requireOwn(readAnswer('mcpServer', id, await from.mcpServer?.(id, signal)), tenant),
  });
  const tools: RecordCache<readonly ToolDefinition[]> = createRecordCache({
    ...common,
    name: 'tools',
    load: (from, _, given) => listTools(from, given),
  });
  return {
    agents,
    providers,
    tools,
    servers,
    invalidate({ kind, id, tenant }, since) {
      const all = kind === '*';
      if (all || kind === 'agent') agents.invalidate({ id, tenant }, since);
      if (all || kind === 'provider') providers.invalidate({ id, tenant }, since);
      if (all || kind === 'tools' || kind === 'tool') tools.invalidate({ tenant }, since);
      if (all || kind === 'mcp-server') servers.invalidate({ id, tenant }, since);
    },
  };
}

async function listTools(
  catalog: Catalog,
  { signal, tenant }: { readonly signal: AbortSignal; readonly tenant: string | undefined },
): Promise<readonly ToolDefinition[]> {
  const tools: ToolDefinition[] = [];
  const limit = 1000;
  for (let page: readonly ToolDefinition[] | undefined; page === undefined || page.length === limit;) {
    const after = page?.at(-1)?.id;
    page = readToolsAnswer(await catalog.listTools({ limit, ...(after !== undefined && { after }) }, signal));
    for (const tool of page) requireOwn(tool, tenant);
    tools.push(...page);
  }
  return tools;
}
