/** Finds the record that a caller may write, and says why there is none. */

import { PinnaceError } from '../base/errors.ts';
import type { Storage } from '../contracts/storage.ts';
import { type CatalogRecords, kindNames, type RecordKind } from './record-kinds.ts';
import { sharedRecord } from '../contracts/shared-record.ts';
import type { Draft } from './draft.ts';
import type { RegistryAction } from './history.ts';
import { recordKey, removedKey } from './layout.ts';
import { type Access, mayRead, ownerOf, type RecordScope } from './owner.ts';
import { isGiven } from './rules.ts';
import { findRecord, type ScanOptions } from './scan.ts';
import { requireRevision } from './set-record.ts';

/** Returns the record of the draft's owner. @throws PinnaceError `not_found`, `forbidden` for a shared one, `conflict` for another revision. */
export async function requireCurrent<Kind extends RecordKind>(
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
export async function refusalOf(
  { storage, access, attempt }: ScanOptions & { readonly access: Access; readonly attempt: string },
  kind: RecordKind,
  id: string,
): Promise<PinnaceError> {
  const shared = await findRecord(storage, kind, { owner: undefined, id });
  if (ownerOf(access) === undefined || !shared || !mayRead(shared, access)) return notFound(kind);
  return sharedRecord(`${attempt} ${kindNames[kind]} "${id}"`);
}

/** The revision that the record has, or had when it was removed; 0 for one that there never was. */
export async function lastRevision(storage: Storage, place: RecordScope, id: string): Promise<number> {
  const current = await storage.get(recordKey(place, id));
  if (current) return (current.value as CatalogRecords[RecordKind]).revision; // written by the registry alone
  return Number((await storage.get(removedKey(place, id)))?.value ?? 0);
}

/** The error for an id that names nothing for the caller. */
export function notFound(kind: RecordKind): PinnaceError {
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
