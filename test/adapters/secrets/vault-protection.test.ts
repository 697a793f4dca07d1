import { describe, expect, it } from 'vitest';
import { vaultSecrets } from '../../../adapters/secrets/vault.ts';
import { freshName, openVault, passphrase, quickPassphrases, rawVault, resolve, value } from './vault-fixture.ts';

quickPassphrases();
const lost = { code: 'unavailable', retryable: false, details: { reason: 'vault_key_lost' } };
const tampered = { code: 'unavailable', retryable: false, details: { reason: 'vault_tampered' } };

/** All bytes of a row, as text of one character each. */
function bytesOf(row: Readonly<Record<string, unknown>>): string {
  const arrays = Object.values(row).filter((part) => part instanceof Uint8Array);
  return arrays.map((part) => String.fromCharCode(...part)).join('');
}

/** The row's ciphertext, of which the first 12 bytes are the IV. */
function dataOf(row: Readonly<Record<string, unknown>>): Uint8Array<ArrayBuffer> {
  return row['data'] as Uint8Array<ArrayBuffer>; // safe: so the vault writes it
}

describe.skipIf(!('indexedDB' in globalThis))('what vaultSecrets keeps', () => {
  it('is one key that cannot be exported, and nothing in clear', async () => {
    const name = freshName();
    const vault = await openVault(name);
    await vault.set('api-key', value);
    const [keyRow = {}] = await rawVault(name).all('keys');
    const browserKey = keyRow['browserKey'] as CryptoKey; // safe: what follows fails otherwise
    expect(browserKey.algorithm).toEqual({ name: 'AES-GCM', length: 256 });
    expect(browserKey.extractable).toBe(false);
    await expect(crypto.subtle.exportKey('raw', browserKey)).rejects.toThrow(DOMException);
    const rows = await rawVault(name).all('secrets');
    expect(rows).toHaveLength(1);
    for (const row of [keyRow, ...rows]) {
      expect(bytesOf(row)).not.toContain(value.slice(0, 8));
      expect(bytesOf(row)).not.toContain(passphrase.slice(0, 8));
    }
  });

  it('has another IV for every write, of one value too', async () => {
    const name = freshName();
    const vault = await openVault(name);
    for (let writes = 0; writes < 20; writes++) await vault.rotate('api-key', value);
    const rows = await rawVault(name).all('secrets');
    expect(new Set(rows.map((row) => dataOf(row).slice(0, 12).toString())).size).toBe(20);
    expect(new Set(rows.map((row) => dataOf(row).slice(12).toString())).size).toBe(20);
  });

  it('is read at its own id and version alone', async () => {
    const name = freshName();
    const [vault, raw] = [await openVault(name), rawVault(name)];
    await vault.set('public-demo', 'sk-demo-0123456789');
    await vault.set('admin-key', value);
    const row = await raw.get('secrets', ['admin-key', 2]);
    for (const version of [1, 2]) {
      await raw.put('secrets', row, ['public-demo', version]);
      await expect(resolve(vault, 'public-demo', String(version))).rejects.toMatchObject(tampered);
    }
    await raw.put('secrets', row, ['admin-key', 3]); // an old value as the latest
    await expect(resolve(vault, 'admin-key')).rejects.toMatchObject(tampered);
    expect((await resolve(vault, 'admin-key', '2')).reveal()).toBe(value);
  });

  it('is refused with any one bit changed, cut short or empty', async () => {
    const name = freshName();
    const [vault, raw] = [await openVault(name), rawVault(name)];
    await vault.set('api-key', value);
    const row = await raw.get('secrets', ['api-key', 1]);
    const data = dataOf(row);
    const altered = Array.from(data, (byte, at) => data.with(at, byte ^ 1));
    for (const bad of [...altered, data.slice(0, -1), data.slice(0, 12), new Uint8Array()]) {
      await raw.put('secrets', { ...row, data: bad }, ['api-key', 1]);
      await expect(resolve(vault, 'api-key')).rejects.toMatchObject(tampered);
    }
  });

  it('asks again after the key is lost: any passphrase creates a new vault, without the unreadable secrets', async () => {
    const name = freshName();
    await (await openVault(name)).set('api-key', value);
    await rawVault(name).delete('keys', 'key');
    const vault = vaultSecrets({ name, unboundSecrets: 'allow' });
    await vault.unlock('another passphrase');
    expect(await vault.list()).toEqual([]);
    await expect(resolve(vault, 'api-key')).rejects.toMatchObject({ code: 'not_found' });
    await vault.set('api-key', value);
    expect((await resolve(vault, 'api-key')).reveal()).toBe(value);
  });

  it('opens in no other browser, not even with the passphrase, until it is cleared', async () => {
    const [name, stolenName] = [freshName(), freshName()];
    await (await openVault(name)).set('api-key', value);
    await openVault(stolenName); // the other browser's own key
    const [raw, stolen] = [rawVault(name), rawVault(stolenName)];
    const { browserKey } = await stolen.get('keys', 'key');
    await stolen.put('keys', { ...await raw.get('keys', 'key'), browserKey }, 'key');
    const vault = vaultSecrets({ name: stolenName, unboundSecrets: 'allow' });
    await expect(vault.unlock(passphrase)).rejects.toMatchObject(lost);
    await vault.clear();
    await expect(vault.unlock(passphrase)).resolves.toBeUndefined();
  });

  it('is lost, and says so, when the browser returns a key row without its key', async () => {
    const name = freshName();
    await openVault(name);
    const raw = rawVault(name);
    await raw.put('keys', { ...await raw.get('keys', 'key'), browserKey: undefined }, 'key');
    await expect(vaultSecrets({ name, unboundSecrets: 'allow' }).unlock(passphrase)).rejects.toMatchObject(lost);
  });

  it('takes no more from a tab whose vault was created again in another', async () => {
    const name = freshName();
    const [old, tab] = [await openVault(name), vaultSecrets({ name, unboundSecrets: 'allow' })];
    await tab.clear();
    await expect(old.set('api-key', value)).rejects.toMatchObject(lost);
    await tab.unlock(passphrase);
    await tab.set('api-key', value);
    await expect(old.set('api-key', value)).rejects.toMatchObject(lost);
    await expect(resolve(old, 'api-key')).rejects.toMatchObject(lost);
    await old.unlock(passphrase);
    expect((await resolve(old, 'api-key')).reveal()).toBe(value);
  });

  it('takes no more writes than one key may have', async () => {
    const name = freshName();
    const [vault, raw] = [await openVault(name), rawVault(name)];
    await raw.put('keys', { ...await raw.get('keys', 'key'), writes: 2 ** 32 - 1 }, 'key');
    expect(await vault.set('api-key', value)).toEqual({ id: 'api-key', version: String(2 ** 32) });
    await expect(vault.set('api-key', value)).rejects.toMatchObject(lost);
    expect((await resolve(vault, 'api-key')).reveal()).toBe(value);
  });
});
