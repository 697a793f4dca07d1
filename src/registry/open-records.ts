/** What people and services do with records: listings, writes, exports and imports. A runtime that only reads does not load this file. */

import { createRecorder } from '../events/audit.ts';
import { createEmit } from '../events/events.ts';
import { createReport } from '../events/report.ts';
import { reportedHook } from '../events/reported-port.ts';
import type { CatalogInputs, CatalogRecords, RecordKind } from './record-kinds.ts';
import type { ToolDefinition } from '../base/schema.ts';
import { type CatalogExport, exportCatalog } from './catalog-document.ts';
import { type Collection, createCollection } from './collection.ts';
import type { KnownParts } from './fields.ts';
import { importCatalog, type ImportOptions, type ImportReport } from './import-catalog.ts';
import { type Access, ownerOf } from './owner.ts';
import type { RegistryOptions } from './registry-options.ts';
import { type PutOptions, putRecord } from './set-record.ts';
import { createWriter } from './write.ts';

/** The records of a registry. */
export interface Records {
  readonly agents: Collection<'agent'>;
  readonly tools: Collection<'tool'>;
  readonly mcpServers: Collection<'mcpServer'>;
  readonly providers: Collection<'provider'>;
  readonly dataSources: Collection<'dataSource'>;
  /** The definitions that an agent can use now: bound, enabled and visible. Rejects with `not_found`. */
  availableTools(agentId: string, access?: Access): Promise<readonly ToolDefinition[]>;
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

/** Opens the records of a storage. */
export function openRecords(given: RegistryOptions, known: KnownParts): Records {
  const { storage, tools = [], sinks = [], ring, audit, authorize, onChange, now = Date.now } = given;
  const composed = new Map(tools.map((tool) => [tool.id, tool]));
  const report = createReport(given.onError);
  const emit = createEmit({ sinks, ring, now, report });
  const recorder = createRecorder({ audit, emit, now, report });
  const hooks = {
    authorize: authorize && reportedHook(authorize, report, 'authorize'),
    onChange: onChange && reportedHook(onChange, report, 'onChange'),
  };
  const write = createWriter({ storage, now, emit, recorder, ...hooks });
  const options = { storage, composed, write, known };
  const agents = createCollection('agent', options);
  return {
    agents,
    tools: createCollection('tool', options),
    mcpServers: createCollection('mcpServer', options),
    providers: createCollection('provider', options),
    dataSources: createCollection('dataSource', options),
    availableTools: async (agentId, access) => (await agents.get(agentId, access)).availableTools,
    put: (kind, record, how) => putRecord(options, kind, { ...how, record }),
    export: async (access = {}) => await exportCatalog({ storage, owner: ownerOf(access), now }),
    import: (data, how) => importCatalog(options, data, how),
  };
}
