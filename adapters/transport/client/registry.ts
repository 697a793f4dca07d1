/** The registries of an endpoint: records are registered, read, changed and disabled over signed requests, as in process. */

import { type Call, type CallInput, type CallOptions, callPath } from './call.ts';
import type { Connection } from './connection.ts';
import type { FoundRecords, Patch, Registration } from '../../../src/registry/collection.ts';
import type { CatalogExport, ImportReport } from '../../../src/registry/catalog-document.ts';
import type { HistoryEntry } from '../../../src/registry/history.ts';
import type { RegistryQuery } from '../../../src/registry/list.ts';
import type { Page, PageOptions } from '../../../src/base/page.ts';
import type { CatalogRecords, RecordKind } from '../../../src/registry/record-kinds.ts';
import type { ToolDefinition } from '../../../src/base/schema.ts';

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

/** Returns the registries of an endpoint. */
export function remoteRegistry(connection: Connection, call: Call): RemoteRegistry {
  const collection = <Kind extends RecordKind>(name: string) => remoteCollection<Kind>(connection, name);
  return {
    agents: collection('agents'),
    tools: collection('tools'),
    mcpServers: collection('mcp-servers'),
    providers: collection('providers'),
    dataSources: collection('data-sources'),
    availableTools: async (id, given) => (await call('GET /v1/agents/:id/tools', { id }, given)).items,
    export: (given) => call('GET /v1/export', {}, given),
    import: (body, { dryRun = false, signal } = {}) => call('POST /v1/import', {}, { signal, body, query: { dryRun } }),
  };
}

function remoteCollection<Kind extends RecordKind>(connection: Connection, name: string): RemoteCollection<Kind> {
  const one = (id: string): string => `/${encodeURIComponent(id)}`;
  const call = async (method: string, path: string, given?: CallInput): Promise<never> =>
    await callPath(connection, { method, path: `/v1/${name}${path}` }, given) as never; // safe: the table of the collection says what it returns
  return {
    // The client chooses the id, so a retry is the same record.
    register: (record, given) => call('POST', '', { ...given, body: { id: newId(name), ...record } }),
    get: (id, given) => call('GET', one(id), given),
    list: (query = {}, given = {}) => call('GET', '', { ...given, query }),
    update: (id, body, given) => call('PATCH', one(id), { ...given, body }),
    replace: (id, body, given) => call('PUT', one(id), { ...given, body }),
    disable: (id, given) => call('POST', `${one(id)}/disable`, given),
    enable: (id, given) => call('POST', `${one(id)}/enable`, given),
    remove: (id, given) => call('DELETE', one(id), given),
    history: (id, page = {}, given = {}) => call('GET', `${one(id)}/history`, { ...given, query: { ...page } }),
  };
}

function newId(name: string): string {
  return `${name.slice(0, -1)}_${crypto.randomUUID().replaceAll('-', '')}`;
}
