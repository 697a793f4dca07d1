/** One write to the registry in the making: what it has read, and what it will change, all in one commit. */

import { PinnaceError } from '../base/errors.ts';
import { canonicalJson } from '../base/json.ts';
import { commitOwn } from '../log/commits.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import type { CatalogRecords, RecordKind } from './record-kinds.ts';
import { type Author, differencesOf, type RegistryAction, type StoredEntry } from './history.ts';
import { headKey, historyKey, historyPart, type Owner, recordKey, removedKey, useKey } from './owner.ts';
import { findRecord, type Use, usesOf } from './scan.ts';

export interface Changed extends Use {
  readonly action: RegistryAction;
  readonly revision: number;
  /** How many of its fields differ. */
  readonly differences: number;
}

/** A write in the making. It reads what it has itself changed. */
export interface Draft {
  readonly owner: Owner;
  get<Kind extends RecordKind>(kind: Kind, id: string): Promise<CatalogRecords[Kind] | undefined>;
  /** A record of the owner, else the shared one: what records of the owner may name. */
  find<Kind extends RecordKind>(kind: Kind, id: string): Promise<CatalogRecords[Kind] | undefined>;
  /** Sets a record and its bindings, and returns it with its next revision; an equal record stays unchanged. */
  put<Kind extends RecordKind>(
    kind: Kind,
    record: CatalogRecords[Kind],
    action: RegistryAction,
  ): Promise<CatalogRecords[Kind]>;
  remove(kind: RecordKind, id: string): Promise<void>;
  changes(): readonly Change[];
  changed(): readonly Changed[];
}

export interface DraftOptions {
  readonly storage: Storage;
  readonly owner: Owner;
  readonly by: Author;
  readonly now: number;
}

type AnyRecord = CatalogRecords[RecordKind];

interface Touched extends Use {
  readonly before: AnyRecord | undefined;
  after: AnyRecord | undefined;
  /** The revision that the record has now or had at its end. */
  revision: number;
  action: RegistryAction | undefined;
}

export function createDraft({ storage, owner, by, now }: DraftOptions): Draft {
  const touched = new Map<string, Touched>();
  const uses = new Map<string, Change>();
  const touch = async (kind: RecordKind, id: string): Promise<Touched> => {
    const name = `${kind} ${id}`;
    const known = touched.get(name);
    if (known) return known;
    const before = (await storage.get(recordKey({ kind, owner }, id)))?.value as AnyRecord | undefined; // written by this module alone
    const revision = before?.revision ?? Number((await storage.get(removedKey({ kind, owner }, id)))?.value ?? 0);
    const fresh = { kind, id, before, after: before, revision, action: undefined };
    const row = touched.get(name) ?? fresh; // another read of the same record may have been faster
    touched.set(name, row);
    return row;
  };
  const bind = (agentId: string, from: readonly Use[], to: readonly Use[]): void => {
    for (const use of without(from, to)) setUse(uses, use, { owner, agentId, value: undefined });
    for (const use of without(to, from)) setUse(uses, use, { owner, agentId, value: true });
  };
  const get: Draft['get'] = async <Kind extends RecordKind>(kind: Kind, id: string) =>
    (await touch(kind, id)).after as CatalogRecords[Kind] | undefined; // safe: stored under its kind
  return {
    owner,
    get,
    async find(kind, id) {
      const own = await get(kind, id);
      return own || owner === undefined ? own : await findRecord(storage, kind, { owner: undefined, id });
    },
    async put(kind, record, action) {
      const row = await touch(kind, record.id);
      const next = stamp(record, row, now);
      if (row.after && isSame(row.after, next)) return row.after as typeof record; // safe: stored under its kind
      if (kind === 'agent') bind(record.id, usesOfRecord(kind, row.after), usesOfRecord(kind, next));
      row.after = next;
      row.action ??= action;
      return next as typeof record; // safe: the record with other numbers
    },
    async remove(kind, id) {
      const row = await touch(kind, id);
      bind(id, usesOfRecord(kind, row.after), []);
      row.after = undefined;
      row.action = 'remove';
    },
    changes: () => [...changesOf(touched.values(), { owner, by, now }), ...uses.values()],
    changed: () =>
      altered(touched.values()).map(({ kind, id, action = 'update', ...row }) => ({
        kind,
        id,
        action,
        revision: row.revision + 1,
        differences: differencesOf(bare(row.before), bare(row.after)).length,
      })),
  };
}

