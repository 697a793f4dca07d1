/** Keeps the key of a model server in the vault, where only its server may receive it. */

import type { Endpoint } from '../../control/page-control.ts';
import type { VaultControl } from '../../control/registry-control.ts';
import type { Answer } from '../../control/answer.ts';

/** The id of the secret that holds the key of a server. */
export function secretIdOf(baseUrl: string): string {
  return `model-key-${new URL(baseUrl).host.replace(/[^\w.-]/g, '-')}`;
}

/**
 * Opens the vault where it is locked, and stores the endpoint's key, if it has one: without, the stored one is used. Returns the endpoint
 * with the name of the secret, or why it failed.
 */
export async function keepInVault(
  vault: Pick<VaultControl, 'vault' | 'unlockVault' | 'setSecret'>,
  { apiKey, ...endpoint }: Endpoint,
  passphrase: string,
): Promise<Answer<Endpoint>> {
  const secretId = secretIdOf(endpoint.baseUrl);
  const state = await vault.vault();
  if (!state.ok) return state;
  if (!state.value.isOpen) {
    const opened = await vault.unlockVault(passphrase);
    if (!opened.ok) return opened;
  }
  if (apiKey !== undefined) {
    const stored = await vault.setSecret(secretId, apiKey, [new URL(endpoint.baseUrl).origin]);
    if (!stored.ok) return stored;
  }
  return { ok: true, value: { ...endpoint, secretId } };
}
