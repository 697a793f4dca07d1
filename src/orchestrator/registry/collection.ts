/** What can be done with the records of one kind. */

import { PinnaceError } from '../../errors.ts';
import type { CatalogInputs, CatalogRecords, RecordKind } from '../../record-kinds.ts';
import { kindNames, readRecord } from '../../record-kinds.ts';
import type { Agent, ToolDefinition } from '../../schema.ts';
import { exactIds } from '../../tools/availability.ts';
import { availableTools } from './available-tools.ts';
import { bindTool } from './bind-tool.ts';
import type { Draft, RegistryAction } from './draft.ts';
import { type HistoryEntry, readHistory } from './history.ts';
import { recordKey, removedKey } from './layout.ts';
import { listRecords, type RegistryQuery } from './list.ts';
import { mergePatch } from './merge-patch.ts';
import { limitOf, type Page, type PageOptions } from '../../page.ts';
import { asAuthored, isGiven } from './rules.ts';
import { agentsUsing, type ScanOptions } from './scan.ts';
import { requireRevision, setRecord, taken, unbound } from './set-record.ts';
import type { Write, WriteOptions } from './write.ts';

/** What a record is when it is read: with what is bound to it. */
export interface FoundRecords extends Omit<CatalogRecords, 'agent'> {
  /** With the definitions of the tools that it can use now. */
  readonly agent: Agent & { readonly availableTools: readonly ToolDefinition[] };
}

/** A record as it is registered: without an `id` it is given one. */
export type Registration<Kind extends RecordKind> =
  & Omit<CatalogInputs[Kind], 'id'>
  & Partial<Pick<CatalogInputs[Kind], 'id'>>;

/** A merge patch (RFC 7396): what is absent stays, `null` takes a field away. */
export type Patch<Kind extends RecordKind> = { readonly [Field in keyof CatalogInputs[Kind]]?: unknown };

/** A write of a version that the caller has seen. */
export interface VersionOptions extends WriteOptions {
  /** The revision that the record must have now. */
  readonly version: number;
}

/** The records of one kind. Unknown ids are `not_found`. */
export interface Collection<Kind extends RecordKind> {
  /**
   * Registers a record. A tool's `boundAgents` are bound to it in the same commit.
   *
   * Rejects with `conflict` when the id is taken, `invalid_argument` for what breaks its schema or names what nobody knows.
   */
  register(record: Registration<Kind>, options?: WriteOptions): Promise<CatalogRecords[Kind]>;
  get(id: string): Promise<FoundRecords[Kind]>;
  list(query?: RegistryQuery): Promise<Page<CatalogRecords[Kind]>>;
  /** Changes the fields that the patch names. Rejects with `conflict` and the latest record when the version is another. */
  update(id: string, patch: Patch<Kind>, options: VersionOptions): Promise<CatalogRecords[Kind]>;
  /** Puts another record in its place; bindings that it does not speak of stay. Rejects as `update` does. */
  replace(id: string, record: Registration<Kind>, options: VersionOptions): Promise<CatalogRecords[Kind]>;
  /** Takes it out of service. It keeps everything, and an agent's runs are stopped. */
  disable(id: string, options?: WriteOptions): Promise<CatalogRecords[Kind]>;
  enable(id: string, options?: WriteOptions): Promise<CatalogRecords[Kind]>;
  /** Removes it. Rejects with `conflict` while something is bound to it. */
  remove(id: string, options?: WriteOptions & Partial<VersionOptions>): Promise<void>;
  /** What was done to it, the last first; also to one that was removed. */
  history(id: string, options?: PageOptions): Promise<Page<HistoryEntry>>;
}

/** What a collection works with. */
export interface CollectionOptions extends ScanOptions {
  readonly write: Write;
}