/**
 * Makes a draft and commits it. A concurrent write restarts it: everything that a draft reads is of one moment.
 * @throws PinnaceError whatever `work` throws, `invalid_argument` with the reason `too_many_bindings` for more than fits into one
 * commit, `unavailable` when others write all the time.
 */
export async function commitDraft<T>(
  options: DraftOptions,
  work: (draft: Draft) => Promise<T>,
): Promise<{ readonly result: T; readonly changed: readonly Changed[] }> {
  for (let tries = 0; tries < maxTries; tries++) {
    const head = await options.storage.get(headKey);
    const draft = createDraft(options);
    const result = await work(draft);
    const changes = draft.changes();
    if (changes.length === 0) return { result, changed: [] };
    if (changes.length > mostChanges) throw tooMany();
    const count = { key: headKey, value: Number(head?.value ?? 0) + 1, ifVersion: head?.version ?? null };
    const written = () => writtenBefore(options.storage, changes);
    if ((await commitOwn(options.storage, [count, ...changes], { written })).ok) {
      return { result, changed: draft.changed() };
    }
  }
  throw new PinnaceError('unavailable', 'Cannot write to the registry: too many write at once; try again', {
    details: { reason: 'registry_busy' },
  });
}

/** The version of these changes, when the storage has them already: their history carries the id of this very commit. */
async function writtenBefore(storage: Storage, changes: readonly Change[]): Promise<string | undefined> {
  const own = changes.find(({ key }) => key[1] === historyPart);
  const found = own && await storage.get(own.key);
  return found && canonicalJson(found.value) === canonicalJson(own.value) ? found.version : undefined;
}

const maxTries = 100;
/** A commit takes 100, the head's count among them. */
export const mostChanges = 99;

function stamp(record: AnyRecord, { before, after, revision }: Touched, now: number): AnyRecord {
  const next = { ...record, revision: revision + 1 };
  if (!('entryTools' in next)) return next;
  const current = after ?? before;
  const updatedAt = new Date(now).toISOString();
  return { ...next, createdAt: current && 'createdAt' in current ? current.createdAt : updatedAt, updatedAt };
}

function isSame(a: AnyRecord, b: AnyRecord): boolean {
  return canonicalJson(bare(a)) === canonicalJson(bare(b));
}

/** The record without what every write changes. */
function bare(record: AnyRecord | undefined): unknown {
  return record && { ...record, revision: undefined, updatedAt: undefined, createdAt: undefined };
}

function altered(rows: Iterable<Touched>): readonly Touched[] {
  return [...rows].filter(({ before, after }) => before !== after);
}

function changesOf(rows: Iterable<Touched>, { owner, by, now }: Omit<DraftOptions, 'storage'>): readonly Change[] {
  const commit = crypto.randomUUID();
  return altered(rows).flatMap(({ kind, id, before, after, revision, action = 'update' }) => {
    const next = revision + 1;
    const entry: StoredEntry = {
      commit,
      revision: next,
      at: new Date(now).toISOString(),
      by,
      action,
      changes: differencesOf(bare(before), bare(after)),
    };
    return [
      { key: recordKey({ kind, owner }, id), value: after },
      ...(after ? [] : [{ key: removedKey({ kind, owner }, id), value: next }]),
      { key: historyKey({ kind, owner }, id, next), value: entry },
    ];
  });
}

function usesOfRecord(kind: RecordKind, record: AnyRecord | undefined): readonly Use[] {
  return kind === 'agent' && record && 'entryTools' in record ? usesOf(record) : [];
}

function without(uses: readonly Use[], others: readonly Use[]): readonly Use[] {
  return uses.filter(({ kind, id }) => !others.some((other) => other.kind === kind && other.id === id));
}

/** The last word on a binding counts: a draft may take one away and set it again. */
function setUse(
  uses: Map<string, Change>,
  { kind, id }: Use,
  { owner, agentId, value }: { readonly owner: Owner; readonly agentId: string; readonly value: true | undefined },
): void {
  uses.set(JSON.stringify([kind, id, agentId]), { key: useKey({ kind, owner }, id, agentId), value });
}

/** The error for a write with more bindings than fit into one commit. */
export function tooMany(): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    'Cannot write so many bindings at once: name fewer tools or agents, or tools by a prefix with "*"',
    { details: { reason: 'too_many_bindings' } },
  );
}
