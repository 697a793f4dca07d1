/** State in PostgreSQL, for instances that share more than one Deno KV holds. It knows Postgres.js by its type alone. */

import { Buffer } from 'node:buffer';
import type { ISql, PendingQuery, Sql, TransactionSql } from 'postgres';
import { PinnaceError } from '../../src/base/errors.ts';
import { encodeKey, type Key } from '../../src/base/key.ts';
import type { ClosableStorage, CommitResult, Entry, Watchable } from '../../src/contracts/storage.ts';
import { invalid, type ListBounds, listBounds, prepareChanges, type PreparedChange } from './changes.ts';
import { createConnection } from './connection.ts';
import { createNews } from './news.ts';
import { storageBlocked, storageFull } from './unavailable.ts';
import { decodeValue, encodeValue } from './value-codec.ts';

/** Options of {@link postgresStorage}. */
export interface PostgresStorageOptions {
  /** A client of the package `postgres`. It is the storage's from now on, and ends with it. */
  readonly sql: Sql;
  /** The table, made when it is first used. Two tables never see each other. Without it, `pinnace`. */
  readonly table?: string;
  readonly now?: () => number;
}

/** What stands in the table. */
interface Row {
  /** The key as JSON. */
  readonly name: string;
  readonly value: Uint8Array;
  readonly version: string;
}

/** How many expired rows a commit removes at most: as many as it has changes at most. */
const purgeLimit = 100;
/** The wait before a new connection is at most 3 to the power of this plus 1, in hundredths of a second. */
const mostRetries = 3;
/** How long a close waits for what is under way, and then for connections to end. */
const longestCloseMs = 2_000;

/**
 * Keeps state in a table of PostgreSQL 12 or newer. A commit is one transaction of one round trip; commits that share a key take
 * turns, others do not wait for each other. News of commits travel by `NOTIFY`, so every instance hears of them at once.
 *
 * Values are serialised by `node:v8`, up to 4 MiB each; beyond that a commit is `invalid_argument` with the reason
 * `value_too_large`. Through a pooler that lends connections per transaction, nothing can be watched.
 *
 * @throws PinnaceError `invalid_argument` with the reason `invalid_table` for a name that would need quotes.
 * @example
 * const storage = postgresStorage({ sql: postgres(Deno.env.get('DATABASE_URL')) });
 */
export function postgresStorage(
  { sql, table = 'pinnace', now = Date.now }: PostgresStorageOptions,
): ClosableStorage & Watchable {
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(table)) {
    throw invalid('invalid_table', `Cannot use the table "${table}": take up to 48 of a-z, 0-9 and _`);
  }
  const connection = createConnection({ open: () => open(sql, table), shut: () => undefined });
  const news = createNews();
  prepareForOutages(sql);
  let listening: Promise<unknown> | undefined;

  async function use<Result>(call: () => Promise<Result>): Promise<Result> {
    try {
      return await connection.use(() => {
        retrySoon(sql);
        return call();
      });
    } catch (error) {
      throw explain(error);
    }
  }

  return {
    async get(key) {
      const bytes = encodeKey(key);
      const [row] = await use(() =>
        sql<Row[]>`select name, value, version from ${sql(table)} where key = ${bytes} and ${lives(sql, now())}`
      );
      return row && toEntry(row);
    },
    async list(options) {
      const bounds = listBounds(options);
      return await use(() => rowsWithin(sql, { table, bounds, limit: options.limit, time: now() }));
    },
    async commit(changes) {
      const time = now();
      const draft = draftOf(prepareChanges(changes, time));
      return await use(() => write(sql, draft, { table, time }));
    },
    watch(keys, { signal, onNews }) {
      news.watch(keys.map((key) => String(hashOf(encodeKey(key)))), { signal, onNews });
      // Before it listened, and while the connection was lost, anything may have come.
      listening ??= use(() => sql.listen(table, (text) => news.tell(text.split(' ')), () => news.tellAll()))
        .catch(() => void (listening = undefined));
    },
    async close() {
      // A call that was under way when the server went away may never be answered.
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, longestCloseMs);
      await Promise.race([connection.close(), late]);
      clearTimeout(timer);
      await sql.end({ timeout: longestCloseMs / 1000 });
    },
  };
}

/** What the client reads from its options each time, beside what its types say. */
interface LiveOptions {
  fetch_types: boolean;
  readonly shared?: { retries: number };
}

/** With its types fetched, a connection that breaks in that moment rejects where nobody listens, which ends the process. */
function prepareForOutages(sql: Sql): void {
  (sql.options as unknown as LiveOptions).fetch_types = false; // safe: the client is this storage's alone
}

/** The client waits up to 20 s after many failures before it connects again: capped, that is less than a second. */
function retrySoon(sql: Sql): void {
  const { shared } = sql.options as unknown as LiveOptions; // safe: absent in a version that counts otherwise
  if (shared && shared.retries > mostRetries) shared.retries = mostRetries;
}

/**
 * Runs statements as one transaction of one round trip. The client rolls back what has failed, also when the connection is gone: that
 * write to a closed socket throws where nothing catches it, and ends the process. So only errors of statements reach it; of a lost
 * connection it hears by itself, and rejects.
 */
async function transact(
  sql: Sql,
  statements: (tx: TransactionSql) => readonly PendingQuery<Row[]>[],
): Promise<readonly (readonly unknown[])[]> {
  return await sql.begin(async (tx) => {
    try {
      return await Promise.all(statements(tx));
    } catch (error) {
      if (error instanceof Error && 'severity' in error && error.severity === 'ERROR') throw error;
      return await new Promise<never>(() => undefined);
    }
  });
}

