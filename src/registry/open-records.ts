/** What people and services do with records: listings, writes, exports and imports. A runtime that only reads does not load this file. */

import type { PrivateOrigins } from '../base/origins.ts';
import type { ToolDefinition } from '../base/schema.ts';
import type { Authorize } from '../contracts/authenticator.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import type { Storage } from '../contracts/storage.ts';
import { type Audit, createRecorder } from '../events/audit.ts';
import { createEmit, type EventRing } from '../events/event-ring.ts';
import { createReport, type OnError, reportedHook } from '../events/report.ts';
import type { Handlers } from '../tools/define-tool.ts';
import {
  type CatalogExport,
  exportCatalog,
  importCatalog,
  type ImportOptions,
  type ImportReport,
} from './catalog-document.ts';
import { type Collection, createCollection } from './collection.ts';
import type { KnownParts } from './fields.ts';
import { type Access, ownerOf } from './owner.ts';
import type { CatalogInputs, CatalogRecords, RecordKind } from './record-kinds.ts';
import { createWriter, type PutOptions, putRecord } from './write.ts';

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

/** What a registry is made of. */
export interface RegistryOptions {
  /** Stores all records. A runtime over the same storage receives every change. */
  readonly storage: Storage;
  /** The composition's code tools: agents may name them; the registry cannot change them. */
  readonly tools?: readonly ToolDefinition[];
  /** The handlers of the runtime: a tool of type `function` or `extension` must name one in `config.handler`. */
  readonly handlers?: Handlers;
  /** Private origins that providers, MCP servers and HTTP tools may have, as `http://localhost:11434`, or `loopback`; none when absent. */
  readonly privateOrigins?: PrivateOrigins;
  /** Ids of the composition's data sources in code: agents may name them without a record. */
  readonly sources?: readonly string[];
  /** Receive the events of the registry. */
  readonly sinks?: readonly EventSink[];
  /** Keeps the last events for those who watch a runtime: that of the runtime. */
  readonly ring?: EventRing;
  /** Every write is written down there first; one that cannot be is refused. */
  readonly audit?: Audit;
  /** Called before every write of a principal (`registry.register`, `registry.update`, …). */
  readonly authorize?: Authorize;
  /** Called after each write with the keys for `invalidate` of a runtime over another storage. */
  readonly onChange?: (keys: readonly string[]) => void | Promise<void>;
  /** Receives what the error of a write does not contain: what sinks, `authorize` and `onChange` throw. */
  readonly onError?: OnError;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}
