/** What can be done with the records of one kind. */

import type { AgentRegistration, ProviderRegistration } from '../base/agent-input.ts';
import { PinnaceError } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
import { limitOf, type Page, type PageOptions } from '../base/page.ts';
import type { Agent, ToolDefinition } from '../base/schema.ts';
import type { Storage } from '../contracts/storage.ts';
import { createAllowlist, exactIds, isPattern, unavailability } from '../tools/availability.ts';
import type { Draft } from './draft.ts';
import { type HistoryEntry, readHistory, type RegistryAction } from './history.ts';
import { listRecords, type RegistryQuery } from './list.ts';
import { type Access, mayRead, type Owner, ownerOf, recordKey, type RecordScope, removedKey } from './owner.ts';
import { type CatalogInputs, type CatalogRecords, kindNames, readRecord, type RecordKind } from './record-kinds.ts';
import { asAuthored, isGiven } from './rules.ts';
import { agentsUsing, findRecord, scan, type ScanOptions, withoutTool, withTool } from './scan.ts';
import { requireRevision, setRecord, taken, unbound, type Write, type WriteOptions } from './write.ts';
import { sharedRecord } from '../permission/ownership.ts';

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

interface CollectionOptions extends ScanOptions {
  readonly write: Write;
}

export function createCollection<Kind extends RecordKind>(
  kind: Kind,
  options: CollectionOptions,
): Collection<Kind> {
  const { storage, write } = options;
  const change = changesOf(kind, options);
  return {
    async register(input, given = {}) {
      const { id = `${kind.toLowerCase()}_${crypto.randomUUID().replaceAll('-', '')}` } = input;
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

function otherId(kind: RecordKind, id: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot change the id of ${kindNames[kind]} "${id}": register another`, {
    details: { reason: 'id_changed' },
  });
}

/** Returns the record of the draft's owner. @throws PinnaceError `not_found`, `forbidden` for a shared one, `conflict` for another revision. */
async function requireCurrent<Kind extends RecordKind>(
  draft: Draft,
  { kind, id, version, action, ...options }: ScanOptions & Access & {
    readonly action: RegistryAction;
    readonly kind: Kind;
    readonly id: string;
    readonly version: number | undefined;
  },
): Promise<CatalogRecords[Kind]> {
  const current = await draft.get(kind, id);
  if (!current && isGiven(options, kind, id)) throw givenAsCode(id);
  if (!current) throw await refusalOf({ ...options, access: options, attempt: action }, kind, id);
  requireRevision(current, { kind, id, ifRevision: version });
  return current;
}

/** The error for a record that is not the caller's own: one that it can read is shared, any other does not exist for it. */
async function refusalOf(
  { storage, access, attempt }: ScanOptions & { readonly access: Access; readonly attempt: string },
  kind: RecordKind,
  id: string,
): Promise<PinnaceError> {
  const shared = await findRecord(storage, kind, { owner: undefined, id });
  if (ownerOf(access) === undefined || !shared || !mayRead(shared, access)) return notFound(kind);
  return sharedRecord(`${attempt} ${kindNames[kind]} "${id}"`);
}

/** The revision that the record has, or had when it was removed; 0 for one that there never was. */
async function lastRevision(storage: Storage, place: RecordScope, id: string): Promise<number> {
  const current = await storage.get(recordKey(place, id));
  if (current) return (current.value as CatalogRecords[RecordKind]).revision; // written by the registry alone
  return Number((await storage.get(removedKey(place, id)))?.value ?? 0);
}

/** The error for an id that names nothing for the caller. */
function notFound(kind: RecordKind): PinnaceError {
  return new PinnaceError('not_found', `No ${kindNames[kind]} has this id`, {
    details: { reason: `${kindNames[kind].toLowerCase().replaceAll(' ', '_')}_not_found` },
  });
}

function givenAsCode(id: string): PinnaceError {
  return new PinnaceError(
    'forbidden',
    `Cannot change tool "${id}": it is given as code, where the runtime is composed`,
    {
      details: { reason: 'given_as_code' },
    },
  );
}

/**
 * Makes these agents, and no others, name the tool.
 * @throws PinnaceError `invalid_argument` for an unknown agent, `forbidden` for a shared one when the draft is a tenant's.
 */
async function bindTool(
  draft: Draft,
  toolId: string,
  { from, to }: { readonly from: readonly string[]; readonly to: readonly string[] },
): Promise<void> {
  for (const [at, agentId] of to.entries()) {
    const agent = await draft.get('agent', agentId);
    if (!agent && await draft.find('agent', agentId)) throw sharedRecord(`bind the tool to agent "${agentId}"`);
    if (!agent) throw unknownAgent(at);
    await draft.put('agent', withTool(agent, toolId), 'bind');
  }
  for (const agentId of from.filter((id) => !to.includes(id))) {
    const agent = await draft.get('agent', agentId);
    if (agent) await draft.put('agent', withoutTool(agent, toolId), 'unbind');
  }
}

/** Says the place and not the id: what a caller sends is not repeated. */
function unknownAgent(at: number): PinnaceError {
  const issue = { path: `boundAgents.${at}`, message: 'is no agent that is known here: register it first' };
  return new PinnaceError('invalid_argument', `Cannot bind the tool: "${issue.path}" ${issue.message}`, {
    details: { reason: 'unknown_agent', issues: [issue] },
  });
}

/**
 * Returns the definitions that are bound to the agent, enabled and visible, in the order of their ids: those of the agent's owner and
 * the shared ones. A disabled agent has none.
 */
async function availableTools(options: ScanOptions, agent: Agent): Promise<readonly ToolDefinition[]> {
  if (agent.state === 'disabled' || agent.visibility === 'disabled') return [];
  const allows = createAllowlist(agent.entryTools);
  const named = agent.entryTools.some(isPattern) ? await allTools(options, agent) : await namedTools(options, agent);
  return named.filter((definition) => unavailability(definition, allows.has(definition.id)) === undefined);
}

async function allTools(options: ScanOptions, { tenant: owner }: Agent): Promise<readonly ToolDefinition[]> {
  return await Array.fromAsync(scan(options, { kind: 'tool', owner }));
}

async function namedTools(
  { storage, composed }: ScanOptions,
  { entryTools, tenant: owner }: Agent,
): Promise<readonly ToolDefinition[]> {
  const ids = [...new Set(exactIds(entryTools))].toSorted();
  const found = await Promise.all(
    ids.map(async (id) => composed.get(id) ?? await findRecord(storage, 'tool', { owner, id })),
  );
  return found.filter((tool) => tool !== undefined);
}

/** Gives the target with the patch applied; neither is changed. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged = new Map(Object.entries(isRecord(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else if (value !== undefined) merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}
