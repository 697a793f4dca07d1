/** State in PostgreSQL, for instances that share more than one Deno KV holds. It knows Postgres.js by its type alone. */

import { Buffer } from 'node:buffer';
import type { ISql, PendingQuery, Sql } from 'postgres';
import { encodeKey, type Key } from '../../src/base/key.ts';
import type { ClosableStorage, CommitResult, Entry, Watchable } from '../../src/contracts/storage.ts';
import { invalid, type ListBounds, listBounds, prepareChanges, type PreparedChange } from './changes.ts';
import { createConnection } from './connection.ts';
import { createNews } from './news.ts';
import {
  type ConnectPostgres,
  givenClient,
  openClient,
  openListener,
  type PostgresClient,
  type PostgresClients,
  transact,
} from './postgres-client.ts';
import { decodeValue, encodeValue } from './value-codec.ts';

/** Options of {@link postgresStorage}. */
export interface PostgresStorageOptions {
  /**
   * Creates a client of the package `postgres`. Apply the given options last. The storage creates one client at once, another
   * for subscriptions, and a new one after each lost connection. It ends them.
   */
  readonly connect?: ConnectPostgres;
  /**
   * A client of the package `postgres`, instead of `connect`; the storage ends it. After a lost connection it is used again.
   *
   * @deprecated Pass `connect`: Postgres.js 3.4.9 may answer a call with the answer of another one once a connection was lost.
   */
  readonly sql?: Sql;
  /** The table, made when it is first used. Two tables never see each other. Without it, `pinnace`. */
  readonly table?: string;
  readonly now?: () => number;
}

/** A row of the table. */
interface Row {
  /** The key as JSON. */
  readonly name: string;
  readonly value: Uint8Array;
  readonly version: string;
}

/** How many expired rows a commit removes at most: as many as it has changes at most. */
const purgeLimit = 100;
/** How long a close waits for what is under way, and then for connections to end. */
const longestCloseMs = 2_000;

/**
 * Keeps state in a table of PostgreSQL 12 or newer. A commit is one transaction of one round trip; commits that share a key take
 * turns, others do not wait for each other. Commits are announced by `NOTIFY`, so every instance is notified at once.
 *
 * Values are serialised by `node:v8`, up to 4 MiB each; beyond that a commit is `invalid_argument` with the reason
 * `value_too_large`. Subscriptions do not work through a pooler in transaction mode.
 *
 * @throws PinnaceError `invalid_argument` with the reason `invalid_table` for a name that would need quotes, and `invalid_client` for
 * a client without the options.
 * @example
 * const url = Deno.env.get('DATABASE_URL');
 * const storage = postgresStorage({ connect: (options) => postgres(url, { max: 10, ...options }) });
 */
export function postgresStorage(
  { connect, sql: given, table = 'pinnace', now = Date.now }: PostgresStorageOptions,
): ClosableStorage & Watchable {
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(table)) {
    throw invalid('invalid_table', `Cannot use the table "${table}": take up to 48 of a-z, 0-9 and _`);
  }
  const clients = connect ? { connect } : given ? givenClient(given) : undefined;
  if (!clients) throw invalid('invalid_client', 'Cannot open the storage: pass `connect`, which makes a client');
  const pool = createClientPool(clients, table);
  const { use } = pool;
  const news = createNews();
  let listener: Sql | undefined;
  let isClosed = false;

  return {
    checks: true,
    async get(key) {
      const bytes = encodeKey(key);
      const [row] = await use(({ sql }) =>
        sql<Row[]>`select name, value, version from ${sql(table)} where key = ${bytes} and ${lives(sql, now())}`
      );
      return row && toEntry(row);
    },
    async list(options) {
      const bounds = listBounds(options);
      return await use(({ sql }) => rowsWithin(sql, { table, bounds, limit: options.limit, time: now() }));
    },
    async commit(changes) {
      const time = now();
      const draft = draftOf(prepareChanges(changes, time));
      return await use((own) => write(own, draft, { table, time }));
    },
    watch(keys, { signal, onNews }) {
      news.watch(keys.map((key) => String(hashOf(encodeKey(key)))), { signal, onNews });
      if (listener || isClosed) return;
      listener = openListener(clients);
      // Before it listened, and while the connection was lost, anything may have come. The client listens again by itself.
      void listener.listen(table, (text) => news.emit(text.split(' ')), () => news.emitAll()).catch(() => undefined);
    },
    async close() {
      isClosed = true;
      await Promise.all([pool.close(), listener?.end({ timeout: longestCloseMs / 1000 })]);
    },
  };
}

