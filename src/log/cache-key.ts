/** Keys of cached values: `agent:<id>`, `tools`, `*`; with `@<tenant>` appended, those of one tenant. */

import { PinnaceError } from '../base/errors.ts';
import type { Storage } from '../contracts/storage.ts';
import { type Bulletin, createBulletin } from './bulletin.ts';

/** A parsed key. */
export interface CacheKey {
  /** `agent`, `provider`, `mcp-server`, `tools`, `secrets` or `*`. */
  readonly kind: string;
  readonly id: string | undefined;
  readonly tenant: string | undefined;
}

/** Reads a key. Neither kinds nor ids have an `@`, so the tenant may be any text. */
export function readCacheKey(key: string): CacheKey {
  const at = key.indexOf('@');
  const [name, tenant] = at < 0 ? [key, undefined] : [key.slice(0, at), key.slice(at + 1)];
  const colon = name.indexOf(':');
  return colon < 0 ? { kind: name, id: undefined, tenant } : {
    kind: name.slice(0, colon),
    id: name.slice(colon + 1),
    tenant,
  };
}

/** The forms of keys, for errors and descriptions. */
export const cacheKeyForms =
  'agent, agent:<id>, provider, provider:<id>, mcp-server, mcp-server:<id>, tools, secrets, *; each may end in @<tenant>';

const kindsWithIds = new Set(['agent', 'provider', 'mcp-server', 'tool', 'secret']);
const kindsAlone = new Set(['*', 'agent', 'provider', 'mcp-server', 'tool', 'tools', 'secret', 'secrets']);

/** @throws PinnaceError `invalid_argument` (`unknown_invalidation_key`) for a key of no cached value. */
export function requireCacheKeys(keys: readonly string[]): void {
  const isKnown = (key: string): boolean => {
    const { kind, id, tenant } = readCacheKey(key);
    if (tenant === '') return false;
    return id === undefined ? kindsAlone.has(kind) : id !== '' && kindsWithIds.has(kind);
  };
  if (keys.every(isKnown)) return;
  throw new PinnaceError('invalid_argument', `Cannot invalidate: a key is unknown, use ${cacheKeyForms}`, {
    details: { reason: 'unknown_invalidation_key', forms: cacheKeyForms.replace(/;.*/, '').split(', ') },
  });
}

/** Adds a tenant to a key; without a tenant, returns the key as it is. */
export function withTenant(key: string, tenant: string | undefined): string {
  return tenant === undefined ? key : `${key}@${tenant}`;
}

/**
 * Limits keys to the values of one tenant.
 *
 * @throws PinnaceError `invalid_argument` for a key that names a tenant itself.
 */
export function keysOfTenant(keys: readonly string[], tenant: string): readonly string[] {
  if (keys.every((key) => !key.includes('@'))) return keys.map((key) => withTenant(key, tenant));
  throw new PinnaceError(
    'invalid_argument',
    'Cannot invalidate: leave out "@" and the tenant',
    { details: { reason: 'foreign_cache_key' } },
  );
}

/** Creates the bulletin of the keys to invalidate: `agent:<id>`, `provider:<id>`, `tools`, `secrets`, or `*`. */
export function createInvalidations(storage: Storage): Bulletin<readonly string[]> {
  return createBulletin(storage, 'invalidate');
}
