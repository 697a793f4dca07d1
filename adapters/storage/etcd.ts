/**
 * State in etcd, the key-value store whose nodes agree by Raft.
 *
 * - An entry is one key: `<prefix>/e` and the bytes of its key, which sort as the port lists. Its version is etcd's `mod_revision`:
 *   the same for all keys of a commit, and never used again.
 * - Its value begins with the time at which it expires, so that a transaction compares lifetimes inside etcd: a commit that expects a
 *   version of an entry whose time is over conflicts, whatever the clocks of other instances say. Leases only make room later.
 * - A commit is one transaction, sent once. When its answer was lost it is rejected, never repeated.
 * - Each commit also writes the hashes of its keys under one of 16 keys that every instance watches. No value is in them.
 */

import { fromBase64, toBase64 } from '../../src/base/base64.ts';
import { checkNames, optional } from '../../src/base/check-options.ts';
import { encodeKey, type Key, keyBytes } from '../../src/base/key.ts';
import type { ClosableStorage, CommitResult, Entry, Watchable } from '../../src/contracts/storage.ts';
import { createReport, type OnError } from '../../src/events/report.ts';
import { invalid, isExpired, listBounds, nextBytes, prepareChanges, type PreparedChange } from './changes.ts';
import { createConnection } from './connection.ts';
import {
  createEtcdClient,
  type EtcdAnswer,
  type EtcdClient,
  type EtcdClientOptions,
  type EtcdPair,
  requireRoom,
} from './etcd-client.ts';
import { createEtcdNews } from './etcd-news.ts';
import { keyHash } from './news.ts';
import { storageBlocked } from './unavailable.ts';
import { decodeValue, encodeValue } from './value-codec.ts';

export type { ClosableStorage, Watchable } from '../../src/contracts/storage.ts';
export type { EtcdClientOptions } from './etcd-client.ts';

/** Options of {@link etcdStorage}. */
export interface EtcdStorageOptions extends EtcdClientOptions {
  /** What its keys begin with: up to 48 of a-z, A-Z, 0-9, `_`, `.` and `-`. Two prefixes never see each other. Without it, `pinnace`. */
  readonly prefix?: string;
  /** Receives why news did not arrive. */
  readonly onError?: OnError;
  /** Milliseconds since 1970; the clock of the platform when absent. */
  readonly now?: () => number;
}

/**
 * Keeps state in etcd, for clusters that have it and where the loss of a machine may lose nothing that was acknowledged. Every commit
 * waits for a majority of the nodes. Start each node with `--max-txn-ops 256 --max-request-bytes 8388608`, and keep large files in
 * another blob store: etcd holds 8 GiB at most.
 *
 * Values are serialised by `node:v8`, up to 4 MiB each; beyond that a commit is `invalid_argument` with the reason `value_too_large`.
 *
 * @throws PinnaceError `invalid_argument` with the reason `invalid_client` for addresses that are none (and from the first call, for a
 * cluster that takes less than above), or another prefix.
 * @see https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway/
 * @example
 * const storage = etcdStorage({ endpoints: ['https://10.0.0.1:2379', 'https://10.0.0.2:2379', 'https://10.0.0.3:2379'] });
 */
