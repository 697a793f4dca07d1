/** The rows of a storage in SQLite. Large values take several rows: the first has the key's name, version and lifetime. */

import { type Key, keyBytes } from '../../src/base/key.ts';
import type { CommitResult, Entry } from '../../src/contracts/storage.ts';
import { findConflicts, type PreparedChange } from './changes.ts';
import { decodeStructured } from './structured-codec.ts';

type SqliteValue = ArrayBuffer | string | number | null;

/** The part of `state.storage` of a Durable Object that the storage uses. */
export interface DurableObjectDatabase {
  readonly sql: {
    exec(query: string, ...bindings: unknown[]): { toArray(): Record<string, SqliteValue>[] };
  };
  transactionSync<T>(work: () => T): T;
}

export type Rows = ReturnType<typeof openRows>;

interface ListLimits {
  readonly limit: number;
  readonly time: number;
}

type Bytes = Uint8Array<ArrayBuffer>;

interface First {
  readonly key: ArrayBuffer;
  readonly name: string;
  readonly version: string;
  readonly value: ArrayBuffer;
  readonly parts: number;
}

/** Cloudflare takes rows of up to 2 MB. */
const partBytes = 1024 * 1024;
/** How many expired values a commit removes at most. */
const purgeLimit = 100;
const lives = '(expires_at is null or expires_at > ?)';

interface Table extends Pick<DurableObjectDatabase, 'sql'> {
  readonly name: string;
}

export function openRows({ sql }: DurableObjectDatabase, name: string) {
  sql.exec(`create table if not exists ${name} (
    key blob, part integer, name text, version text, expires_at real, parts integer, value blob, primary key (key, part))`);
  sql.exec(`create index if not exists ${name}_expiry on ${name} (expires_at) where expires_at is not null`);
  const table: Table = { sql, name };
  return {
    get: (key: Uint8Array<ArrayBuffer>, time: number): Entry | undefined =>
      entriesOf(table, `key = ? and ${lives}`, [key, time])[0],
    list: (lower: Uint8Array<ArrayBuffer>, upper: Uint8Array<ArrayBuffer>, { limit, time }: ListLimits): Entry[] =>
      entriesOf(table, `key >= ? and key < ? and ${lives} order by key limit ?`, [lower, upper, time, limit]),
    /** Writes all changes with their encoded values, or none. */
    write(changes: readonly PreparedChange[], values: readonly (Bytes | undefined)[], time: number): CommitResult {
      const conflicts = findConflicts(changes, ({ id }) => versionOf(table, id, time));
      if (conflicts.length > 0) return { ok: false, conflicts };
      const version = crypto.randomUUID();
      for (const [at, change] of changes.entries()) {
        if (change.keep) continue;
        sql.exec(`delete from ${name} where key = ?`, keyBytes(change.id));
        const value = values[at];
        if (value !== undefined) insert(table, change, { value, version });
      }
      if (changes.some(({ expiresAt }) => expiresAt !== undefined)) purge(table, time);
      return { ok: true, version };
    },
  };
}

function entriesOf(table: Table, where: string, bindings: readonly unknown[]): Entry[] {
  const query = `select key, name, version, value, parts from ${table.name} where part = 0 and ${where}`;
  const firsts = table.sql.exec(query, ...bindings).toArray() as unknown as First[]; // safe: only `insert` writes rows
  return firsts.map((first) => ({
    key: JSON.parse(first.name) as Key, // safe: only `insert` writes names
    value: decodeStructured(wholeOf(table, first)),
    version: first.version,
  }));
}

function wholeOf({ sql, name }: Table, { key, value, parts }: First): Bytes {
  if (parts === 1) return new Uint8Array(value);
  const rest = sql.exec(`select value from ${name} where key = ? and part > 0 order by part`, key).toArray();
  const all = [value, ...rest.map((row) => row['value'] as ArrayBuffer)]; // safe: the column is never null
  const whole = new Uint8Array(all.reduce((sum, { byteLength }) => sum + byteLength, 0));
  all.forEach((part, at) => whole.set(new Uint8Array(part), at * partBytes));
  return whole;
}

function insert(
  { sql, name }: Table,
  { id, key, expiresAt }: PreparedChange,
  { value, version }: { readonly value: Bytes; readonly version: string },
): void {
  const parts = Math.ceil(value.length / partBytes);
  for (let part = 0; part < parts; part++) {
    const bytes = value.slice(part * partBytes, (part + 1) * partBytes);
    const first = part === 0 ? [JSON.stringify(key), version, expiresAt ?? null, parts] : [null, null, null, null];
    sql.exec(`insert into ${name} values (?, ?, ?, ?, ?, ?, ?)`, keyBytes(id), part, ...first, bytes);
  }
}

function versionOf({ sql, name }: Table, id: string, time: number): string | undefined {
  const query = `select version from ${name} where key = ? and part = 0 and ${lives}`;
  return sql.exec(query, keyBytes(id), time).toArray()[0]?.['version'] as string | undefined; // safe: as selected
}

function purge({ sql, name }: Table, time: number): void {
  const expired = `select key from ${name} where expires_at <= ? limit ${purgeLimit}`;
  sql.exec(`delete from ${name} where key in (${expired})`, time);
}
