/** The worker's secrets: its own, and a vault that is loaded on first use. */

import { loadOnce } from '../../../src/base/load-once.ts';
import type { SecretVersion, Vault } from '../../../adapters/secrets/vault.ts';
import type { SecretSource } from '../../../src/index.ts';
import { createSealKeys } from '../../mcp/worker/seal-keys.ts';
import { sealSecret } from '../../mcp/seal-secret.ts';
import { answer } from '../../registry/worker/answer.ts';
import type { VaultControl, VaultState } from '../../registry/worker/control.ts';

/** What is needed of a vault. */
export type HostedVault = Pick<Vault, 'unlock' | 'lock' | 'set' | 'bind' | 'remove' | 'list' | 'resolve'>;

/** The secrets, for the runtime and for the page. */
export interface VaultHost {
  readonly secrets: SecretSource;
  readonly control: VaultControl;
}

interface VaultHostOptions {
  /** Fetches the vault. */
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
