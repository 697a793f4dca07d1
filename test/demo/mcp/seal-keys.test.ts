import 'fake-indexeddb/auto';
import { describe, expect, it } from 'vitest';
import { vaultSecrets } from '../../../adapters/secrets/vault.ts';
import { createSealKeys } from '../../../demo/vault/worker/vault-host.ts';
import { sealSecret } from '../../../demo/mcp/seal-secret.ts';
import { createSeals } from '../../../src/mcp/sign-in-records.ts';

function setup(name: string) {
  const vault = vaultSecrets({ name });
  let isOpen = false;
  const secrets = createSealKeys({ vault: () => Promise.resolve(vault), isOpen: () => isOpen });
  const seals = createSeals({
    secrets,
    sealKey: { id: sealSecret },
    tenant: 'local',
    signal: new AbortController().signal,
  });
  return {
    seals,
    async open() {
      await vault.unlock('correct horse');
      isOpen = true;
    },
  };
}

describe('the key that seals tokens in a page', () => {
  it('is of the visit while the vault is locked: another visit opens nothing', async () => {
    const visit = setup('seal-a');
    const sealed = await visit.seals.seal('token', ['row']);
    expect(await visit.seals.open(sealed, ['row'])).toBe('token');
    await visit.open();
    expect(await visit.seals.open(sealed, ['row'])).toBe('token'); // its own visit goes on
    expect(await setup('seal-a').seals.open(sealed, ['row'])).toBeUndefined();
  });

  it('is of the vault while it is open: another visit opens what it sealed, after the passphrase', async () => {
    const visit = setup('seal-b');
    await visit.open();
    const sealed = await visit.seals.seal('token', ['row']);
    const later = setup('seal-b');
    await expect(later.seals.open(sealed, ['row'])).rejects.toMatchObject({ details: { reason: 'vault_locked' } });
    await later.open();
    expect(await later.seals.open(sealed, ['row'])).toBe('token');
    expect(await later.seals.open(sealed, ['other row'])).toBeUndefined();
  });
});
