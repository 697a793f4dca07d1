/** Writes what is known of MCP servers into the catalog, where it takes it. */

import { PinnaceError } from '../base/errors.ts';
import type { Catalog, McpServerWriter } from '../contracts/catalog.ts';
import type { McpServer } from '../base/schema.ts';
import type { McpContentKind } from '../contracts/mcp/mcp-connector.ts';
import { contentId, pinnedContent } from './content/kinds.ts';

/** The catalog with a tenant's own records; without a tenant, the one with what is shared. */
export function catalogOf(catalog: Catalog, tenant: string | undefined): Catalog | undefined {
  return tenant === undefined ? catalog : catalog.forTenant?.(tenant);
}

/** @throws PinnaceError `unavailable` for a catalog that cannot be written. */
export function requireWriter(catalog: Catalog): McpServerWriter {
  if (isWriter(catalog)) return catalog;
  throw new PinnaceError(
    'unavailable',
    'Cannot approve the server: this catalog cannot be written; pin it where its records come from',
    {
      retryable: false,
      details: { reason: 'catalog_read_only' },
    },
  );
}

/**
 * Marks pinned tools as drifted in the record, so that every instance hides them. Never rejects: where the catalog cannot be
 * written, or another instance has written it, each instance finds out by itself.
 */
export async function storeDrift(catalog: Catalog, server: McpServer, changed: readonly string[]): Promise<boolean> {
  try {
    const record = await catalogOf(catalog, server.tenant)?.mcpServer?.(server.id);
    if (!record?.pinned || !isWriter(catalog) || fingerprints(record) !== fingerprints(server)) return false;
    await catalog.put('mcpServer', withDrifted(record, changed), { ifRevision: record.revision });
    return true;
  } catch {
    return false;
  }
}

/** The same for prompts, resources or templates, by what identifies them. */
export async function storeContentDrift(
  catalog: Catalog,
  server: McpServer,
  { kind, changed }: { readonly kind: McpContentKind; readonly changed: readonly string[] },
): Promise<boolean> {
  try {
    const record = await catalogOf(catalog, server.tenant)?.mcpServer?.(server.id);
    if (!record?.pinned || !isWriter(catalog) || record.validatedAt !== server.validatedAt) return false;
    const items = pinnedContent(record.pinned, kind).map((item) =>
      changed.includes(contentId(kind, item.definition) ?? '') ? { ...item, status: 'drifted' as const } : item
    );
    const written = { ...record, pinned: { ...record.pinned, [kind]: items } };
    await catalog.put('mcpServer', written, { ifRevision: record.revision });
    return true;
  } catch {
    return false;
  }
}

/** The same for an app. */
export async function storeAppDrift(catalog: Catalog, server: McpServer, uri: string): Promise<boolean> {
  try {
    const record = await catalogOf(catalog, server.tenant)?.mcpServer?.(server.id);
    if (!record?.pinned?.apps || !isWriter(catalog) || record.validatedAt !== server.validatedAt) return false;
    const apps = record.pinned.apps.map((app) => app.uri === uri ? { ...app, status: 'drifted' as const } : app);
    await catalog.put('mcpServer', { ...record, pinned: { ...record.pinned, apps } }, { ifRevision: record.revision });
    return true;
  } catch {
    return false;
  }
}

/** Returns the record with these tools marked as drifted. */
export function withDrifted(server: McpServer, changed: readonly string[]): McpServer {
  if (!server.pinned) return server;
  const tools = server.pinned.tools.map((tool) =>
    changed.includes(tool.definition.name) ? { ...tool, status: 'drifted' as const } : tool
  );
  return { ...server, pinned: { ...server.pinned, tools } };
}

function fingerprints({ pinned }: McpServer): string {
  return JSON.stringify(pinned?.tools.map(({ fingerprint }) => fingerprint));
}

function isWriter(catalog: Catalog): catalog is Catalog & McpServerWriter {
  return 'put' in catalog && typeof catalog.put === 'function';
}
