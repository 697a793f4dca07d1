/** Secrets in the browser, encrypted in IndexedDB and locked with a passphrase. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { parse } from '../../src/base/parse.ts';
import type { SecretSource } from '../../src/contracts/egress.ts';
import { SecretRef } from '../../src/base/schema.ts';
import { Secret } from '../../src/base/secret.ts';
import { requireDestination, secretOrigins, type UnboundSecrets } from '../../src/base/origins.ts';
import { untilAborted } from '../../src/base/until-aborted.ts';
import { type VaultDatabase, vaultDatabase } from './vault-database.ts';
import { createKey, type DataKey, keyLost, openKey, rewrapKey, seal, unseal } from './vault-keys.ts';
import {
  addKey,
  countWrite,
  deleteAll,
  deleteSecret,
  findSecret,
  listSecrets,
  putSecret,
  readKey,
  replaceKey,
  replaceSecrets,
  type SecretVersion,
} from './vault-rows.ts';

export type { SecretVersion } from './vault-rows.ts';

/** Options of {@link vaultSecrets}. */
export interface VaultSecretsOptions extends UnboundSecrets {
  /** The name of the database. Different names are separate vaults. */
  readonly name: string;
  /** Default: the global `indexedDB`. */
  readonly indexedDB?: IDBFactory;
}

/** Secrets stored in a browser. A reference without a version resolves to the latest one. */
export interface Vault extends SecretSource {
  /**
   * Opens the vault in this context until `lock`. The first passphrase creates it.
   *
   * @throws PinnaceError `forbidden` with the reason `wrong_passphrase`; `invalid_argument` for a first passphrase of less than 8
   * characters; `unavailable` with the reason `vault_key_lost` if the key is lost: call `clear`.
   */
  unlock(passphrase: string): Promise<void>;
  /** Removes the key from this context. Also call the runtime's `invalidate(['secrets'])`, which removes cached values. */
  lock(): void;
  /** Changes the passphrase, also while locked. @throws PinnaceError as `unlock` does. */
  changePassphrase(change: { readonly current: string; readonly next: string }): Promise<void>;
  /**
   * Sets a secret and removes its earlier versions. Without `origins` the stored origins remain.
   *
   * @throws PinnaceError `invalid_argument` for a value of less than 8 characters and for an invalid origin.
   */
  set(secretId: string, value: string, binding?: SecretBinding): Promise<SecretVersion>;
  /** Adds a version. References to an earlier version still resolve until it is removed. @throws PinnaceError as `set` does. */
  rotate(secretId: string, value: string, binding?: SecretBinding): Promise<SecretVersion>;
  /** Sets the origins of all versions of a secret. @throws PinnaceError as `set` does, `not_found`. */
  bind(secretId: string, origins: readonly string[]): Promise<void>;
  /** Removes a version of a secret, or all. */
  remove(secretId: string, version?: string): Promise<void>;
  /** Lists the secrets without values, also while locked. */
  list(): Promise<SecretVersion[]>;
  /** Deletes all secrets, the key and the passphrase. */
  clear(): Promise<void>;
}

/** The origins that may receive a secret, and `code` for functions of the composition. */
export interface SecretBinding {
  readonly origins?: readonly string[];
}

interface VaultState extends UnboundSecrets {
  readonly name: string;
  readonly use: VaultDatabase;
  dataKey?: DataKey | undefined;
  /** Counts the calls of `lock`. */
  locks: number;
}

/** Shorter values cannot be redacted without redacting ordinary text. */
const minLength = 8;
const maxLength = 65_536;

/**
 * Creates a vault, locked. Values are encrypted with AES-GCM-256, each for its id and version; the key to them opens only with the
 * passphrase (PBKDF2-SHA-256, 600,000 rounds) *and* a key of this browser that no script can export.
 *
 * It protects data on the disk: a thief of a computer, a backup or a profile must guess the passphrase, and rows that a script has
 * copied cannot be decrypted elsewhere even with the passphrase. It does not protect against scripts of this origin while the vault
 * is unlocked, or against scripts that read the passphrase during input. It does not hide ids, versions and lengths. If the browser
 * deletes the site's data, the vault is empty and secrets are `not_found`.
 *
 * While the vault is locked a secret is `unavailable`, not retryable, with the reason `vault_locked`.
 *
 * @example
 * const secrets = vaultSecrets({ name: 'pinnace' });
 * await secrets.unlock(passphrase);
 * await secrets.set('openai-key', value);
 */
export function vaultSecrets(options: VaultSecretsOptions): Vault {
  checkNames('create the vault', options, optional('name', 'indexedDB', 'unboundSecrets'));
  const { name, indexedDB, unboundSecrets } = options;
  const state: VaultState = { name, use: vaultDatabase(name, indexedDB), locks: 0, unboundSecrets };
  return {
    unlock: (passphrase) => unlock(state, passphrase),
    lock: () => lock(state),
    changePassphrase: (change) => changePassphrase(state, change),
    set: (secretId, value, binding) => write(state, { ...binding, id: secretId, value, keeps: 'latest' }),
    rotate: (secretId, value, binding) => write(state, { ...binding, id: secretId, value, keeps: 'all' }),
    bind: (secretId, origins) => bind(state, secretId, origins),
    remove: (id, version) => state.use('readwrite', (stores) => deleteSecret(stores, { id, version })),
    list: async () => (await state.use('readonly', (stores) => listSecrets(stores))).map(({ place }) => place),
    async clear() {
      lock(state);
      await state.use('readwrite', deleteAll);
    },
    resolve: (ref, { scope, signal }) =>
      untilAborted(() => resolve(state, ref, scope.origin), { signal, action: `resolve secret "${ref.id}"` }),
  };
}

