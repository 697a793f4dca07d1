/** State in PostgreSQL, for instances that share more than one Deno KV holds. It knows Postgres.js by its type alone. */

import type { ISql, Sql } from 'postgres';
import type { PinnaceError } from '../../src/base/errors.ts';
import { checkNames, optional } from '../../src/base/check-options.ts';
import { encodeKey, type Key } from '../../src/base/key.ts';
import { waitAtMost } from '../../src/base/until-aborted.ts';
import type { ClosableStorage, Entry, Watchable } from '../../src/contracts/storage.ts';
import { createReport, type OnError } from '../../src/events/report.ts';
import { invalid, type ListBounds, listBounds, prepareChanges } from './changes.ts';
import { createConnection } from './connection.ts';
import {
  type ConnectPostgres,
  givenClient,
  notePooler,
  openClient,
  type PostgresClient,
  type PostgresClients,
} from './postgres-client.ts';
import { keyHash } from './news.ts';
import { commitDraft, confirmationOf, draftCommit, setupOf } from './postgres-commit.ts';
import { createPostgresNews } from './postgres-news.ts';
import { decodeValue } from './value-codec.ts';

export type { ClosableStorage, Watchable } from '../../src/contracts/storage.ts';

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
  /**
   * Receives why the storage could not listen to notifications, while it polls; and that a wait for a standby was canceled, after which
   * calls are refused until a standby answers.
   */
  readonly onError?: OnError;
  /** Milliseconds since 1970; the clock of the platform when absent. */
  readonly now?: () => number;
  /** How often watchers are notified while no notifications arrive from the server, in milliseconds; 500 when absent. */
  readonly pollMs?: number;
}

interface Row {
  /** The key as JSON. */
  readonly name: string;
  readonly value: Uint8Array;
  readonly version: string;
}

/** How long a close waits for what is under way, and then for connections to end. */
const longestCloseMs = 2_000;

/**
 * Keeps state in a table of PostgreSQL 12 or newer. Each call is one prepared statement and one round trip; calls that come at once
 * share round trips. A commit calls a function, which the storage creates beside the table; commits that share a key take turns,
 * others do not wait for each other. Commits are announced by `NOTIFY`, those of 20 ms together, so every instance is notified soon.
 * Where notifications do not arrive, as through a pooler in transaction mode, watchers poll every `pollMs`.
 *
 * Behind a pooler such as PgBouncer nothing is prepared: each call then takes two round trips, which works in transaction mode.
 *
 * Values are serialised by `node:v8`, up to 4 MiB each; beyond that a commit is `invalid_argument` with the reason
 * `value_too_large`.
 *
 * @throws PinnaceError `invalid_argument` with the reason `invalid_table` for a name that would need quotes, and `invalid_client` for
 * a client without the options.
 * @example
 * const url = Deno.env.get('DATABASE_URL');
 * const storage = postgresStorage({ connect: (options) => postgres(url, { max: 10, ...options }) });
 */
export function postgresStorage(options: PostgresStorageOptions): ClosableStorage & Watchable {
  checkNames('create the storage', options, optional('connect', 'sql', 'table', 'onError', 'now', 'pollMs'));
  const { connect, sql: given, table = 'pinnace', onError, now = Date.now, pollMs = 500 } = options;
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(table)) {
    throw invalid('invalid_table', `Cannot use the table "${table}": take up to 48 of a-z, 0-9 and _`);
  }
  const report = createReport(onError);
  const onUnconfirmed = (cause: PinnaceError): void => report(cause, { kind: 'storage', id: 'commit' });
  const opened = connect ? { connect, isPooled: false } : given ? givenClient(given) : undefined;
  const clients: PostgresClients | undefined = opened && { ...opened, onUnconfirmed };
  if (!clients) throw invalid('invalid_client', 'Cannot open the storage: pass `connect`, which makes a client');
  const pool = createClientPool(clients, table);
  const { use } = pool;
  const onFailed = (cause: unknown): void => report(cause, { kind: 'storage', id: 'watch' });
  const news = createPostgresNews({ clients, channel: table, onFailed, pollMs });

  return {
    checks: true,
    async get(key) {
      const bytes = encodeKey(key);
      const [row] = await use(({ sql }) =>
        sql<Row[]>`select name, value, version from ${sql(table)} where key = ${bytes} and ${lives(sql, now())}`
      );
      return row && toEntry(row);
    },
    async list(asked) {
      const bounds = listBounds(asked);
      return await use(({ sql }) => rowsWithin(sql, { table, bounds, limit: asked.limit, time: now() }));
    },
    async commit(changes) {
      const time = now();
      const draft = draftCommit(prepareChanges(changes, time));
      const result = await use(({ sql }) => commitDraft(sql, draft, { table, time }));
      if (result.ok && draft.written.size > 0) news.announce(draft.written);
      return result;
    },
    watch(keys, { signal, onNews }) {
      news.watch(keys.map((key) => keyHash(encodeKey(key))), { signal, onNews });
    },
    async close() {
      await Promise.all([pool.close(), news.close(longestCloseMs)]);
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
      const results = await own.run(async () =>
        await own.sql.unsafe(`${setupOf(table)}; select pg_backend_pid() as pid`)
      );
      notePooler(clients, own, results);
      if (clients.isUnconfirmed) {
        await own.run(async () => await own.sql.unsafe(confirmationOf(table)));
        clients.isUnconfirmed = false;
      }
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
      await waitAtMost(longestCloseMs, connection.close());
      await client.sql.end({ timeout: longestCloseMs / 1000 });
    },
  };
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
  return { key: JSON.parse(name) as Key, value: decodeValue(value), version }; // safe: only `draftCommit` writes names
}
