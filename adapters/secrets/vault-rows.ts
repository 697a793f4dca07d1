/** What a vault keeps: one row with its key, and one for each version of a secret. Each function runs within one transaction. */

import type { SecretRef } from '../../src/schema.ts';
import { settled, type VaultStores } from './vault-database.ts';
import { type DataKey, keyLost, type WrappedKey } from './vault-keys.ts';

/** A version of a secret, without its value. */
export interface SecretVersion {
  readonly id: string;
  readonly version: string;
}

/** The one row of the keys. */
interface KeyRow extends WrappedKey {
  /** Counts the versions that were begun with this key. */
  readonly writes: number;
}

/** A secret's row, under its id and version. */
export interface SecretRow {
  /** The key that it was encrypted with. */
  readonly kid: string;
  readonly data: Uint8Array<ArrayBuffer>;
}

const keyName = 'key';
/** As often may one AES-GCM key be used with random IVs (NIST SP 800-38D, 8.3). */
const maxWrites = 2 ** 32;

/** Gives the key's row, if the vault has been made. */
export async function readKey({ keys }: VaultStores): Promise<KeyRow | undefined> {
  const request: IDBRequest<KeyRow | undefined> = keys.get(keyName); // safe: only this file writes here
  return await settled(request);
}

/** Keeps a first key, and gives the one that is there already instead. Secrets of an earlier key are dropped: none can be read. */
export async function addKey(stores: VaultStores, wrapped: WrappedKey): Promise<WrappedKey | undefined> {
  const row = await readKey(stores);
  if (row) return row;
  await settled(stores.secrets.clear());
  await putKey(stores, { ...wrapped, writes: 0 });
  return undefined;
}

/** Keeps the same key in another wrapping. @throws PinnaceError `vault_key_lost` where it is no longer there. */
export async function replaceKey(stores: VaultStores, wrapped: WrappedKey): Promise<void> {
  const { writes } = await requireKey(stores, wrapped);
  await putKey(stores, { ...wrapped, writes });
}

/** Gives the next version. They are counted for the whole vault, so that none is ever used again, not even after a removal. */
export async function countWrite(stores: VaultStores, dataKey: DataKey): Promise<string> {
  const row = await requireKey(stores, dataKey);
  const writes = row.writes + 1;
  if (writes > maxWrites) throw keyLost();
  await putKey(stores, { ...row, writes });
  return String(writes);
}

/** Keeps a version of a secret, beside the earlier ones or instead of them. */
export async function putSecret(
  stores: VaultStores,
  { place: { id, version }, row, keeps }: {
    readonly place: SecretVersion;
    readonly row: SecretRow;
    readonly keeps: 'latest' | 'all';
  },
): Promise<void> {
  await requireKey(stores, row);
  await settled(stores.secrets.put(row, [id, Number(version)]));
  if (keeps === 'all') return;
  const latest = await findSecret(stores, { id }); // a later one where another tab was faster
  const key = [id, Number(latest?.place.version)];
  await settled(stores.secrets.delete(IDBKeyRange.bound([id], key, false, true)));
}

/** Gives the version that is referred to: the latest where none is named. */
export async function findSecret(
  { secrets }: VaultStores,
  ref: SecretRef,
): Promise<{ readonly place: SecretVersion; readonly row: SecretRow } | undefined> {
  const range = rangeOf(ref);
  const cursor = range && await settled(secrets.openCursor(range, 'prev'));
  return cursor ? { place: placeOf(cursor.primaryKey), row: cursor.value as SecretRow } : undefined; // safe: see `putSecret`
}

/** Gives all versions of all secrets. */
export async function listSecrets({ secrets }: VaultStores): Promise<SecretVersion[]> {
  return (await settled(secrets.getAllKeys())).map(placeOf);
}

/** Removes the version that is referred to: all where none is named. */
export async function deleteSecret({ secrets }: VaultStores, ref: SecretRef): Promise<void> {
  const range = rangeOf(ref);
  if (range) await settled(secrets.delete(range));
}

/** Removes the key and all secrets. */
export async function deleteAll({ keys, secrets }: VaultStores): Promise<void> {
  await Promise.all([settled(keys.clear()), settled(secrets.clear())]);
}

/** The keys of a secret, or of one version of it; nothing for what is no version. */
function rangeOf({ id, version }: SecretRef): IDBKeyRange | undefined {
  if (version === undefined) return IDBKeyRange.bound([id], [id, []]); // arrays sort behind numbers
  return /^[1-9]\d{0,14}$/.test(version) ? IDBKeyRange.only([id, Number(version)]) : undefined;
}

async function requireKey(stores: VaultStores, { kid }: { readonly kid: string }): Promise<KeyRow> {
  const row = await readKey(stores);
  if (row?.kid !== kid) throw keyLost(); // cleared, or made anew, in another tab
  return row;
}

async function putKey({ keys }: VaultStores, row: KeyRow): Promise<void> {
  await settled(keys.put(row, keyName));
}

function placeOf(key: IDBValidKey): SecretVersion {
  const [id, version] = key as [string, number]; // safe: see `putSecret`
  return { id, version: String(version) };
}
