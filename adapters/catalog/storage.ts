/** Definitions that can be changed, kept in a `Storage`. */

import { PinnaceError } from '../../src/errors.ts';
import type { Key } from '../../src/key.ts';
import type { Catalog, Storage } from '../../src/ports.ts';
import type { AgentInput, McpServerInput, ProviderInput } from '../../src/schema.ts';
import { untilAborted } from '../remote/until-aborted.ts';
import { type CatalogRecords, kindNames, readRecord, type RecordKind } from './read-record.ts';

/** A record of each kind as its author writes it; the `revision` is not the author's, and is replaced. */
export interface CatalogInputs {
  readonly agent: AgentInput;
  readonly provider: ProviderInput;
  /** A `ToolDefinition`, in which what has a default may be left out. */
  readonly tool: object;
  readonly mcpServer: McpServerInput;
}

/** What must hold for a write to happen. */
export interface WriteOptions {
  /** The revision that the record must have now; `null`: it must not exist; absent: no matter. */
  readonly ifRevision?: number | null;
}

/**
 * Changes records. Every write gives a record the next revision, which is never used again, not even after a removal.
 *
 * A runtime goes on with what it has cached, for a minute at most, unless it hears of the write: `onChange` of
 * {@link storageCatalog} is there to call its `invalidate`.
 */
export interface CatalogWriter {
  /**
   * Sets or replaces a record, and gives it as it now is.
   *
   * @throws PinnaceError `invalid_argument` for one that breaks its schema, `conflict` where `ifRevision` does not hold.
   */
  put<Kind extends RecordKind>(
    kind: Kind,
    record: CatalogInputs[Kind],
    options?: WriteOptions,
  ): Promise<CatalogRecords[Kind]>;
  /** Removes a record; one that is not there is removed already. @throws PinnaceError `conflict` as `put` does. */
  remove(kind: RecordKind, id: string, options?: WriteOptions): Promise<void>;
}

/** Where the records are kept, and who hears of changes. */
export interface StorageCatalogOptions {
  readonly storage: Storage;
  /** Two names in one storage never see each other. */
  readonly name?: string;
  /** Called after each write with the keys for `runtime.invalidate`; the write is over when it has resolved, and rejects as it does. */
  readonly onChange?: (keys: readonly string[]) => void | Promise<void>;
}

interface Records {
  readonly storage: Storage;
  readonly name: string;
}

const maxTries = 50;

/**
 * Gives a catalog over a storage. Records are checked when they are written. It has no `source`: the storage is shared by itself,
 * and a second copy in the shared cache could only be older.
 *
 * @example
 * const catalog = storageCatalog({ storage, onChange: (keys) => runtime.invalidate(keys) });
 * const runtime = createRuntime({ catalog, storage, models });
 * await catalog.put('agent', { id: 'helper', name: 'Helper', providerId: 'main' });
 */
export function storageCatalog(
  { storage, name = 'default', onChange }: StorageCatalogOptions,
): Catalog & CatalogWriter {
  const records: Records = { storage, name };
  return {
    agent: (agentId, signal) => read(records, { kind: 'agent', id: agentId, signal }),
    provider: (providerId, signal) => read(records, { kind: 'provider', id: providerId, signal }),
    tool: (toolId, signal) => read(records, { kind: 'tool', id: toolId, signal }),
    mcpServer: (serverId, signal) => read(records, { kind: 'mcpServer', id: serverId, signal }),
    async listTools({ after, limit }, signal) {
      const prefix = recordKey(records, 'tool');
      const query = { prefix, limit, ...(after !== undefined && { after: [...prefix, after] }) };
      const page = await untilAborted(() => storage.list(query), { signal, action: 'load the tools' });
      return page.map(({ value }) => value as CatalogRecords['tool']); // safe: written by `put` alone
    },
    async put(kind, record, options) {
      const checked = readRecord[kind](record, `the ${kindNames[kind]}`);
      const written = await change(records, { kind, id: checked.id, options }, checked);
      await onChange?.([changeKey(kind, written.id)]);
      return written;
    },
    async remove(kind, id, options) {
      await change(records, { kind, id, options }, undefined);
      await onChange?.([changeKey(kind, id)]);
    },
  };
}

async function read<Kind extends RecordKind>(
  records: Records,
  { kind, id, signal }: { readonly kind: Kind; readonly id: string; readonly signal?: AbortSignal | undefined },
): Promise<CatalogRecords[Kind] | undefined> {
  const key = recordKey(records, kind, id);
  const entry = await untilAborted(() => records.storage.get(key), {
    signal,
    action: `load ${kindNames[kind]} "${id}"`,
  });
  return entry?.value as CatalogRecords[Kind] | undefined; // safe: written by `put` alone
}

interface Place {
  readonly kind: RecordKind;
  readonly id: string;
  readonly options: WriteOptions | undefined;
}

/**
 * Writes a record, or without one removes it. Every change counts the record's revision up in the same commit, and whoever counted
 * in between makes this one begin again.
 */
async function change<Written extends object | undefined>(
  records: Records,
  { kind, id, options }: Place,
  record: Written,
): Promise<Written> {
  const counter = counterKey(records, kind, id);
  for (let tries = 0; tries < maxTries; tries++) {
    const count = await records.storage.get(counter); // before the record: unchanged at the commit, so was the record
    const current = await read(records, { kind, id });
    requireRevision(current, { kind, id, options });
    if (!current && !record) return record;
    const revision = Number(count?.value ?? 0) + 1;
    const value = record && { ...record, revision };
    const result = await records.storage.commit([
      { key: counter, value: revision, ifVersion: count?.version ?? null },
      { key: recordKey(records, kind, id), value },
    ]);
    if (result.ok) return value;
  }
  throw new PinnaceError(
    'unavailable',
    `Cannot write ${kindNames[kind]} "${id}": too many write it at once; try again`,
  );
}

function requireRevision(current: { readonly revision: number } | undefined, { kind, id, options }: Place): void {
  const { ifRevision } = options ?? {};
  const revision = current?.revision ?? null;
  if (ifRevision === undefined || ifRevision === revision) return;
  const state = revision === null ? 'it does not exist' : `it has revision ${revision}`;
  throw new PinnaceError('conflict', `Cannot write ${kindNames[kind]} "${id}": ${state}; read it and decide again`, {
    retryable: false,
    details: { reason: 'revision_mismatch', revision },
  });
}

function recordKey({ name }: Records, kind: RecordKind, ...id: readonly string[]): Key {
  return ['catalog', name, kind, ...id];
}

function counterKey({ name }: Records, kind: RecordKind, id: string): Key {
  return ['catalog-revision', name, kind, id];
}

/** What a runtime calls it; tools are cached all together. */
function changeKey(kind: RecordKind, id: string): string {
  if (kind === 'tool') return 'tools';
  return kind === 'mcpServer' ? `mcp-server:${id}` : `${kind}:${id}`;
}
