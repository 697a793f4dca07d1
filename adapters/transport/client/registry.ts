/** The registries of an endpoint: records are registered, read, changed and disabled over signed requests, as in process. */

import type { CallOptions } from './call-options.ts';
import type { FoundRecords, Patch, Registration } from '../../../src/registry/collection.ts';
import type { CatalogExport, ImportReport } from '../../../src/registry/catalog-document.ts';
import type { HistoryEntry } from '../../../src/registry/history.ts';
import type { RegistryQuery } from '../../../src/registry/list.ts';
import type { Page, PageOptions } from '../../../src/base/page.ts';
import type { CatalogRecords, RecordKind } from '../../../src/registry/record-kinds.ts';
import type { ToolDefinition } from '../../../src/base/schema.ts';
import { queryOf } from './query.ts';

/** A call that changes a version that the caller has read: the record's `revision`. */
interface VersionOptions extends CallOptions {
  readonly version: number;
}

/** The records of one kind. Errors are those of the registry. */
export interface RemoteCollection<Kind extends RecordKind> {
  /** Registers a record. A retry after a lost response is a `conflict`, never a second record. */
  register(record: Registration<Kind>, options?: CallOptions): Promise<CatalogRecords[Kind]>;
  get(id: string, options?: CallOptions): Promise<FoundRecords[Kind]>;
  list(query?: RegistryQuery, options?: CallOptions): Promise<Page<CatalogRecords[Kind]>>;
  update(id: string, patch: Patch<Kind>, options: VersionOptions): Promise<CatalogRecords[Kind]>;
  replace(id: string, record: Registration<Kind>, options: VersionOptions): Promise<CatalogRecords[Kind]>;
  disable(id: string, options?: CallOptions): Promise<CatalogRecords[Kind]>;
  enable(id: string, options?: CallOptions): Promise<CatalogRecords[Kind]>;
  remove(id: string, options?: Partial<VersionOptions>): Promise<void>;
  history(id: string, page?: PageOptions, options?: CallOptions): Promise<Page<HistoryEntry>>;
}

/** The registries of an endpoint. */
export interface RemoteRegistry {
  readonly agents: RemoteCollection<'agent'>;
  readonly tools: RemoteCollection<'tool'>;
  readonly mcpServers: RemoteCollection<'mcpServer'>;
  readonly providers: RemoteCollection<'provider'>;
  readonly dataSources: RemoteCollection<'dataSource'>;
  /** The definitions that an agent can use now. */
  availableTools(agentId: string, options?: CallOptions): Promise<readonly ToolDefinition[]>;
  export(options?: CallOptions): Promise<CatalogExport>;
  import(document: unknown, options?: CallOptions & { readonly dryRun?: boolean }): Promise<ImportReport>;
}

/** Sends one request and returns the JSON of the response. */
export type CallRoute = (request: {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly signal: AbortSignal;
  readonly ifMatch?: number | undefined;
}) => Promise<unknown>;

/** Creates the registries of a remote endpoint. */
export function createRemoteRegistry(callRoute: CallRoute): RemoteRegistry {
  const call: Call = async (method, path, { signal = new AbortController().signal, body, version } = {}) =>
    await callRoute({ method, path, body, signal, ifMatch: version }) as never; // the endpoint's schema says what it is
  return {
    agents: createCollection('agents', call),
    tools: createCollection('tools', call),
    mcpServers: createCollection('mcp-servers', call),
    providers: createCollection('providers', call),
    dataSources: createCollection('data-sources', call),
    async availableTools(agentId, given) {
      const path = `/v1/agents/${encodeURIComponent(agentId)}/tools`;
      const { items } = await call<Page<ToolDefinition>>('GET', path, given);
      return items;
    },
    export: async (given) => await call('GET', '/v1/export', given),
    import: async (body, { dryRun = false, signal } = {}) =>
      await call('POST', `/v1/import?dryRun=${dryRun}`, { signal, body }),
  };
}

type Call = <T>(
  method: string,
  path: string,
  options?: CallOptions & { readonly body?: unknown; readonly version?: number | undefined },
) => Promise<T>;

function createCollection<Kind extends RecordKind>(name: string, call: Call): RemoteCollection<Kind> {
  const base = `/v1/${name}`;
  const pathOf = (id: string): string => `${base}/${encodeURIComponent(id)}`;
  return {
    // The client chooses the id, so a retry is the same record.
    register: async (record, given) => await call('POST', base, { ...given, body: { id: newId(name), ...record } }),
    get: async (id, given) => await call('GET', pathOf(id), given),
    list: async (query = {}, given = {}) => await call('GET', `${base}${queryOf(query)}`, given),
    update: async (id, body, given) => await call('PATCH', pathOf(id), { ...given, body }),
    replace: async (id, body, given) => await call('PUT', pathOf(id), { ...given, body }),
    disable: async (id, given) => await call('POST', `${pathOf(id)}/disable`, given),
    enable: async (id, given) => await call('POST', `${pathOf(id)}/enable`, given),
    remove: async (id, given) => await call('DELETE', pathOf(id), given),
    history: async (id, page = {}, given = {}) =>
      await call('GET', `${pathOf(id)}/history${queryOf({ ...page })}`, given),
  };
}

function newId(name: string): string {
  return `${name.slice(0, -1)}_${crypto.randomUUID().replaceAll('-', '')}`;
}
