/** The registry: agents, tools, MCP servers, providers and data sources over one storage, and a runtime's catalog at once. */

import { type Audit, createRecorder } from '../events/audit.ts';
import type { EventRing } from '../events/event-ring.ts';
import { createEmit } from '../events/events.ts';
import type { Authorize } from '../contracts/authorize.ts';
import type { Catalog } from '../contracts/catalog.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import type { Storage } from '../contracts/storage.ts';
import type { CatalogInputs, CatalogRecords, RecordKind } from '../tools/records/record-kinds.ts';
import { kindNames } from '../tools/records/record-kinds.ts';
import { checkPrivateOrigins, type PrivateOrigins } from '../base/private-origins.ts';
import type { ToolDefinition } from '../base/schema.ts';
import type { Handlers } from '../tools/extension.ts';
import { untilAborted } from '../base/until-aborted.ts';
import { type Collection, createCollection } from './collection.ts';
import type { KnownParts } from './fields.ts';
import { recordKey } from './layout.ts';
import { type Access, type Owner, ownerOf } from './owner.ts';
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
  /** The handlers of the runtime: a tool of type `function` or `extension` must name one in `config.handler`. */
  readonly handlers?: Handlers;
  /** Private origins that a provider's `baseUrl` may have, as `http://localhost:11434`, or `loopback`; none when absent. */
  readonly privateOrigins?: PrivateOrigins;
  /** Ids of data sources that the composition gives as code: agents may name them without a record. */
  readonly sources?: readonly string[];
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
  /** The shared record; with a tenant, the tenant's own before it. */
  dataSource(
    sourceId: string,
    signal?: AbortSignal,
    tenant?: string,
  ): Promise<CatalogRecords['dataSource'] | undefined>;
  /** The definitions that an agent can use now: bound, enabled and visible. Rejects with `not_found`. */
  availableTools(agentId: string, access?: Access): Promise<readonly ToolDefinition[]>;
  /** The records of one tenant's own, as a runtime reads them. */
  forTenant(tenant: string): Catalog;
  /**
   * Sets a record as it is, whether it exists or not: for code that decides by itself, as the check of an MCP server does. Without a
   * principal, a record with a `tenant` is that tenant's own.
   *
   * Rejects with `conflict` where `ifRevision` (`null`: must not exist) does not hold.
   */
  put<Kind extends RecordKind>(
    kind: Kind,
    record: CatalogInputs[Kind],
    options?: PutOptions,
  ): Promise<CatalogRecords[Kind]>;
  /** Everything that is the caller's own, without revisions. No value of a secret is in it: records only name secrets. */
  export(access?: Access): Promise<CatalogExport>;
  /** Imports a whole export, or returns what that would change. */
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
export function createRegistry(given: RegistryOptions): Registry {
  const { storage, tools = [], sinks = [], ring, audit, authorize, onChange, now = Date.now } = given;
  const composed = new Map(tools.map((tool) => [tool.id, tool]));
  const emit = createEmit({ sinks, ring, now });
  const recorder = createRecorder({ audit, emit, now });
  const write = createWriter({ storage, now, emit, recorder, authorize, onChange });
  const options = { storage, composed, write, known: knownParts(given) };
  const agents = createCollection('agent', options);
  return {
    agents,
    tools: createCollection('tool', options),
    mcpServers: createCollection('mcpServer', options),
    providers: createCollection('provider', options),
    dataSources: createCollection('dataSource', options),
    ...catalogOf(storage, undefined),
    forTenant: (tenant) => catalogOf(storage, tenant),
    dataSource: async (id, signal, tenant) => {
      const own = tenant !== undefined && await read(storage, { kind: 'dataSource', owner: tenant, id, signal });
      return own || await read(storage, { kind: 'dataSource', owner: undefined, id, signal });
    },
    availableTools: async (agentId, access) => (await agents.get(agentId, access)).availableTools,
    put: (kind, record, how) => putRecord(options, kind, { ...how, record }),
    export: async (access = {}) => await exportCatalog({ storage, owner: ownerOf(access), now }),
    import: (data, how) => importCatalog(options, data, how),
  };
}

/** What runtimes read of one owner. */
function catalogOf(storage: Storage, owner: Owner) {
  return {
    agent: (id, signal) => read(storage, { kind: 'agent', owner, id, signal }),
    tool: (id, signal) => read(storage, { kind: 'tool', owner, id, signal }),
    provider: (id, signal) => read(storage, { kind: 'provider', owner, id, signal }),
    mcpServer: (id, signal) => read(storage, { kind: 'mcpServer', owner, id, signal }),
    listTools: (query, signal) => list(storage, 'tool', { ...query, owner, signal }),
    listMcpServers: (query, signal) => list(storage, 'mcpServer', { ...query, owner, signal }),
  } satisfies Catalog;
}

function knownParts({ handlers = {}, privateOrigins = [], sources = [] }: RegistryOptions): KnownParts {
  checkPrivateOrigins(privateOrigins);
  return { handlers: new Set(Object.keys(handlers)), privateOrigins, sources: new Set(sources) };
}

async function read<Kind extends RecordKind>(
  storage: Storage,
  { kind, owner, id, signal }: {
    readonly kind: Kind;
    readonly owner: Owner;
    readonly id: string;
    readonly signal: AbortSignal | undefined;
  },
): Promise<CatalogRecords[Kind] | undefined> {
  const key = recordKey({ kind, owner }, id);
  const entry = await untilAborted(() => storage.get(key), { signal, action: `load ${kindNames[kind]} "${id}"` });
  return entry?.value as CatalogRecords[Kind] | undefined; // written by the registry alone
}

async function list<Kind extends RecordKind>(
  storage: Storage,
  kind: Kind,
  { owner, after, limit, signal }: {
    readonly owner: Owner;
    readonly after?: string;
    readonly limit: number;
    readonly signal: AbortSignal | undefined;
  },
): Promise<CatalogRecords[Kind][]> {
  const prefix = recordKey({ kind, owner });
  const query = { prefix, limit, ...(after !== undefined && { after: [...prefix, after] }) };
  const page = await untilAborted(() => storage.list(query), { signal, action: `load every ${kindNames[kind]}` });
  return page.map(({ value }) => value as CatalogRecords[Kind]); // written by the registry alone
}
