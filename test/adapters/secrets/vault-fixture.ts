/** Vaults for tests: each in a database of its own, and a hand on what is in it. */

import { afterAll, beforeAll, vi } from 'vitest';
import { type Vault, vaultSecrets } from '../../../adapters/secrets/vault.ts';
import type { Secret } from '../../../src/base/secret.ts';

/** The passphrase of every vault here. */
export const passphrase = 'correct horse battery staple';
/** A value that must show nowhere. */
export const value = 'sk-live-0123456789';

/**
 * Derives the keys of a file in a few rounds, which would take half of its time. Returns the rounds that the vault asked for.
 */
export function quickPassphrases(): readonly number[] {
  const asked: number[] = [];
  let restore: () => void = () => undefined;
  beforeAll(() => {
    const derive = crypto.subtle.deriveKey.bind(crypto.subtle);
    const spy = vi.spyOn(crypto.subtle, 'deriveKey').mockImplementation((algorithm, ...others) => {
      const { iterations } = algorithm as Pbkdf2Params; // safe: no vault derives keys in another way
      asked.push(iterations);
      return derive({ ...(algorithm as Pbkdf2Params), iterations: 10 }, ...others);
    });
    restore = () => spy.mockRestore();
  });
  afterAll(() => restore());
  return asked;
}

/** Gives a name that no other vault has. */
export function freshName(): string {
  return `test-${crypto.randomUUID()}`;
}

export async function openVault(name: string = freshName(), indexedDB?: IDBFactory): Promise<Vault> {
  const vault = vaultSecrets({ name, unboundSecrets: 'allow', ...(indexedDB && { indexedDB }) });
  await vault.unlock(passphrase);
  return vault;
}

/** Asks for a secret, as a run does. */
export function resolve(vault: Vault, id: string, version?: string): Promise<Secret> {
  const ref = { id, ...(version !== undefined && { version }) };
  return vault.resolve(ref, { scope: { tenant: 'acme', agentId: 'helper' }, signal: new AbortController().signal });
}

/** The rows of a vault, as a script of the page can reach them. */
export interface RawVault {
  all(store: 'keys' | 'secrets'): Promise<Record<string, unknown>[]>;
  get(store: 'keys' | 'secrets', key: IDBValidKey): Promise<Record<string, unknown>>;
  put(store: 'keys' | 'secrets', row: unknown, key: IDBValidKey): Promise<void>;
  delete(store: 'keys' | 'secrets', key: IDBValidKey): Promise<void>;
}

/** Reaches around a vault. */
export function rawVault(name: string): RawVault {
  const use = async <T>(store: string, call: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> => {
    const database = await done(indexedDB.open(`pinnace-vault:${name}`, 1));
    try {
      return await done(call(database.transaction(store, 'readwrite').objectStore(store)));
    } finally {
      database.close();
    }
  };
  return {
    all: (store) => use(store, (rows) => rows.getAll()),
    get: (store, key) => use(store, (rows) => rows.get(key)),
    put: async (store, row, key) => {
      await use(store, (rows) => rows.put(row, key));
    },
    delete: (store, key) => use(store, (rows) => rows.delete(key)),
  };
}

/** A factory that opens databases until it stalls: then nothing is ever answered. */
export function stallingFactory(): { factory: IDBFactory; stall: () => void } {
  let isStalled = false;
  const open: IDBFactory['open'] = (name, version) =>
    isStalled ? new EventTarget() as IDBOpenDBRequest : indexedDB.open(name, version); // safe: only listened to
  return {
    factory: { open } as IDBFactory, // safe: the adapter only opens
    stall: () => {
      isStalled = true;
    },
  };
}

export function throwingFactory(name: string): IDBFactory {
  const open = (): never => {
    throw new DOMException('refused', name);
  };
  return { open } as unknown as IDBFactory; // safe: the adapter only opens
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  const { promise, resolve: succeed, reject } = Promise.withResolvers<T>();
  request.addEventListener('success', () => succeed(request.result));
  request.addEventListener('error', () => reject(request.error ?? new Error('The request failed')));
  return promise;
}