export function etcdStorage(options: EtcdStorageOptions): ClosableStorage & Watchable {
  checkNames('create the storage', options, optional('endpoints', 'user', 'fetch', 'prefix', 'onError', 'now'));
  const { prefix = 'pinnace', onError, now = Date.now } = options;
  if (!/^[\w.-]{1,48}$/.test(prefix)) {
    throw invalid('invalid_client', 'Cannot use the prefix: take up to 48 of a-z, A-Z, 0-9, "_", "." and "-"');
  }
  const client = createEtcdClient(options);
  const report = createReport(onError);
  const news = createEtcdNews(client, { prefix, onFailed: (cause) => report(cause, { kind: 'storage', id: 'watch' }) });
  const leases = createLeases(client, now);
  const connection = createConnection<EtcdClient>({
    open: () => requireRoom(client, toBase64(withPrefix(prefix, new Uint8Array()))).then(() => client),
    shut: () => undefined,
  });
  const keyOf = (bytes: Uint8Array): string => toBase64(withPrefix(prefix, bytes));

  return {
    checks: true,
    async get(key) {
      const bytes = encodeKey(key);
      const { kvs } = await connection.use(({ call }) => call('/v3/kv/range', { key: keyOf(bytes) }));
      return livingEntries(kvs, now())[0];
    },
    async list(asked) {
      const { lower, upper } = listBounds(asked);
      return await connection.use((open) =>
        listPages(open, { key: keyOf(lower), range_end: keyOf(upper) }, { limit: asked.limit, time: now() })
      );
    },
    async commit(changes) {
      const time = now();
      const writes = prepareChanges(changes, time).map((change) => ({ ...change, bytes: keyBytes(change.id) }));
      const drafts = writes.map((write) => ({ ...write, address: keyOf(write.bytes), stored: encodeStored(write) }));
      const hashes = writes.filter(({ keep }) => !keep).map(({ bytes }) => keyHash(bytes));
      const result = await connection.use(async (open) => {
        const leased = await Promise.all(
          drafts.map(({ expiresAt }) => leases.of(expiresAt)),
        );
        const success = drafts.flatMap((draft, at) => operationOf(draft, leased[at] ?? ''));
        if (hashes.length > 0) success.push(news.operationOf(hashes));
        return await commitWrites(open, { drafts, success, time });
      });
      if (result.ok) news.emit(hashes);
      return result;
    },
    watch: (keys, watching) => news.watch(keys.map((key) => keyHash(encodeKey(key))), watching),
    async close() {
      await connection.close();
      await news.close();
    },
  };
}

interface Draft extends PreparedChange {
  readonly address: string;
  /** The value in base64; `undefined` deletes. */
  readonly stored: string | undefined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** Where the parts of a stored value begin: its expiry in milliseconds, and the length of its name. */
const lengthAt = 8;
const nameAt = 10;
/** What never expires; above it, numbers are not exact. */
const never = Number.MAX_SAFE_INTEGER;

function withPrefix(prefix: string, bytes: Uint8Array): Uint8Array {
  const start = encoder.encode(`${prefix}/e`);
  const whole = new Uint8Array(start.length + bytes.length);
  whole.set(start);
  whole.set(bytes, start.length);
  return whole;
}

function timeBytes(time: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(lengthAt);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(Math.min(Math.ceil(time), never)));
  return bytes;
}

function encodeStored({ key, value, expiresAt = never }: PreparedChange): string | undefined {
  if (value === undefined) return undefined;
  const name = encoder.encode(JSON.stringify(key));
  const encoded = encodeValue(value);
  const bytes = new Uint8Array(nameAt + name.length + encoded.length);
  bytes.set(timeBytes(expiresAt));
  new DataView(bytes.buffer).setUint16(lengthAt, name.length);
  bytes.set(name, nameAt);
  bytes.set(encoded, nameAt + name.length);
  return toBase64(bytes);
}

/** What a pair holds; an entry whose time is over has only a revision. */
interface Stored {
  readonly revision: string;
  readonly entry: Entry | undefined;
}

function decodePair({ value = '', mod_revision: revision }: EtcdPair, time: number): Stored {
  const bytes = fromBase64(value);
  if (!bytes || bytes.length < nameAt) {
    throw storageBlocked('Cannot read from etcd: another program has written under the prefix', { retryable: false });
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  if (isExpired({ expiresAt: Number(view.getBigUint64(0)) }, time)) return { revision, entry: undefined };
  const valueAt = nameAt + view.getUint16(lengthAt);
  const key = JSON.parse(decoder.decode(bytes.subarray(nameAt, valueAt))) as Key; // safe: only `encodeStored` writes names
  return { revision, entry: { key, value: decodeValue(bytes.subarray(valueAt)), version: revision } };
}

function livingEntries(pairs: readonly EtcdPair[] = [], time: number): Entry[] {
  return pairs.map((pair) => decodePair(pair, time).entry).filter((entry) => entry !== undefined);
}

/** Lists page by page, as entries whose time is over are left out. */
async function listPages(
  { call }: EtcdClient,
  range: { readonly key: string; readonly range_end: string },
  { limit, time }: { readonly limit: number; readonly time: number },
): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let { key } = range;;) {
    const { kvs = [], more } = await call('/v3/kv/range', { ...range, key, limit: String(limit) });
    entries.push(...livingEntries(kvs, time));
    const last = kvs.at(-1);
    if (entries.length >= limit || !more || !last) return entries.slice(0, limit);
    key = toBase64(nextBytes(fromBase64(last.key) ?? new Uint8Array()));
  }
}

