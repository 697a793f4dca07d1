/** Whose records there are: those of each tenant, and those that the deployment shares with all. */

import { PinnaceError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { RecordKind } from './record-kinds.ts';

/** A tenant, or `undefined` for the deployment, whose records are shared. */
export type Owner = string | undefined;

/** The requester of records. */
export interface Access {
  /** The verified caller; without one, the code that composes the registry. */
  readonly principal?: Principal | undefined;
  /** Whose records instead of the shared ones: for the deployment alone. */
  readonly tenant?: string | undefined;
}

/**
 * Returns whose records the caller writes, and reads before the shared ones: a tenant its own, the deployment those that are shared
 * or those of the tenant that it names.
 *
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
export interface Owned {
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

/** A kind of record and whose it is. */
export interface RecordScope {
  readonly kind: RecordKind;
  readonly owner: Owner;
}
