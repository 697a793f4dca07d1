/** What can be done with the records of one kind. */

import type { AgentRegistration } from '../base/agent/agent-input.ts';
import type { ProviderRegistration } from '../base/agent/provider-input.ts';
import { PinnaceError } from '../base/errors.ts';
import { type CatalogInputs, type CatalogRecords, kindNames, readRecord, type RecordKind } from './record-kinds.ts';
import type { Agent, ToolDefinition } from '../base/schema.ts';
import { exactIds } from '../tools/availability.ts';
import { availableTools } from './available-tools.ts';
import { bindTool } from './bind-tool.ts';
import type { Draft } from './draft.ts';
import { type HistoryEntry, readHistory, type RegistryAction } from './history.ts';
import { listRecords, type RegistryQuery } from './list.ts';
import { mergePatch } from './merge-patch.ts';
import { limitOf, type Page, type PageOptions } from '../base/page.ts';
import { type Access, mayRead, type Owner, ownerOf } from './owner.ts';
import { asAuthored, isGiven } from './rules.ts';
import { agentsUsing, findRecord, type ScanOptions } from './scan.ts';
import { lastRevision, notFound, refusalOf, requireCurrent } from './require-current.ts';
import { setRecord, taken, unbound } from './set-record.ts';
import type { Write, WriteOptions } from './write.ts';

/** What a record is when it is read: with what is bound to it. */
export interface FoundRecords extends Omit<CatalogRecords, 'agent'> {
  /** With the definitions of the tools that it can use now. */
  readonly agent: Agent & { readonly availableTools: readonly ToolDefinition[] };
}

/** A record as it is registered: without an `id` it is given one. */
export type Registration<Kind extends RecordKind> = FieldsOf<Kind> & {
  /** 1 to 128 letters, digits, `_`, `.` and `-`. Default: a new one. */
  id?: string;
};

/** All fields but the id. Editors show the comments of interfaces, not those behind an `Omit`. */
type FieldsOf<Kind extends RecordKind> = Kind extends 'agent' ? AgentRegistration
  : Kind extends 'provider' ? ProviderRegistration
  : Omit<CatalogInputs[Kind], 'id'>;

/** A merge patch (RFC 7396): what is absent stays, `null` takes a field away. */
export type Patch<Kind extends RecordKind> = { readonly [Field in keyof CatalogInputs[Kind]]?: unknown };

/** A write of a version that the caller has read. */
export interface VersionOptions extends WriteOptions {
  /** The revision that the record must have now. */
  readonly version: number;
}

/**
 * The records of one kind. A tenant reads its own and those that the deployment shares, and writes its own. Unknown ids are
 * `not_found`, and so are other tenants'; a write of a shared record is `forbidden` with the reason `shared_record`.
 */
export interface Collection<Kind extends RecordKind> {
  /**
   * Registers a record. A tool's `boundAgents` are bound to it in the same commit.
   *
   * Rejects with `conflict` when the id is taken, also by a shared record (`id_taken_by_shared`), `invalid_argument` for a record
   * that fails its schema or names an unknown record.
   */
  register(record: Registration<Kind>, options?: WriteOptions): Promise<CatalogRecords[Kind]>;
  get(id: string, access?: Access): Promise<FoundRecords[Kind]>;
  list(query?: RegistryQuery, access?: Access): Promise<Page<CatalogRecords[Kind]>>;
  /** Changes the fields that the patch names. Rejects with `conflict` and the latest record when the version is another. */
  update(id: string, patch: Patch<Kind>, options: VersionOptions): Promise<CatalogRecords[Kind]>;
  /** Replaces the record; bindings that it does not set stay. Rejects as `update` does. */
  replace(id: string, record: Registration<Kind>, options: VersionOptions): Promise<CatalogRecords[Kind]>;
  /** Takes it out of service. It keeps everything, and an agent's runs are stopped. */
  disable(id: string, options?: WriteOptions): Promise<CatalogRecords[Kind]>;
  enable(id: string, options?: WriteOptions): Promise<CatalogRecords[Kind]>;
  /** Removes it. Rejects with `conflict` while something is bound to it. */
  remove(id: string, options?: WriteOptions & Partial<VersionOptions>): Promise<void>;
  /** What was done to it, the last first; also to one that was removed. Of a shared record for the deployment alone. */
  history(id: string, options?: PageOptions & Access): Promise<Page<HistoryEntry>>;
}

