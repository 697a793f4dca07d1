/** Sets one record, after the rules. */

import { PinnaceError } from '../base/errors.ts';
import { type CatalogInputs, type CatalogRecords, kindNames, readRecord, type RecordKind } from './record-kinds.ts';
import type { Draft } from './draft.ts';
import type { RegistryAction } from './history.ts';
import { ownedBy, takenByShared } from './owner.ts';
import { isGiven, requireFit } from './rules.ts';
import type { ScanOptions } from './scan.ts';
import type { Write, WriteOptions } from './write.ts';

/** How `put` writes. */
export interface PutOptions extends WriteOptions {
  /** The revision that the record must have now; `null`: it must not exist; absent: no matter. */
  readonly ifRevision?: number | null | undefined;
}

/**
 * Sets a record in a draft, as the draft's owner's.
 *
 * @throws PinnaceError as the rules say, `conflict` for the id of a tool that is given as code or of a shared record.
 */
export async function setRecord<Kind extends RecordKind>(
  draft: Draft,
  kind: Kind,
  { record, action, ...options }: ScanOptions & {
    readonly record: CatalogRecords[Kind];
    readonly action: RegistryAction;
  },
): Promise<CatalogRecords[Kind]> {
  if (isGiven(options, kind, record.id)) throw taken(kind, record.id);
  const { owner } = draft;
  const current = await draft.get(kind, record.id);
  if (!current && await draft.find(kind, record.id)) throw takenByShared(kindNames[kind], record.id);
  const owned = ownedBy(record, owner);
  await requireFit({ ...options, owner, current, find: (...of) => draft.find(...of) }, kind, owned);
  return await draft.put(kind, owned, action);
}

/** Sets a record as it is, in a commit of its own. */
export async function putRecord<Kind extends RecordKind>(
  { write, ...options }: ScanOptions & { readonly write: Write },
  kind: Kind,
  { record, ifRevision, ...given }: PutOptions & { readonly record: CatalogInputs[Kind] },
): Promise<CatalogRecords[Kind]> {
  const read = unbound(readRecord[kind](record, `the ${kindNames[kind]}`));
  const tenant = given.principal ? given.tenant : given.tenant ?? read.tenant; // the code that composes writes for anyone
  return await write({ ...given, tenant, action: 'update', kind, id: read.id }, async (draft) => {
    requireRevision(await draft.get(kind, read.id), { kind, id: read.id, ifRevision });
    return await setRecord(draft, kind, { ...options, record: read, action: 'update' });
  });
}

/** The agents of a tool are stored with the agents, not with the tool: its revision is not theirs. */
export function unbound<Kind extends RecordKind>(record: CatalogRecords[Kind]): CatalogRecords[Kind] {
  if (!('boundAgents' in record)) return record;
  const { boundAgents: _, ...rest } = record;
  return rest as typeof record; // safe: the field is optional
}

/** The error for an id that is not free. */
export function taken(kind: RecordKind, id: string): PinnaceError {
  return new PinnaceError('conflict', `Cannot register ${kindNames[kind]} "${id}": the id is taken`, {
    retryable: false,
    details: { reason: 'already_exists' },
  });
}

/** Refuses a write of a record that has changed since the caller read it. @throws PinnaceError `conflict` with the latest record. */
export function requireRevision(
  current: CatalogRecords[RecordKind] | undefined,
  { kind, id, ifRevision }: Pick<PutOptions, 'ifRevision'> & { readonly kind: RecordKind; readonly id: string },
): void {
  const revision = current?.revision ?? null;
  if (ifRevision === undefined || ifRevision === revision) return;
  const state = revision === null ? 'it does not exist' : `it has revision ${revision}`;
  throw new PinnaceError('conflict', `Cannot write ${kindNames[kind]} "${id}": ${state}; read it and decide again`, {
    status: 412,
    retryable: false,
    details: { reason: 'revision_mismatch', revision, ...(current && { latest: current }) },
  });
}