async function unlock(state: VaultState, passphrase: string): Promise<void> {
  requireCrypto(state);
  const { locks } = state;
  const row = await state.use('readonly', readKey);
  const dataKey = row ? await openKey(row, passphrase) : await create(state, passphrase);
  if (state.locks !== locks) throw locked(state); // while the passphrase was being tried
  state.dataKey = dataKey;
}

function lock(state: VaultState): void {
  state.dataKey = undefined;
  state.locks++;
}

async function create({ use }: VaultState, passphrase: string): Promise<DataKey> {
  requirePassphrase(passphrase);
  const { wrapped, dataKey } = await createKey(passphrase);
  const other = await use('readwrite', (stores) => addKey(stores, wrapped));
  return other ? await openKey(other, passphrase) : dataKey; // another tab was faster
}

async function changePassphrase(
  { use, name }: VaultState,
  change: { readonly current: string; readonly next: string },
): Promise<void> {
  requireCrypto({ name });
  requirePassphrase(change.next);
  const row = await use('readonly', readKey);
  if (!row) throw new PinnaceError('not_found', `Cannot change the passphrase of vault "${name}": it has none yet`);
  const wrapped = await rewrapKey(row, change);
  await use('readwrite', (stores) => replaceKey(stores, wrapped));
}

/** Two transactions: no encryption can be awaited in one, and the version must be known for it. */
async function write(
  state: VaultState,
  { id, value, keeps, origins: declared }: SecretBinding & {
    readonly id: string;
    readonly value: string;
    readonly keeps: 'latest' | 'all';
  },
): Promise<SecretVersion> {
  const dataKey = requireUnlocked(state);
  parse(SecretRef, { id }, { what: 'the secret reference' });
  requireValue(id, value);
  secretOrigins(id, declared);
  const { version, known } = await state.use('readwrite', async (stores) => ({
    known: (await findSecret(stores, { id }))?.place.origins,
    version: await countWrite(stores, dataKey),
  }));
  const place = withOrigins({ id, version }, declared ?? known);
  const row = withOrigins({ kid: dataKey.kid, data: await seal(dataKey, place, value) }, place.origins);
  await state.use('readwrite', (stores) => putSecret(stores, { place, row, keeps }));
  return place;
}

/** Encrypts again, as the origins are part of the encrypted data. */
async function bind(state: VaultState, id: string, origins: readonly string[]): Promise<void> {
  const dataKey = requireUnlocked(state);
  secretOrigins(id, origins);
  const found = await state.use('readwrite', async (stores) => {
    const versions = await listSecrets(stores, id);
    for (const { row } of versions) {
      if (row.kid !== dataKey.kid) throw keyLost();
      await countWrite(stores, dataKey);
    }
    return versions;
  });
  if (found.length === 0) throw missing(id);
  const bound = await Promise.all(found.map(async ({ place, row }) => {
    const next = { ...place, origins };
    const data = await seal(dataKey, next, await unseal(dataKey, place, row.data));
    return { place: next, row: { kid: row.kid, data, origins } };
  }));
  await state.use('readwrite', (stores) => replaceSecrets(stores, bound));
}

function withOrigins<T extends object>(row: T, origins: readonly string[] | undefined): T & SecretBinding {
  return origins === undefined ? row : { ...row, origins: [...origins] };
}

async function resolve(state: VaultState, ref: SecretRef, origin: string | undefined): Promise<Secret> {
  const { id } = ref;
  const dataKey = requireUnlocked(state);
  const found = await state.use('readonly', (stores) => findSecret(stores, ref));
  if (!found) throw missing(id);
  if (found.row.kid !== dataKey.kid) throw keyLost();
  const value = await unseal(dataKey, found.place, found.row.data);
  if (state.dataKey !== dataKey) throw locked(state); // in the meantime
  const origins = secretOrigins(id, found.place.origins, state);
  return requireDestination(new Secret({ ...found.place, origins, value }), origin);
}

function missing(id: string): PinnaceError {
  return new PinnaceError('not_found', `Cannot resolve secret "${id}": the vault does not have it; set it`);
}

function requireUnlocked(state: VaultState): DataKey {
  if (!state.dataKey) throw locked(state);
  return state.dataKey;
}

function locked({ name }: VaultState): PinnaceError {
  return new PinnaceError('unavailable', `Cannot use vault "${name}": it is locked; unlock it with the passphrase`, {
    retryable: false,
    details: { reason: 'vault_locked' },
  });
}

function requireCrypto({ name }: Pick<VaultState, 'name'>): void {
  const { subtle } = globalThis.crypto as Partial<Crypto>; // safe: pages of plain http lack it
  if (subtle) return;
  throw new PinnaceError(
    'unavailable',
    `Cannot use vault "${name}": there is no Web Crypto here; serve the page over https`,
    { retryable: false, details: { reason: 'vault_unavailable' } },
  );
}

function requirePassphrase(passphrase: string): void {
  if (passphrase.length < minLength) throw refused('the passphrase', `it must have at least ${minLength} characters`);
}

function requireValue(id: string, value: string): void {
  const what = `the value of secret "${id}"`;
  if (value.length < minLength) throw refused(what, `it must have at least ${minLength} characters`);
  if (value.length > maxLength) throw refused(what, `it must have at most ${maxLength} characters`);
  if (!value.isWellFormed()) throw refused(what, 'it holds half of a surrogate pair');
}

function refused(what: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot use ${what}: ${why}`, { details: { reason: 'invalid_secret' } });
}
