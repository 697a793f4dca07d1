/** The worker's secrets: its own, and a vault that is loaded on first use. */

import type { SecretVersion, Vault } from '../../../adapters/secrets/vault.ts';
import { PinnaceError } from '../../../src/base/errors.ts';
import { loadOnce } from '../../../src/base/load-once.ts';
import type { SecretRef } from '../../../src/base/schema.ts';
import { Secret } from '../../../src/base/secret.ts';
import type { SecretSource } from '../../../src/index.ts';
import { sealSecret } from '../../mcp/seal-secret.ts';
import { answer } from '../../control/answer.ts';
import type { VaultControl, VaultState } from '../../control/registry-control.ts';

export type HostedVault = Pick<Vault, 'unlock' | 'lock' | 'set' | 'bind' | 'remove' | 'list' | 'resolve'>;

/** The secrets, for the runtime and for the page. */
interface VaultHost {
  readonly secrets: SecretSource;
  readonly control: VaultControl;
}

interface VaultHostOptions {
  readonly load: () => Promise<HostedVault>;
  /** Secrets that are not in the vault, by their ids. */
  readonly own: ReadonlySet<string>;
  readonly ownSecrets: SecretSource;
  /** Called when a value may be another than before. */
  readonly onChanged: () => Promise<void>;
}

/** Creates the secrets; the vault is locked. */
export function createVaultHost({ load, own, ownSecrets, onChanged }: VaultHostOptions): VaultHost {
  let isOpen = false;
  const vault = loadOnce(load);
  const sealKeys = createSealKeys({ vault, isOpen: () => isOpen });
  const change = (work: (vault: HostedVault) => unknown) =>
    answer(async () => {
      await work(await vault());
      await onChanged();
    });
  return {
    secrets: {
      async resolve(ref, options) {
        if (own.has(ref.id)) return await ownSecrets.resolve(ref, options);
        if (ref.id === sealSecret) return await sealKeys.resolve(ref, options);
        return await (await vault()).resolve(ref, options);
      },
    },
    control: {
      vault: () =>
        answer(async () => ({
          isOpen,
          secrets: latestOf(await (await vault()).list()),
        })),
      unlockVault: (passphrase) =>
        change(async (opened) => {
          await opened.unlock(passphrase);
          isOpen = true;
        }),
      lockVault: () =>
        change((opened) => {
          opened.lock();
          isOpen = false;
        }),
      setSecret: (secretId, value, origins) => change((opened) => opened.set(secretId, value, { origins })),
      bindSecret: (secretId, origins) => change((opened) => opened.bind(secretId, origins)),
      removeSecret: (secretId) => change((opened) => opened.remove(secretId)),
    },
  };
}

/** Each secret once, as its latest version is bound, by id. */
function latestOf(versions: readonly SecretVersion[]): VaultState['secrets'] {
  const byId = new Map(versions.map(({ id, origins = [] }) => [id, { id, origins }]));
  return [...byId.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

interface SealKeysOptions {
  readonly vault: () => Promise<Pick<HostedVault, 'resolve' | 'set'>>;
  readonly isOpen: () => boolean;
}

/**
 * Creates the source of the key. What the vault's key seals can be opened on later visits, while the vault is open. What was sealed
 * without the vault ends with this worker.
 */
export function createSealKeys({ vault, isOpen }: SealKeysOptions): SecretSource {
  const visit = new Secret({
    id: sealSecret,
    version: `visit-${crypto.randomUUID()}`,
    value: randomKey(),
    origins: ['code'],
  });
  return {
    async resolve(ref, options) {
      if (ref.version?.startsWith('visit-')) {
        if (ref.version === visit.version) return visit;
        throw new PinnaceError('not_found', 'Cannot open what an earlier visit has sealed: its key is gone');
      }
      if (ref.version === undefined && !isOpen()) return visit;
      return await ofVault(ref, options, await vault());
    },
  };
}

async function ofVault(
  ref: SecretRef,
  options: Parameters<SecretSource['resolve']>[1],
  vault: Pick<HostedVault, 'resolve' | 'set'>,
): Promise<Secret> {
  try {
    return await vault.resolve(ref, options);
  } catch (error) {
    if (!isMissing(error) || ref.version !== undefined) throw error;
  }
  return await oneTabAtATime(async () => {
    try {
      return await vault.resolve(ref, options); // another tab was faster
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
    await vault.set(sealSecret, randomKey(), { origins: ['code'] });
    return await vault.resolve(ref, options);
  });
}

async function oneTabAtATime<T>(work: () => Promise<T>): Promise<T> {
  return navigator.locks ? await navigator.locks.request('pinnace-seal-key', work) : await work();
}

function isMissing(error: unknown): boolean {
  return error instanceof PinnaceError && error.code === 'not_found';
}

/** 32 random bytes as base64. */
function randomKey(): string {
  return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))));
}