/** Gives the collection of a kind. */
export function createCollection<Kind extends RecordKind>(
  kind: Kind,
  options: CollectionOptions,
): Collection<Kind> {
  const { storage, write } = options;
  const set = async (draft: Draft, record: object, action: RegistryAction): Promise<CatalogRecords[Kind]> => {
    // What is read with an agent may come back with it.
    const { availableTools: _, ...rest } = record as { readonly availableTools?: unknown };
    const read = readRecord[kind](kind === 'agent' ? rest : record, `the ${kindNames[kind]}`);
    const boundAgents = 'boundAgents' in read ? read.boundAgents : undefined;
    const written = await setRecord(draft, kind, {
      ...options,
      record: asAuthored(unbound(read), await draft.get(kind, read.id)),
      action,
    });
    if (boundAgents) {
      await bindTool(draft, read.id, { from: await agentsUsing(storage, 'tool', read.id), to: boundAgents });
    }
    return written;
  };
  const change = async (
    id: string,
    { version, action, ...given }: WriteOptions & {
      readonly version?: number | undefined;
      readonly action: RegistryAction;
    },
    edit: (current: CatalogRecords[Kind]) => object,
  ): Promise<CatalogRecords[Kind]> => {
    const written = await write({ ...given, action, kind, id }, async (draft) => {
      const current = await requireCurrent(draft, { ...options, kind, id, version });
      const next = edit(current);
      if ('id' in next && next.id !== undefined && next.id !== id) throw otherId(kind, id);
      return await set(draft, { ...next, id }, action);
    });
    return await withBound(options, kind, written);
  };
  return {
    async register(input, given = {}) {
      const { id = newId(kind) } = input;
      const written = await write({ ...given, action: 'register', kind, id }, async (draft) => {
        if (isGiven(options, kind, id) || await draft.get(kind, id)) throw taken(kind, id);
        return await set(draft, { ...input, id }, 'register');
      });
      return await withBound(options, kind, written);
    },
    async get(id) {
      const stored = (await storage.get(recordKey(kind, id)))?.value as CatalogRecords[Kind] | undefined; // written by the registry alone
      const given = kind === 'tool' ? options.composed.get(id) as CatalogRecords[Kind] | undefined : undefined; // safe: tools only
      const record = given ?? stored;
      if (!record) throw notFound(kind);
      return await describe(options, kind, record);
    },
    async list(query = {}) {
      const { items, ...page } = await listRecords(options, kind, query);
      return { items: await Promise.all(items.map((item) => withBound(options, kind, item))), ...page };
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
        const current = await requireCurrent(draft, { ...options, kind, id, version });
        await requireUnbound(options, kind, current);
        await draft.remove(kind, id);
      });
    },
    async history(id, page = {}) {
      const current = await storage.get(recordKey(kind, id));
      const last = current
        ? (current.value as CatalogRecords[Kind]).revision // written by the registry alone
        : Number((await storage.get(removedKey(kind, id)))?.value ?? 0);
      if (last === 0) throw notFound(kind);
      return await readHistory(storage, { ...page, kind, id, last, limit: limitOf(page) });
    },
  };
}

async function withBound<Kind extends RecordKind>(
  { storage }: ScanOptions,
  kind: Kind,
  record: CatalogRecords[Kind],
): Promise<CatalogRecords[Kind]> {
  if (kind !== 'tool') return record;
  return { ...record, boundAgents: await agentsUsing(storage, kind, record.id) };
}

async function describe<Kind extends RecordKind>(
  options: ScanOptions,
  kind: Kind,
  record: CatalogRecords[Kind],
): Promise<FoundRecords[Kind]> {
  const found = 'entryTools' in record
    ? { ...record, availableTools: await availableTools(options, record) }
    : await withBound(options, kind, record);
  return found as FoundRecords[Kind]; // safe: an agent has its tools, any other record is as it is
}

async function requireCurrent<Kind extends RecordKind>(
  draft: Draft,
  { composed, kind, id, version }: ScanOptions & {
    readonly kind: Kind;
    readonly id: string;
    readonly version: number | undefined;
  },
): Promise<CatalogRecords[Kind]> {
  const current = await draft.get(kind, id);
  if (!current) throw isGiven({ composed }, kind, id) ? givenAsCode(id) : notFound(kind);
  requireRevision(current, { kind, id, ifRevision: version });
  return current;
}

async function requireUnbound(
  { storage }: ScanOptions,
  kind: RecordKind,
  record: CatalogRecords[RecordKind],
): Promise<void> {
  const boundAgents = kind === 'agent' ? [] : await agentsUsing(storage, kind, record.id);
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
  return new PinnaceError('invalid_argument', `Cannot change the id of ${kindNames[kind]} "${id}": register another`);
}

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