/** Makes the table. Instances that begin at once take turns: two that make the same one would fail. */
async function open(sql: Sql, table: string): Promise<Sql> {
  const name = sql(table);
  await transact(sql, (tx) => [
    tx`select pg_advisory_xact_lock(${hashOf(new TextEncoder().encode(table))}::int)`,
    tx`set local client_min_messages = warning`, // that it is there already is no news
    tx`create table if not exists ${name} (
      key bytea primary key, name text not null, value bytea not null, version text not null, expires_at float8)`,
    tx`create index if not exists ${tx(`${table}_expiry`)} on ${name} (expires_at) where expires_at is not null`,
  ]);
  return sql;
}

function lives(sql: ISql, time: number): ReturnType<ISql> {
  return sql`(expires_at is null or expires_at > ${time})`;
}

async function rowsWithin(
  sql: Sql,
  { table, bounds: { lower, upper }, limit, time }: {
    readonly table: string;
    readonly bounds: ListBounds;
    readonly limit: number;
    readonly time: number;
  },
): Promise<Entry[]> {
  const rows = await sql<Row[]>`
    select name, value, version from ${sql(table)}
    where key >= ${lower} and key < ${upper} and ${lives(sql, time)} order by key limit ${limit}`;
  return rows.map(toEntry);
}

function toEntry({ name, value, version }: Row): Entry {
  return { key: JSON.parse(name) as Key, value: decodeValue(value), version }; // safe: only `draftOf` writes names
}

/** A commit as the database takes it. */
type Draft = ReturnType<typeof draftOf>;

function draftOf(changes: readonly PreparedChange[]) {
  const rows = changes.map(({ bytes, key, value, expiresAt, ifVersion }, at) => ({
    at,
    key: base64(bytes),
    name: JSON.stringify(key),
    value: value === undefined ? null : base64(encodeValue(value)),
    expires_at: expiresAt,
    checked: ifVersion !== undefined,
    expected: ifVersion,
  }));
  return {
    changes,
    input: JSON.stringify(rows),
    hashes: [...new Set(changes.map(({ bytes }) => hashOf(bytes)))].toSorted((a, b) => a - b), // always in this order: no deadlock
    expires: changes.some(({ expiresAt }) => expiresAt !== undefined),
  };
}

/**
 * Compares and writes. The locks come in a statement of their own: a statement sees what was committed before it began, so one
 * that also waited would compare with what has been replaced meanwhile.
 */
async function write(
  sql: Sql,
  { changes, input, hashes, expires }: Draft,
  { table, time }: { readonly table: string; readonly time: number },
): Promise<CommitResult> {
  const version = crypto.randomUUID();
  const [name, space] = [sql(table), hashOf(new TextEncoder().encode(table))];
  const [, answers] = await transact(sql, (tx) => [
    tx`select pg_advisory_xact_lock(${space}::int, hash) from unnest(string_to_array(${
      hashes.join(' ')
    }, ' ')::int[]) hash`,
    tx`
      with input as (
        select at, decode(key, 'base64') as key, name, decode(value, 'base64') as value, expires_at, checked, expected
        from json_to_recordset(${input}::text::json)
          as i(at int, key text, name text, value text, expires_at float8, checked bool, expected text)
      ), conflicts as (
        select at from input left join ${name} as e
          on e.key = input.key and (e.expires_at is null or e.expires_at > ${time})
        where checked and expected is distinct from e.version
      ), written as (
        insert into ${name} (key, name, value, version, expires_at)
        select key, name, value, ${version}, expires_at from input
        where value is not null and not exists (select from conflicts)
        on conflict (key) do update
        set value = excluded.value, version = excluded.version, expires_at = excluded.expires_at
      ), removed as (
        delete from ${name}
        where not exists (select from conflicts) and key in (select key from input where value is null)
      )
      select array_to_string(array(select at from conflicts), ' ') as conflicts,
        case when not exists (select from conflicts) then pg_notify(${table}, ${hashes.join(' ')}) end`,
    ...expires ? [purge(tx, table, time)] : [],
  ]);
  const answer = answers?.[0] as { readonly conflicts: string } | undefined; // as selected above
  const conflicts = new Set(answer?.conflicts ? answer.conflicts.split(' ').map(Number) : []);
  if (conflicts.size === 0) return { ok: true, version };
  return { ok: false, conflicts: changes.filter((_, at) => conflicts.has(at)).map(({ key }) => key) };
}

/** Removes some of what has expired: every commit that adds such rows clears as many as it may add. */
function purge(sql: ISql, table: string, time: number): PendingQuery<Row[]> {
  return sql`delete from ${sql(table)} where expires_at <= ${time} and key in (
    select key from ${sql(table)} where expires_at <= ${time} limit ${purgeLimit} for update skip locked)`;
}

/** Where keys meet to be locked and told of: two that share a hash wait, or hear, once too often (FNV-1a, 32 bits). */
function hashOf(bytes: Uint8Array): number {
  return bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5 | 0);
}

function base64(bytes: Uint8Array<ArrayBuffer>): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Codes are those of PostgreSQL, class 53: insufficient resources. */
function explain(error: unknown): PinnaceError {
  if (error instanceof PinnaceError) return error;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === '53100') return storageFull('Cannot write to PostgreSQL: the disk is full; make room', error);
  const advice = 'check that it runs and that the client may make and change the table, then try again';
  return storageBlocked(`Cannot reach PostgreSQL: it failed; ${advice}`, { cause: error });
}
