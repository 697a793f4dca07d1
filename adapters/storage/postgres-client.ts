/** A client of Postgres.js that is never used again once it has lost a connection. */

import type { Notice, Sql } from 'postgres';
import { PinnaceError } from '../../src/base/errors.ts';
import { invalid } from './changes.ts';
import { storageBlocked, storageFull } from './unavailable.ts';

export interface PostgresClientOptions {
  readonly fetch_types: false;
  readonly idle_timeout: 0;
  readonly max_lifetime: 0;
  readonly connect_timeout: number;
  readonly backoff: () => number;
  readonly onnotice: (notice: Notice) => void;
  readonly onclose: () => void;
  /** Set for the client that listens and announces: it needs one connection. */
  readonly max?: 1;
  /** Set behind a pooler: the next statement may reach another connection to the server than the one that prepared it. */
  readonly prepare?: false;
}

/** Makes a client of the package `postgres` with these options; they come last, so that nothing replaces them. */
export type ConnectPostgres = (options: PostgresClientOptions) => Sql;

/** Where clients come from: made when needed, or one that the caller made. */
export interface PostgresClients {
  readonly connect: ConnectPostgres;
  /** The caller's one client: it is used again after a lost connection, since no other can be made. */
  readonly given?: Sql | undefined;
  /** Whether a pooler stands between, as far as is known. */
  isPooled: boolean;
  /** Whether the server has given up the wait for a standby, and none has confirmed anything since. */
  isUnconfirmed?: boolean;
  /** Receives that the server has given up such a wait. */
  readonly onUnconfirmed?: (cause: PinnaceError) => void;
}

/**
 * Notes whether a pooler stands between, by the results of statements of which the last one is `select pg_backend_pid() as pid`: poolers
 * give their clients a process number of their own.
 */
export function notePooler(clients: PostgresClients, { sql }: PostgresClient, results: unknown): void {
  const last = (Array.isArray(results) ? results.at(-1) : undefined) as Answer | undefined; // what Postgres.js answers
  const [own, server] = [last?.state?.pid, last?.[0]?.pid];
  if (own === undefined || server === undefined || own === server) return;
  clients.isPooled = true;
  sql.options.prepare = false; // Postgres.js reads it with each query
}

interface Answer {
  readonly state?: { readonly pid?: number };
  readonly 0?: { readonly pid?: number };
}

/** Uses the client that was passed, with the options of the storage as far as Postgres.js reads them at each use. */
export function givenClient(sql: Sql): PostgresClients {
  return { given: sql, isPooled: false, connect: (options) => (Object.assign(sql.options, options), sql) };
}

export interface PostgresClient {
  readonly sql: Sql;
  readonly isLost: boolean;
  /** Makes a call, and rejects it when a connection is lost meanwhile. */
  run<Result>(call: () => Promise<Result>): Promise<Result>;
}

/**
 * Makes a client, and leaves it when a connection is lost. Postgres.js (3.4.9) reuses the state of a lost connection: a query that was
 * written between the `error` and the `close` of its socket stays in it, never ends, or ends with the answer of the query after it.
 * @throws PinnaceError `invalid_argument` with the reason `invalid_client` when the client does not have the options.
 */