/** What a collection works with. */
export interface CollectionOptions extends ScanOptions {
  readonly write: Write;
}

/** Creates the collection of a kind. */
export function createCollection<Kind extends RecordKind>(
  kind: Kind,
  options: CollectionOptions,
): Collection<Kind> {
  const { storage, write } = options;
  const change = changesOf(kind, options);
  return {
    async register(input, given = {}) {
      const { id = newId(kind) } = input;
      const written = await write({ ...given, action: 'register', kind, id }, async (draft) => {
        if (isGiven(options, kind, id) || await draft.get(kind, id)) throw taken(kind, id);
        return await writeRecord(draft, { kind, record: { ...input, id }, action: 'register' }, options);
      });
      return await withBound({ ...options, owner: ownerOf(given) }, kind, written);
    },
    async get(id, access = {}) {
      const owner = ownerOf(access);
      const stored = await findRecord(storage, kind, { owner, id });
      const given = kind === 'tool' ? options.composed.get(id) as CatalogRecords[Kind] | undefined : undefined; // safe: tools only
      const record = given ?? stored;
      if (!record || !mayRead(record, access)) throw notFound(kind);
      return await describe({ ...options, owner, access }, kind, record);
    },
    async list(query = {}, access = {}) {
      const { items, ...page } = await listRecords({ ...options, access }, kind, query);
      const owner = ownerOf(access);
      return { items: await Promise.all(items.map((item) => withBound({ storage, owner }, kind, item))), ...page };
    },
    update: (id, patch, given) =>
      change(id, { ...given, action: 'update' }, (current) => mergePatch(current, patch) as object), // safe: a patch is an object
    replace: (id, record, given) => change(id, { ...given, action: 'update' }, () => record),
    disable: (id, given = {}) =>
      change(id, { ...given, action: 'disable' }, (current) => ({ ...current, state: 'disabled' })),
    enable: (id, given = {}) =>
      change(id, { ...given, action: 'enable' }, (current) => ({ ...current, state: 'active' })),
    async remove(id, { version, ...given } = {}) {
      await write({ ...given, action: 'remove', kind, id }, async (draft) => {
        const current = await requireCurrent(draft, { ...options, ...given, action: 'remove', kind, id, version });
        await requireUnbound({ storage, owner: draft.owner }, kind, current);
        await draft.remove(kind, id);
      });
    },
    async history(id, { principal, tenant, ...page } = {}) {
      const access = { principal, tenant };
      const place = { kind, owner: ownerOf(access) };
      const last = await lastRevision(storage, place, id);
      if (last === 0) throw await refusalOf({ ...options, access, attempt: 'read the history of' }, kind, id);
      return await readHistory(storage, { ...page, ...place, id, last, limit: limitOf(page) });
    },
  };
}

/** Sets a record as its author wrote it. The agents that a tool names are bound to it in the same commit. */
async function writeRecord<Kind extends RecordKind>(
  draft: Draft,
  { kind, record, action }: { readonly kind: Kind; readonly record: object; readonly action: RegistryAction },
  options: CollectionOptions,
): Promise<CatalogRecords[Kind]> {
  // An agent may come back with the tools that it was read with.
  const { availableTools: _, ...rest } = record as { readonly availableTools?: unknown };
  const read = readRecord[kind](kind === 'agent' ? rest : record, `the ${kindNames[kind]}`);
  const boundAgents = 'boundAgents' in read ? read.boundAgents : undefined;
  const written = await setRecord(draft, kind, {
    ...options,
    record: asAuthored(unbound(read), await draft.get(kind, read.id)),
    action,
  });
  if (boundAgents) {
    const from = await agentsUsing(options.storage, { kind: 'tool', owner: draft.owner }, read.id);
    await bindTool(draft, read.id, { from, to: boundAgents });
  }
  return written;
}

