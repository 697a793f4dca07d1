/** The key that seals tokens and answers for MCP servers: of the vault while it is open, else of this visit. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { Secret } from '../../../src/base/secret.ts';
import type { SecretRef } from '../../../src/base/schema.ts';
import type { SecretSource } from '../../../src/index.ts';
import type { HostedVault } from '../../vault/worker/vault-host.ts';
import { sealSecret } from '../seal-secret.ts';

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
