/** The registry: agents, tools, MCP servers, providers and data sources over one storage, and a runtime's catalog at once. */

import { type Audit, createRecorder } from '../../audit.ts';
import type { EventRing } from '../../event-ring.ts';
import { createEmit } from '../../events.ts';
import type { Authorize, Catalog, EventSink, Storage } from '../../ports.ts';
import type { CatalogInputs, CatalogRecords, RecordKind } from '../../record-kinds.ts';
import { kindNames } from '../../record-kinds.ts';
import type { ToolDefinition } from '../../schema.ts';
import { untilAborted } from '../../until-aborted.ts';
import { type Collection, createCollection } from './collection.ts';
import { recordKey } from './layout.ts';
import { type PutOptions, putRecord } from './set-record.ts';
import { type CatalogExport, exportCatalog } from './catalog-document.ts';
import { importCatalog, type ImportOptions, type ImportReport } from './import-catalog.ts';
import { createWriter } from './write.ts';

/** What a registry is made of. */
export interface RegistryOptions {
  /** Where everything is kept. A runtime over the same storage hears of every change by itself. */
  readonly storage: Storage;
  /** The tools that the composition gives as code: agents may name them, and nothing can change them here. */
  readonly tools?: readonly ToolDefinition[];
  readonly sinks?: readonly EventSink[];
  /** Keeps the last events for those who watch a runtime: that of the runtime. */
  readonly ring?: EventRing;
  /** Every write is written down there first; one that cannot be is refused. */
  readonly audit?: Audit;
  /** Is asked before every write of a principal (`registry.register`, `registry.update`, …). */
  readonly authorize?: Authorize;
  /** Called after each write with the keys for `invalidate` of a runtime over another storage. */
  readonly onChange?: (keys: readonly string[]) => void | Promise<void>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * What there is to run, changed while it runs. Every write counts the record's `revision` up, which is never used again, adds to
 * its history, and takes effect with the next request of every runtime over the storage. What agents and tools say of each other
 * is one commit.
 */
export interface Registry extends Catalog {
  readonly agents: Collection<'agent'>;
  readonly tools: Collection<'tool'>;
  readonly mcpServers: Collection<'mcpServer'>;
  readonly providers: Collection<'provider'>;
  readonly dataSources: Collection<'dataSource'>;
  dataSource(sourceId: string, signal?: AbortSignal): Promise<CatalogRecords['dataSource'] | undefined>;
  /** The definitions that an agent can use now: bound, enabled and visible. Rejects with `not_found`. */
  availableTools(agentId: string): Promise<readonly ToolDefinition[]>;
  /**
   * Sets a record as it is, whether it exists or not: for code that decides by itself, as the check of an MCP server does.
   *
   * Rejects with `conflict` where `ifRevision` (`null`: must not exist) does not hold.
   */
  put<Kind extends RecordKind>(
    kind: Kind,
    record: CatalogInputs[Kind],
    options?: PutOptions,
  ): Promise<CatalogRecords[Kind]>;
  /** Everything, without revisions. No value of a secret is in it: records only name secrets. */
  export(): Promise<CatalogExport>;
  /** Takes a whole export in, or tells what that would change. */
  import(data: unknown, options?: ImportOptions): Promise<ImportReport>;
}

/**
 * Gives the registry of a storage. It is the `catalog` of any number of runtimes. It has no `source`: the storage is shared by
 * itself, and a second copy in the shared cache could only be older.
 *
 * @example
 * const registry = createRegistry({ storage });
 * await registry.providers.register({ id: 'main', kind: 'rehearsal' });
 * await registry.agents.register({ id: 'helper', name: 'Helper', providerId: 'main' });
 * const runtime = createRuntime({ catalog: registry, storage, models });
 */
export function createRegistry(
  { storage, tools = [], sinks = [], ring, audit, authorize, onChange, now = Date.now }: RegistryOptions,
): Registry {
  const composed = new Map(tools.map((tool) => [tool.id, tool]));
  const emit = createEmit({ sinks, ring, now });
  const recorder = createRecorder({ audit, emit, now });
  const write = createWriter({ storage, now, emit, recorder, authorize, onChange });
  const options = { storage, composed, write };
  const agents = createCollection('agent', options);
  return {
    agents,
    tools: createCollection('tool', options),
    mcpServers: createCollection('mcpServer', options),
    providers: createCollection('provider', options),
    dataSources: createCollection('dataSource', options),
    agent: (id, signal) => read(storage, { kind: 'agent', id, signal }),
    tool: (id, signal) => read(storage, { kind: 'tool', id, signal }),
    provider: (id, signal) => read(storage, { kind: 'provider', id, signal }),
    mcpServer: (id, signal) => read(storage, { kind: 'mcpServer', id, signal }),
    dataSource: (id, signal) => read(storage, { kind: 'dataSource', id, signal }),
    listTools: (query, signal) => list(storage, 'tool', { ...query, signal }),
    listMcpServers: (query, signal) => list(storage, 'mcpServer', { ...query, signal }),
    availableTools: async (agentId) => (await agents.get(agentId)).availableTools,
    put: (kind, record, given) => putRecord(options, kind, { ...given, record }),
    export: () => exportCatalog({ storage, now }),
    import: (data, given) => importCatalog(options, data, given),
  };
}

async function read<Kind extends RecordKind>(
  storage: Storage,
  { kind, id, signal }: { readonly kind: Kind; readonly id: string; readonly signal: AbortSignal | undefined },
): Promise<CatalogRecords[Kind] | undefined> {
  const key = recordKey(kind, id);
  const entry = await untilAborted(() => storage.get(key), { signal, action: `load ${kindNames[kind]} "${id}"` });
  return entry?.value as CatalogRecords[Kind] | undefined; // written by the registry alone
}

async function list<Kind extends RecordKind>(
  storage: Storage,
  kind: Kind,
  { after, limit, signal }: {
    readonly after?: string;
    readonly limit: number;
    readonly signal: AbortSignal | undefined;
  },
): Promise<CatalogRecords[Kind][]> {
  const prefix = recordKey(kind);
  const query = { prefix, limit, ...(after !== undefined && { after: [...prefix, after] }) };
  const page = await untilAborted(() => storage.list(query), { signal, action: `load every ${kindNames[kind]}` });
  return page.map(({ value }) => value as CatalogRecords[Kind]); // written by the registry alone
}
