/** The storage of an endpoint on Node that names none: PostgreSQL. */

import { PinnaceError } from '../../src/base/errors.ts';
import type { ClosableStorage, Watchable } from '../../src/contracts/storage.ts';
import { postgresStorage } from '../storage/postgres.ts';

/** How the client of Postgres.js is made. */
type Connect = NonNullable<Parameters<typeof postgresStorage>[0]['connect']>;

/**
 * Opens the storage at an address.
 *
 * @throws PinnaceError `invalid_argument` without an address (`no_database`) or without the package `postgres` (`package_missing`).
 */
export async function openPostgres(url: string | undefined, table?: string): Promise<ClosableStorage & Watchable> {
  if (!url) {
    throw new PinnaceError(
      'invalid_argument',
      'Cannot open the storage: set DATABASE_URL to the address of a PostgreSQL database, or pass "storage"',
      { details: { reason: 'no_database' } },
    );
  }
  const postgres = await loadPostgres();
  const primary = hasManyHosts(url) && { target_session_attrs: 'primary' };
  return postgresStorage({
    connect: (options) => postgres(url, { max: 10, ...primary, ...options }),
    ...(table !== undefined && { table }),
  });
}

/** Whether the address names several servers, and not which of them to take: then the one that takes writes. */
function hasManyHosts(url: string): boolean {
  const [, hosts = ''] = /^[a-z]+:\/\/(?:[^/?]*@)?([^/?]*)/.exec(url) ?? [];
  return hosts.includes(',') && !url.includes('target_session_attrs=');
}

async function loadPostgres(): Promise<(url: string, options: object) => ReturnType<Connect>> {
  try {
    return (await import('postgres')).default;
  } catch (cause) {
    throw new PinnaceError('invalid_argument', 'Cannot open the storage: run "npm install postgres"', {
      cause,
      details: { reason: 'package_missing' },
    });
  }
}