export function openClient(clients: PostgresClients, onLost: () => void): PostgresClient {
  const { connect, given } = clients;
  const running = new Set<(error: PinnaceError) => void>();
  let refused = 0;
  let isLost = false;
  // A refused connection was never used. Others may still be open, as when the server accepts no more.
  const onclose = (): void => refused > 0 ? void (refused -= 1) : leave();
  const onnotice = (notice: Notice): void => {
    // The server then answers as if the commit were done, but a standby that is promoted may not have it.
    if (notice['routine'] !== 'SyncRepWaitForLSN' || isLost) return;
    if (!clients.isUnconfirmed) clients.onUnconfirmed?.(unconfirmed());
    clients.isUnconfirmed = true;
    leave(unconfirmed());
  };
  if (typeof connect !== 'function') {
    throw invalid(
      'invalid_client',
      'Cannot open the storage: "connect" must be (options) => postgres(url, { ...options })',
    );
  }
  const sql = connect({ ...baseOptions, ...(clients.isPooled && { prepare: false }), onnotice, onclose });
  const leave = (cause = storageBlocked(`${unreached}: a connection was lost; try again`)): void => {
    if (isLost) return;
    isLost = true;
    for (const reject of running) reject(cause);
    onLost();
    // At once, a connection that is being made would stay silent, and a server that stops waits a minute for it to speak.
    if (sql !== given) void sql.end({ timeout: endSeconds });
  };
  // JavaScript callers may return nothing.
  if ((sql as Sql | undefined)?.options.onclose !== onclose) throw withoutOptions();
  return {
    sql,
    get isLost() {
      return isLost;
    },
    run: (call) =>
      new Promise((resolve, reject) => {
        if (isLost) return reject(storageBlocked(`${unreached}: its connection was lost; try again`));
        running.add(reject);
        const timer = setTimeout(() => reject(storageBlocked(`${unreached}: no answer within ${callMs} ms`)), callMs);
        const fail = (error: unknown): void => {
          if (wasRefused(error)) refused += 1;
          reject(explain(error));
          if (codeOf(error) === '25006') leave(); // a standby by now: the next client looks for the primary
        };
        void call().then(resolve, fail).finally(() => (running.delete(reject), clearTimeout(timer)));
      }),
  };
}

/** How long a call takes at most, so that none waits for ever for a server that is silent. It may still be done. */
const callMs = 10_000;
const endSeconds = 2;
const unreached = 'Cannot reach PostgreSQL';

/** A client that only listens and announces: it connects again by itself, and its statements have no answer to mistake. */
export function openListener({ connect, given, isPooled }: PostgresClients): Sql {
  return given ?? connect({ ...baseOptions, ...(isPooled && { prepare: false }), onclose: () => undefined, max: 1 });
}

const baseOptions: Omit<PostgresClientOptions, 'onclose'> = {
  // A connection that breaks while it fetches types rejects without a listener, which ends the process.
  fetch_types: false,
  // A connection that the client closes by itself would look like a lost one.
  idle_timeout: 0,
  max_lifetime: 0,
  connect_timeout: 5, // in seconds
  // In seconds; the client's own is up to 20 s after many failures.
  backoff: () => (1 + Math.random()) / 8,
  // It writes notices to the console otherwise.
  onnotice: () => undefined,
};

/** The code by which a commit says that its transaction has another isolation level. */
export const isolationCode = 'PNISO';

function unconfirmed(): PinnaceError {
  return storageBlocked(
    'Cannot tell whether PostgreSQL keeps a commit: its wait for a standby was canceled; bring the standby back',
  );
}

/** Whether a connection was never made. Codes are those of Node.js and PostgreSQL: resources, authorization, database, starting up. */
function wasRefused(error: unknown): boolean {
  const code = codeOf(error);
  if (severityOf(error) !== undefined) return severityOf(error) === 'FATAL' && /^(53|28|3D|57P03)/.test(code);
  return /^(ECONNREFUSED|ENOENT|EACCES|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|CONNECT_TIMEOUT)$/.test(code);
}

/** Codes are those of PostgreSQL, class 53: insufficient resources. */
function explain(error: unknown): PinnaceError {
  if (error instanceof PinnaceError) return error;
  if (codeOf(error) === '53100') return storageFull('Cannot write to PostgreSQL: the disk is full; make room', error);
  if (codeOf(error) === isolationCode) {
    return invalid(
      'invalid_client',
      'Cannot write to PostgreSQL: its default isolation level differs; set default_transaction_isolation to "read committed"',
    );
  }
  const advice = 'check that it runs and that the client may create the table and its function, then try again';
  return storageBlocked(`${unreached}: it failed; ${advice}`, { cause: error });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function severityOf(error: unknown): unknown {
  return error instanceof Error && 'severity' in error ? error.severity : undefined;
}

function withoutOptions(): PinnaceError {
  return invalid(
    'invalid_client',
    'Cannot use the client: it lacks the options of the storage; make it with `(options) => postgres(url, { ...options })`',
  );
}
