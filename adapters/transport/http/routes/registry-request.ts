/** Reads requests to the registry: tenant, version, query; and shows records to their callers. */

import type { Context } from 'hono';
import { PinnaceError } from '../../../../src/base/errors.ts';
import type { Principal } from '../../../../src/base/principal.ts';
import { RegistryQuery } from '../../../../src/registry/list.ts';
import { type Access, ownerOf } from '../../../../src/registry/owner.ts';
import type { WriteOptions } from '../../../../src/registry/write.ts';
import type { SignedEnv } from '../env.ts';

/** Returns the caller, and the tenant that a caller of the deployment names. @throws PinnaceError `forbidden` for another's tenant. */
export function accessOf(c: Context<SignedEnv>): Access & { readonly principal: Principal } {
  const access = { principal: c.var.principal, tenant: c.req.query('tenant') };
  ownerOf(access); // rejects a foreign tenant before anything is read
  return access;
}

/** Returns the author of a write, and its trace. */
export function writeOf(c: Context<SignedEnv>): WriteOptions {
  return { ...accessOf(c), traceId: c.var.trace.traceId };
}

/** Returns a record as the caller sees it: `shared` by the deployment or not, and `readOnly` where the caller may not write it. */
export function viewOf<T extends { readonly tenant?: string | undefined }>(
  record: T,
  access: Access,
): T & { readonly shared: boolean; readonly readOnly?: true } {
  const shared = record.tenant === undefined;
  return { ...record, shared, ...(shared && ownerOf(access) !== undefined && { readOnly: true as const }) };
}

/** Returns the header with a record's version. */
export function etagOf({ revision }: { readonly revision: number }): { readonly etag: string } {
  return { etag: `"${revision}"` };
}

/** Returns the revision in `If-Match`; `undefined` without the header. @throws PinnaceError `invalid_argument`. */
export function versionOf(c: Context): number | undefined {
  const given = c.req.header('if-match');
  if (given === undefined) return undefined;
  const revision = /^"(\d{1,15})"$/.exec(given)?.[1];
  if (revision !== undefined) return Number(revision);
  throw new PinnaceError(
    'invalid_argument',
    'Cannot read "If-Match": send the ETag of the record, like "3" in quotes',
    { details: { reason: 'invalid_if_match' } },
  );
}

/** Returns the revision in `If-Match`. @throws PinnaceError as `versionOf`, and `precondition_required` without the header. */
export function requireVersion(c: Context): number {
  const version = versionOf(c);
  if (version !== undefined) return version;
  throw new PinnaceError('precondition_required', 'Cannot change a record unseen: send its ETag as "If-Match"');
}

/** Returns the query of a list. Tags are separated by commas, or repeated. */
export function listQueryOf(c: Context): RegistryQuery {
  const { tags: _, tenant: __, limit, ...rest } = c.req.query();
  if (Object.keys(rest).some((name) => !Object.hasOwn(RegistryQuery.entries, name))) throw unknownField();
  const tags = c.req.queries('tags')?.flatMap((tag) => tag.split(',')).filter((tag) => tag !== '') ?? [];
  return {
    ...rest as RegistryQuery, // the registry parses it
    ...(tags.length > 0 && { tags }),
    ...(limit !== undefined && { limit: Number(limit) }),
  };
}

/** Errors never repeat what a caller sends, so the unknown field is not named. */
function unknownField(): PinnaceError {
  const known = Object.keys(RegistryQuery.entries).join(', ');
  return new PinnaceError('invalid_argument', `Cannot read the query: it may have ${known}`, {
    details: { reason: 'unknown_query_field' },
  });
}

/** Returns a boolean of the query; false when absent. @throws PinnaceError `invalid_argument`. */
export function flagOf(c: Context, name: string): boolean {
  const given = c.req.query(name) ?? 'false';
  if (given === 'true' || given === 'false') return given === 'true';
  throw new PinnaceError('invalid_argument', `Cannot read "${name}": it is "true" or "false"`, {
    details: { reason: 'invalid_flag' },
  });
}