function operationOf({ keep, stored, address }: Draft, lease: string): object[] {
  if (keep) return [];
  if (stored === undefined) return [{ requestDeleteRange: { key: address } }];
  return [{ requestPut: { key: address, value: stored, ...(lease !== '' && { lease }) } }];
}

/** So often a commit is tried that finds entries whose time is over, with another revision each time. */
const mostTries = 20;

async function commitWrites(
  { call }: EtcdClient,
  { drafts, success, time }: {
    readonly drafts: readonly Draft[];
    readonly success: readonly object[];
    readonly time: number;
  },
): Promise<CommitResult> {
  const checked = drafts.filter(({ ifVersion }) => ifVersion !== undefined);
  const failure = checked.map(({ address }) => ({ requestRange: { key: address } }));
  let over = new Map<Draft, string>(); // the revisions of entries that count as absent
  for (let tries = 0; tries < mostTries; tries++) {
    const compare = checked.flatMap((draft) => comparisonsOf(draft, time, over.get(draft)));
    const answer = await call('/v3/kv/txn', { compare, success, failure });
    if (answer.succeeded) return { ok: true, version: answer.header?.revision ?? '' };
    const current = checked.map((_, at) => storedAt(answer, at, time));
    const conflicts = checked.filter(({ ifVersion }, at) => (current[at]?.entry?.version ?? null) !== ifVersion);
    if (conflicts.length > 0) return { ok: false, conflicts: conflicts.map(({ key }) => key) };
    over = new Map(checked.flatMap((draft, at) => current[at] ? [[draft, current[at].revision]] : []));
  }
  throw storageBlocked('Cannot commit to etcd: others write the same keys; try again');
}

function storedAt({ responses = [] }: EtcdAnswer, at: number, time: number): Stored | undefined {
  const pair = responses[at]?.response_range?.kvs?.[0];
  return pair && decodePair(pair, time);
}

/** What must hold of a key. A version that is none compares with a revision that no key has. */
function comparisonsOf({ address: key, ifVersion }: Draft, time: number, over: string | undefined): object[] {
  const at = (revision: string) => ({ key, target: 'MOD', result: 'EQUAL', mod_revision: revision });
  if (ifVersion === null) {
    return [over === undefined ? { key, target: 'CREATE', result: 'EQUAL', create_revision: '0' } : at(over)];
  }
  const lives = { key, target: 'VALUE', result: 'GREATER', value: toBase64(timeBytes(Math.floor(time) + 1)) };
  return [at(/^\d{1,18}$/.test(ifVersion ?? '') ? ifVersion ?? '' : '-1'), lives];
}

const hourMs = 3_600_000;
/** What lives longer has no lease: the longest of etcd takes 9,000,000,000 s. */
const longestLeaseMs = 87_600 * hourMs;

/** Leases that remove what is over: one for each hour in which entries expire, and an hour longer. */
function createLeases({ call }: EtcdClient, now: () => number) {
  const leases = new Map<number, Promise<string>>();
  return {
    /** The lease for what expires then; empty for what stays very long. */
    async of(expiresAt = Infinity): Promise<string> {
      const time = now();
      if (expiresAt > time + longestLeaseMs) return '';
      const hour = Math.ceil(expiresAt / hourMs);
      const known = leases.get(hour);
      if (known) return await known;
      for (const past of leases.keys()) if (past * hourMs < time) leases.delete(past);
      const seconds = Math.ceil((hour * hourMs - time + hourMs) / 1000);
      const lease = call('/v3/lease/grant', { TTL: String(seconds) }).then(({ ID = '' }) => ID);
      leases.set(hour, lease);
      lease.catch(() => leases.delete(hour));
      return await lease;
    },
  };
}