/** Calls over the current client; one that lost a connection is replaced. */
function createClientPool(clients: PostgresClients, table: string) {
  let client = openClient(clients, () => connection.forget(client));
  const connection = createConnection<PostgresClient>({
    async open() {
      if (client.isLost) client = openClient(clients, () => connection.forget(client));
      const own = client;
      await own.run(() => makeTable(own, table));
      return own;
    },
    shut: () => undefined,
  });
  return {
    use: <Result>(call: (client: PostgresClient) => Promise<Result>): Promise<Result> =>
      connection.use((own) => {
        if (own.isLost) connection.forget(own); // it was lost in the moment in which it was ready
        return own.run(() => call(own));
      }),
    async close(): Promise<void> {
      // A call that was under way when the server went away may never be answered.
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, longestCloseMs);
      await Promise.race([connection.close(), late]);
      clearTimeout(timer);
      await client.sql.end({ timeout: longestCloseMs / 1000 });
    },
  };
}

/** Creates the table. Instances that start at once take turns, because creating the same table twice at once fails. */
async function makeTable(client: PostgresClient, table: string): Promise<void> {
  const name = client.sql(table);
  await transact(client, (tx) => [
    tx`select pg_advisory_xact_lock(${hashOf(new TextEncoder().encode(table))}::int)`,
    tx`create table if not exists ${name} (
      key bytea primary key, name text not null, value bytea not null, version text not null, expires_at float8)`,
    tx`create index if not exists ${tx(`${table}_expiry`)} on ${name} (expires_at) where expires_at is not null`,
  ]);
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
  const rows = changes.map(({ bytes, key, value, expiresAt, ifVersion, keep }, at) => ({
    at,
    key: base64(bytes),
    name: JSON.stringify(key),
    value: value === undefined ? null : base64(encodeValue(value)),
    expires_at: expiresAt,
    kept: keep,
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
 * Compares and writes. A separate statement takes the locks. A statement reads what was committed before it started, so one that
 * also waited would compare with replaced values.
 */
async function write(
  client: PostgresClient,
  { changes, input, hashes, expires }: Draft,
  { table, time }: { readonly table: string; readonly time: number },
): Promise<CommitResult> {
  const version = crypto.randomUUID();
  const [name, space] = [client.sql(table), hashOf(new TextEncoder().encode(table))];
  const [, answers] = await transact(client, (tx) => [
    tx`select pg_advisory_xact_lock(${space}::int, hash) from unnest(string_to_array(${
      hashes.join(' ')
    }, ' ')::int[]) hash`,
    tx`
      with input as (
        select at, decode(key, 'base64') as key, name, decode(value, 'base64') as value, expires_at, kept, checked, expected
        from json_to_recordset(${input}::text::json)
          as i(at int, key text, name text, value text, expires_at float8, kept bool, checked bool, expected text)
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
        where not exists (select from conflicts) and key in (select key from input where value is null and not kept)
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

/** The lock and notification id of a key (FNV-1a, 32 bits). Two keys that share a hash wait or are notified needlessly. */
function hashOf(bytes: Uint8Array): number {
  return bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5 | 0);
}

function base64(bytes: Uint8Array<ArrayBuffer>): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
