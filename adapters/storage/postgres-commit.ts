/** A commit to PostgreSQL: one call of a function in the database, which locks, compares and writes. */

import { Buffer } from 'node:buffer';
import type { Sql } from 'postgres';
import type { CommitResult } from '../../src/contracts/storage.ts';
import type { PreparedChange } from './changes.ts';
import { textHash } from './news.ts';
import { isolationCode } from './postgres-client.ts';
import { encodeValue } from './value-codec.ts';

/** How many expired rows a commit removes at most: as many as it has changes at most. */
const purgeLimit = 100;

export interface PostgresDraft {
  readonly changes: readonly PreparedChange[];
  readonly input: string;
  readonly written: ReadonlySet<number>;
  /** The hashes of all keys, and for each whether a key of it is written. */
  readonly hashes: string;
  readonly writes: string;
  readonly expires: boolean;
}

export function draftCommit(changes: readonly PreparedChange[]): PostgresDraft {
  const own = changes.map(({ id }) => textHash(id));
  const rows = changes.map(({ id, key, value, expiresAt, ifVersion, keep }, at) => ({
    at,
    key: Buffer.from(id, 'latin1').toString('base64'), // a character a byte
    name: JSON.stringify(key),
    value: value === undefined ? null : base64(encodeValue(value)),
    expires_at: expiresAt,
    kept: keep,
    checked: ifVersion !== undefined,
    expected: ifVersion,
  }));
  const hashes = [...new Set(own)].toSorted((a, b) => a - b); // always in this order: no deadlock
  const written = new Set(own.filter((_, at) => !changes[at]?.keep));
  return {
    changes,
    written,
    input: JSON.stringify(rows),
    hashes: hashes.join(' '),
    writes: hashes.map((hash) => written.has(hash)).join(' '),
    expires: changes.some(({ expiresAt }) => expiresAt !== undefined),
  };
}

/**
 * Commits with one statement, which other calls may share a round trip with. It sends no notification: one inside a commit takes a
 * lock of the whole server until the commit is on the disk and at the standby, so that all commits would wait for each other.
 */
export async function commitDraft(
  sql: Sql,
  { changes, input, hashes, writes, expires }: PostgresDraft,
  { table, time }: { readonly table: string; readonly time: number },
): Promise<CommitResult> {
  const version = crypto.randomUUID();
  const [row] = await sql<{ readonly conflicts: string }[]>`select ${sql(functionOf(table))}(${input}::text::json, ${
    spaceOf(table)
  }::int, string_to_array(${hashes}, ' ')::int[], string_to_array(${writes}, ' ')::bool[],
    ${time}::float8, ${version}, ${expires}) as conflicts`;
  if (!row?.conflicts) return { ok: true, version };
  const conflicts = new Set(row.conflicts.split(' ').map(Number));
  return { ok: false, conflicts: changes.filter((_, at) => conflicts.has(at)).map(({ key }) => key) };
}

/**
 * The statements that create what a storage needs, for one transaction. Instances that start at once take turns, because creating
 * the same table twice at once fails.
 */
export function setupOf(table: string): string {
  return `select pg_advisory_xact_lock(${spaceOf(table)});
    create table if not exists "${table}" (
      key bytea primary key, name text not null, value bytea not null, version text not null, expires_at float8);
    create index if not exists "${table}_expiry" on "${table}" (expires_at) where expires_at is not null;
    do $setup$ begin
      if to_regprocedure('"${functionOf(table)}"(json, int, int[], bool[], float8, text, bool)') is null then
        ${commitFunction(table)};
      end if;
    end $setup$`;
}

/** Other instances may call a former function, so count this up with each change of the function. */
function functionOf(table: string): string {
  return `${table}_commit_4`;
}

/**
 * A separate statement takes the locks, which commits share that only check a key. A statement reads what was committed before it started, so one that also waited would
 * compare with replaced values; in a transaction of another isolation level all statements would.
 * Rows are only found by an index. A connection keeps the plan of its first commits, and over a table that was empty then, and that the
 * server has not analyzed yet, that plan would read the whole table in each commit.
 */
function commitFunction(table: string): string {
  return `create function "${functionOf(table)}"(
      p_input json, p_space int, p_hashes int[], p_writes bool[], p_time float8, p_version text, p_expires bool) returns text
    language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $commit$
    declare differing text;
    begin
      if current_setting('transaction_isolation') <> 'read committed' then
        raise 'the storage needs the isolation level "read committed"' using errcode = '${isolationCode}';
      end if;
      perform case when writes then pg_advisory_xact_lock(p_space, hash) else pg_advisory_xact_lock_shared(p_space, hash) end
        from unnest(p_hashes, p_writes) as locks(hash, writes);
      with input as materialized (
        select at, decode(key, 'base64') as key, name, decode(value, 'base64') as value, expires_at, kept, checked, expected
        from json_to_recordset(p_input)
          as i(at int, key text, name text, value text, expires_at float8, kept bool, checked bool, expected text)
      ), conflicts as materialized (
        select at from input left join "${table}" as e
          on e.key = input.key and (e.expires_at is null or e.expires_at > p_time)
        where checked and expected is distinct from e.version
      ), written as (
        insert into "${table}" (key, name, value, version, expires_at)
        select key, name, value, p_version, expires_at from input
        where value is not null and not exists (select from conflicts)
        on conflict (key) do update
        set value = excluded.value, version = excluded.version, expires_at = excluded.expires_at
      ), removed as (
        delete from "${table}"
        where not exists (select from conflicts) and key in (select key from input where value is null and not kept)
      )
      select string_agg(at::text, ' ') into differing from conflicts;
      if differing is not null then
        return differing;
      end if;
      if p_expires then
        delete from "${table}" where expires_at <= p_time and key in (
          select key from "${table}" where expires_at <= p_time limit ${purgeLimit} for update skip locked);
      end if;
      return '';
    end $commit$`;
}

/**
 * The statement that shows that a standby has what was committed so far: a write waits for it, and the standby has all writes before it
 * then. The row has expired and no key, so no reader sees it.
 */
export function confirmationOf(table: string): string {
  return `insert into "${table}" (key, name, value, version, expires_at) values ('', '[]', '', md5(random()::text), 0)
    on conflict (key) do update set version = excluded.version`;
}

function spaceOf(table: string): number {
  return textHash(table);
}

function base64(bytes: Uint8Array<ArrayBuffer>): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
