/** State in the SQLite database of a Durable Object of Cloudflare. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { encodeKey, keyText } from '../../src/base/key.ts';
import type { ClosableStorage, Watchable } from '../../src/contracts/storage.ts';
import { invalid, listBounds, prepareChanges } from './changes.ts';
import { type DurableObjectDatabase, openRows } from './durable-object-rows.ts';
import { createNews } from './news.ts';
import { encodeStructured } from './structured-codec.ts';
import { storageBlocked, storageClosed, storageFull } from './unavailable.ts';

export type { ClosableStorage, Watchable } from '../../src/contracts/storage.ts';

/** Options of {@link durableObjectStorage}. */
export interface DurableObjectStorageOptions {
  /** `state.storage` of an object whose class is declared under `new_sqlite_classes`. */
  readonly storage: DurableObjectDatabase;
  /** The table, made when the storage is created. Two tables never see each other. Without it, `pinnace`. */
  readonly table?: string;
  /** Milliseconds since 1970; the clock of the platform when absent. */
  readonly now?: () => number;
}

const maxValueBytes = 4 * 1024 * 1024;

/**
 * Keeps state in a table of the object's own SQLite database, which outlives the object's process. An object has one process at a
 * time, so watchers learn of every commit. Cloudflare holds a response back until the writes before it are stored.
 *
 * Values take up to 4 MiB in encoded form; beyond that a commit is `invalid_argument` with the reason `value_too_large`.
 *
 * @throws PinnaceError `invalid_argument` with the reason `invalid_table` for a name that would need quotes.
 * @example
 * export class Agents {
 *   constructor(state, env) {
 *     this.storage = durableObjectStorage({ storage: state.storage });
 *   }
 * }
 */
export function durableObjectStorage(
  given: DurableObjectStorageOptions,
): ClosableStorage & Watchable {
  checkNames('create the storage', given, optional('storage', 'table', 'now'));
  const { storage, table = 'pinnace', now = Date.now } = given;
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(table)) {
    throw invalid('invalid_table', `Cannot use the table "${table}": take up to 48 of a-z, 0-9 and _`);
  }
  const news = createNews();
  const rows = openRows(storage, table);
  let isClosed = false;

  /** Runs a call of the database, with its errors as those of the port. */
  function use<T>(call: () => T): T {
    if (isClosed) throw storageClosed();
    try {
      return call();
    } catch (error) {
      throw toUnavailable(error);
    }
  }

  return {
    checks: true,
    async get(key) {
      const bytes = encodeKey(key);
      return use(() => rows.get(bytes, now()));
    },
    async list(options) {
      const { lower, upper } = listBounds(options);
      return use(() => rows.list(lower, upper, { limit: options.limit, time: now() }));
    },
    async commit(changes) {
      const time = now();
      const prepared = prepareChanges(changes, time);
      const values = prepared.map(({ value }) => value === undefined ? undefined : encode(value));
      const result = use(() => storage.transactionSync(() => rows.write(prepared, values, time)));
      if (result.ok) news.emit(prepared.filter(({ keep }) => !keep).map(({ id }) => id));
      return result;
    },
    watch: (keys, options) => news.watch(keys.map((key) => keyText(key)), options),
    async close() {
      isClosed = true;
    },
  };
}

function encode(value: unknown): Uint8Array<ArrayBuffer> {
  const bytes = encodeStructured(value);
  if (bytes.length <= maxValueBytes) return bytes;
  const sizes = `it takes ${bytes.length} bytes in encoded form, ${maxValueBytes} are allowed`;
  throw invalid('value_too_large', `Cannot store the value: ${sizes}; store it in several`);
}

function toUnavailable(cause: unknown): Error {
  const message = cause instanceof Error ? cause.message : '';
  return /SQLITE_FULL|disk is full/i.test(message)
    ? storageFull('Cannot write to the Durable Object: its database is full; delete some data', cause)
    : storageBlocked('Cannot use the database of the Durable Object', { cause });
}