interface ChangeOptions extends WriteOptions {
  readonly version?: number | undefined;
  readonly action: RegistryAction;
}

/** Returns what changes a stored record of the kind. */
function changesOf<Kind extends RecordKind>(kind: Kind, options: CollectionOptions) {
  return async (
    id: string,
    { version, action, ...given }: ChangeOptions,
    edit: (current: CatalogRecords[Kind]) => object,
  ): Promise<CatalogRecords[Kind]> => {
    const written = await options.write({ ...given, action, kind, id }, async (draft) => {
      const current = await requireCurrent(draft, { ...options, ...given, action, kind, id, version });
      const next = edit(current);
      if ('id' in next && next.id !== undefined && next.id !== id) throw otherId(kind, id);
      return await writeRecord(draft, { kind, record: { ...next, id }, action }, options);
    });
    return await withBound({ ...options, owner: ownerOf(given) }, kind, written);
  };
}

interface OwnedScan extends Pick<ScanOptions, 'storage'> {
  readonly owner: Owner;
}

async function withBound<Kind extends RecordKind>(
  { storage, owner }: OwnedScan,
  kind: Kind,
  record: CatalogRecords[Kind],
): Promise<CatalogRecords[Kind]> {
  if (kind !== 'tool') return record;
  return { ...record, boundAgents: await agentsUsing(storage, { kind, owner }, record.id) };
}

async function describe<Kind extends RecordKind>(
  options: ScanOptions & OwnedScan & { readonly access: Access },
  kind: Kind,
  record: CatalogRecords[Kind],
): Promise<FoundRecords[Kind]> {
  const found = 'entryTools' in record
    ? { ...record, availableTools: await readableTools(options, record) }
    : await withBound(options, kind, record);
  return found as FoundRecords[Kind]; // safe: an agent has its tools, any other record is as it is
}

async function readableTools(
  { access, ...options }: ScanOptions & { readonly access: Access },
  agent: Agent,
): Promise<readonly ToolDefinition[]> {
  return (await availableTools(options, agent)).filter((tool) => mayRead(tool, access));
}

async function requireUnbound(
  { storage, owner }: OwnedScan,
  kind: RecordKind,
  record: CatalogRecords[RecordKind],
): Promise<void> {
  const boundAgents = kind === 'agent' ? [] : await agentsUsing(storage, { kind, owner }, record.id);
  const boundTools = 'entryTools' in record ? exactIds(record.entryTools) : [];
  const [first] = [...boundAgents, ...boundTools];
  if (first === undefined) return;
  const what = boundAgents.length > 0 ? `agent "${first}" names it` : `tool "${first}" is bound to it`;
  throw new PinnaceError(
    'conflict',
    `Cannot remove ${kindNames[kind]} "${record.id}": ${what}; take that away first, or disable it`,
    {
      retryable: false,
      details: {
        reason: 'still_bound',
        ...(boundAgents.length > 0 && { boundAgents: boundAgents.slice(0, 20) }),
        ...(boundTools.length > 0 && { boundTools: boundTools.slice(0, 20) }),
      },
    },
  );
}

function newId(kind: RecordKind): string {
  return `${kind.toLowerCase()}_${crypto.randomUUID().replaceAll('-', '')}`;
}

function otherId(kind: RecordKind, id: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot change the id of ${kindNames[kind]} "${id}": register another`, {
    details: { reason: 'id_changed' },
  });
}
