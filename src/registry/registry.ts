/** The registry: agents, tools, MCP servers, providers and data sources over one storage, and a runtime's catalog at once. */

import type { Catalog } from '../contracts/catalog.ts';
import type { Storage } from '../contracts/storage.ts';
import { type CatalogRecords, kindNames, type RecordKind } from './record-kinds.ts';
import { checkKnownOptions, optional } from '../base/check-options.ts';
import { loadOnce, onUse } from '../base/load-once.ts';
import { checkPrivateOrigins } from '../base/origins.ts';
import { untilAborted } from '../base/until-aborted.ts';
import type { Collection } from './collection.ts';
import type { KnownParts } from './fields.ts';
import { type Owner, recordKey } from './owner.ts';
import type { Records, RegistryOptions } from './open-records.ts';

/**
 * What there is to run, changed while it runs. Every write counts the record's `revision` up, which is never used again, adds to
 * its history, and takes effect with the next request of every runtime over the storage. What agents and tools say of each other
 * is one commit.
 */
export interface Registry extends Catalog, Records {
  /** The shared record; with a tenant, the tenant's own before it. */
  dataSource(
    sourceId: string,
    signal?: AbortSignal,
    tenant?: string,
  ): Promise<CatalogRecords['dataSource'] | undefined>;
  /** The records of one tenant's own, as a runtime reads them. */
  forTenant(tenant: string): Catalog;
}

/**
 * Creates the registry of a storage. It is the `catalog` of any number of runtimes. It has no `source`: the storage is shared by
 * itself, and a second copy in the shared cache could only be older.
 *
 * @example
 * const registry = createRegistry({ storage });
 * await registry.providers.register({ id: 'main', kind: 'rehearsal' });
 * await registry.agents.register({ id: 'helper', name: 'Helper', providerId: 'main' });
 * const runtime = createRuntime({ catalog: registry, storage, models });
 */
export function createRegistry(options: RegistryOptions): Registry {
  checkKnownOptions('create the registry', options, {
    storage: ['.commit', 'a storage, such as memoryStorage()'],
    ...optional(
      'tools',
      'handlers',
      'privateOrigins',
      'sources',
      'sinks',
      'ring',
      'audit',
      'authorize',
      'onChange',
      'onError',
      'now',
    ),
  });
  const { storage } = options;
  const known = knownParts(options);
  const records = loadOnce(async () => (await import('./open-records.ts')).openRecords(options, known));
  return {
    agents: onUse(async () => (await records()).agents, ...collectionMethods),
    tools: onUse(async () => (await records()).tools, ...collectionMethods),
    mcpServers: onUse(async () => (await records()).mcpServers, ...collectionMethods),
    providers: onUse(async () => (await records()).providers, ...collectionMethods),
    dataSources: onUse(async () => (await records()).dataSources, ...collectionMethods),
    ...catalogOf(storage, undefined),
    forTenant: (tenant) => catalogOf(storage, tenant),
    dataSource: async (id, signal, tenant) => {
      const own = tenant !== undefined && await read(storage, { kind: 'dataSource', owner: tenant, id, signal });
      return own || await read(storage, { kind: 'dataSource', owner: undefined, id, signal });
    },
    ...onUse(records, 'availableTools', 'put', 'export', 'import'),
  };
}

const collectionMethods = [
  'register',
  'get',
  'list',
  'update',
  'replace',
  'disable',
  'enable',
  'remove',
  'history',
] as const satisfies readonly (keyof Collection<RecordKind>)[];

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
