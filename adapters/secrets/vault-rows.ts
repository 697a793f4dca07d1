/** The rows of a vault: one with its key, and one for each version of a secret. Each function runs in one transaction. */

import type { SecretRef } from '../../src/base/schema.ts';
import { settled, type VaultStores } from './vault-database.ts';
import { type DataKey, keyLost, type WrappedKey } from './vault-keys.ts';

/** A version of a secret, without its value. */
export interface SecretVersion {
  readonly id: string;
  readonly version: string;
  /** Who may receive it, as declared; rows of before have none. */
  readonly origins?: readonly string[] | undefined;
}

interface KeyRow extends WrappedKey {
  /** Counts the versions that were created with this key. */
  readonly writes: number;
}

export interface SecretRow {
  readonly kid: string;
  readonly data: Uint8Array<ArrayBuffer>;
  readonly origins?: readonly string[] | undefined;
}

export interface FoundSecret {
  readonly place: SecretVersion;
  readonly row: SecretRow;
}

const keyName = 'key';
/** As often may one AES-GCM key be used with random IVs (NIST SP 800-38D, 8.3). */
const maxWrites = 2 ** 32;

export async function readKey({ keys }: VaultStores): Promise<KeyRow | undefined> {
  const request: IDBRequest<KeyRow | undefined> = keys.get(keyName); // safe: only this file writes here
  return await settled(request);
}

/** Stores a first key, or returns the one that exists. Secrets of an earlier key are dropped: none can be read. */
export async function addKey(stores: VaultStores, wrapped: WrappedKey): Promise<WrappedKey | undefined> {
  const row = await readKey(stores);
  if (row) return row;
  await settled(stores.secrets.clear());
  await putKey(stores, { ...wrapped, writes: 0 });
  return undefined;
}

export async function replaceKey(stores: VaultStores, wrapped: WrappedKey): Promise<void> {
  const { writes } = await requireKey(stores, wrapped);
  await putKey(stores, { ...wrapped, writes });
}

/** Returns the next version. They are counted for the whole vault, so that none is ever used again, not even after a removal. */
export async function countWrite(stores: VaultStores, dataKey: DataKey): Promise<string> {
  const row = await requireKey(stores, dataKey);
  const writes = row.writes + 1;
  if (writes > maxWrites) throw keyLost();
  await putKey(stores, { ...row, writes });
  return String(writes);
}

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

/** Replaces the rows of versions that are still there: what was removed meanwhile stays removed. */
export async function replaceSecrets(stores: VaultStores, found: readonly FoundSecret[]): Promise<void> {
  for (const { place: { id, version }, row } of found) {
    await requireKey(stores, row);
    const key = [id, Number(version)];
    if (await settled(stores.secrets.getKey(key)) !== undefined) await settled(stores.secrets.put(row, key));
  }
}

export async function findSecret({ secrets }: VaultStores, ref: SecretRef): Promise<FoundSecret | undefined> {
  const range = rangeOf(ref);
  const cursor = range && await settled(secrets.openCursor(range, 'prev'));
  return cursor ? toFound(cursor.primaryKey, cursor.value) : undefined;
}

export async function listSecrets({ secrets }: VaultStores, id?: string): Promise<FoundSecret[]> {
  const range = id === undefined ? undefined : rangeOf({ id });
  const [keys, rows] = await Promise.all([settled(secrets.getAllKeys(range)), settled(secrets.getAll(range))]);
  return keys.map((key, at) => toFound(key, rows[at]));
}

export async function deleteSecret({ secrets }: VaultStores, ref: SecretRef): Promise<void> {
  const range = rangeOf(ref);
  if (range) await settled(secrets.delete(range));
}

export async function deleteAll({ keys, secrets }: VaultStores): Promise<void> {
  await Promise.all([settled(keys.clear()), settled(secrets.clear())]);
}

function rangeOf({ id, version }: SecretRef): IDBKeyRange | undefined {
  if (version === undefined) return IDBKeyRange.bound([id], [id, []]); // arrays sort behind numbers
  return /^[1-9]\d{0,14}$/.test(version) ? IDBKeyRange.only([id, Number(version)]) : undefined;
}

async function requireKey(stores: VaultStores, { kid }: { readonly kid: string }): Promise<KeyRow> {
  const row = await readKey(stores);
  if (row?.kid !== kid) throw keyLost(); // cleared or created again in another tab
  return row;
}

async function putKey({ keys }: VaultStores, row: KeyRow): Promise<void> {
  await settled(keys.put(row, keyName));
}

function toFound(key: IDBValidKey, value: unknown): FoundSecret {
  const [[id, version], row] = [key as [string, number], value as SecretRow]; // safe: see `putSecret`
  return { place: { id, version: String(version), ...(row.origins && { origins: row.origins }) }, row };
}
