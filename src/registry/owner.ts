/** Whose records there are: those of each tenant, and those that the deployment shares with all. */

import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import type { Principal } from '../base/principal.ts';
import type { RecordKind } from './record-kinds.ts';

/** A tenant, or `undefined` for the deployment, whose records are shared. */
export type Owner = string | undefined;

export interface Access {
  /** The verified caller; without one, the code that composes the registry. */
  readonly principal?: Principal | undefined;
  /** Whose records instead of the shared ones: for the deployment alone. */
  readonly tenant?: string | undefined;
}

/**
 * Returns whose records the caller writes, and reads before the shared ones: a tenant its own, the deployment those that are shared
 * or those of the tenant that it names.
 * @throws PinnaceError `forbidden` for a tenant that names another.
 */
export function ownerOf({ principal, tenant }: Access): Owner {
  if (!principal || principal.deployment === true) return tenant;
  if (tenant === undefined || tenant === principal.tenant) return principal.tenant;
  throw new PinnaceError(
    'forbidden',
    "Cannot use another tenant's records: only a principal of the deployment may name a tenant",
    { details: { reason: 'foreign_tenant' } },
  );
}

/** What of a record decides who may see it. */
interface Owned {
  readonly tenant?: string | undefined;
  readonly visibility?: string;
}

/** Whether the caller may read the record: its own, and of the shared ones those that are meant for callers over HTTP. */
export function mayRead({ tenant, visibility }: Owned, { principal }: Access): boolean {
  if (tenant !== undefined || principal?.via !== 'http' || principal.deployment === true) return true;
  return visibility !== 'internal' && visibility !== 'hidden';
}

/** Returns the record as its owner's. @throws PinnaceError `invalid_argument` when the record names another tenant. */
export function ownedBy<T extends Owned>(record: T, owner: Owner): T {
  const { tenant, ...rest } = record;
  if (tenant !== undefined && tenant !== owner) {
    throw new PinnaceError(
      'invalid_argument',
      'Cannot write the record: its "tenant" is another than the one that it is written for; leave "tenant" out',
      { details: { reason: 'foreign_tenant' } },
    );
  }
  return { ...rest, ...(owner !== undefined && { tenant: owner }) } as T; // safe: the field is optional
}

/** The error for a tenant's record whose id a shared record has: agents would not know which of both is meant. */
export function takenByShared(kindName: string, id: string): PinnaceError {
  return new PinnaceError(
    'conflict',
    `Cannot register ${kindName} "${id}": a shared record has this id; choose another`,
    { retryable: false, details: { reason: 'id_taken_by_shared' } },
  );
}

export interface RecordScope {
  readonly kind: RecordKind;
  readonly owner: Owner;
}

/** Counted up by every write: what a write has read is still so when the count is unchanged. */
export const headKey: Key = ['registry', 'head'];

/** The record itself; without an id, the prefix of all records of the kind and the owner. */
export function recordKey(place: RecordScope, ...id: readonly string[]): Key {
  return [...prefixOf('record', place), ...id];
}

/** The last revision of a record that was removed, so that none is used again. */
export function removedKey(place: RecordScope, id: string): Key {
  return [...prefixOf('removed', place), id];
}

/** The second part of the keys of the history. */
export const historyPart = 'history';

/** One change of a record, by the revision that it made; without a revision, the prefix of all. */
export function historyKey(place: RecordScope, id: string, ...revision: readonly number[]): Key {
  return [...prefixOf(historyPart, place), id, ...revision];
}

/** That an agent of the owner names a record; without an agent, the prefix of all that do. */
export function useKey(place: RecordScope, id: string, ...agentId: readonly string[]): Key {
  return [...prefixOf('use', place), id, ...agentId];
}

/** No kind is called `@`, so no prefix of a kind holds what is a tenant's. */
function prefixOf(
  part: 'record' | 'removed' | typeof historyPart | 'use',
  { kind, owner }: RecordScope,
): readonly string[] {
  return owner === undefined ? ['registry', part, kind] : ['registry', part, '@', owner, kind];
}
