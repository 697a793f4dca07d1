import { describe, expect, it, vi } from 'vitest';
import { type Vault, vaultSecrets } from '../../../adapters/secrets/vault.ts';
import { type WaitingSecrets, waitingSecretsContract } from '../../contracts/secrets.ts';
import { textsIn } from '../../contracts/secrets/printing.ts';
import {
  freshName,
  openVault,
  passphrase,
  quickPassphrases,
  rawVault,
  resolve,
  stallingFactory,
  throwingFactory,
  value,
} from './vault-fixture.ts';

const rounds = quickPassphrases();
const other = 'zebra crossing at noon';
const locked = { code: 'unavailable', retryable: false, details: { reason: 'vault_locked' } };
const wrong = { code: 'forbidden', retryable: false, details: { reason: 'wrong_passphrase' } };

async function open(
  values: Readonly<Record<string, string>>,
  origins: readonly string[] | undefined,
): Promise<WaitingSecrets> {
  const { factory, stall } = stallingFactory();
  const vault = vaultSecrets({ name: freshName(), indexedDB: factory });
  await vault.unlock(passphrase);
  for (const [id, text] of Object.entries(values)) await vault.set(id, text, origins && { origins });
  return {
    source: vault,
    set: async (id, text) => void await (text === undefined ? vault.remove(id) : vault.set(id, text)),
    stall: async () => stall(),
  };
}

/** The error of a call; it holds no value and no passphrase. */
async function errorOf(call: Promise<unknown>): Promise<unknown> {
  const error = await call.then(() => undefined, (reason: unknown) => reason);
  expect(textsIn(error)).not.toMatch(/sk-live|horse|zebra/);
  return error;
}

const hasIndexedDb = 'indexedDB' in globalThis;

// It denies nothing: who can unlock it may have everything.
describe.skipIf(!hasIndexedDb)('vaultSecrets keeps the contract of a secret source that waits', () => {
  it.each(waitingSecretsContract)('$name', async ({ run }) => {
    await expect(run({ open })).resolves.toBeUndefined();
  });
});

describe.skipIf(!hasIndexedDb)('the lock of vaultSecrets', () => {
  it('is closed at first, and then nothing is given or taken', async () => {
    const vault = vaultSecrets({ name: freshName() });
    expect(await errorOf(resolve(vault, 'api-key'))).toMatchObject(locked);
    expect(await errorOf(vault.set('api-key', value))).toMatchObject(locked);
    expect(await errorOf(vault.rotate('api-key', value))).toMatchObject(locked);
    expect(await vault.list()).toEqual([]);
  });

  it('takes 600,000 rounds of PBKDF2 to make, and as many to open', async () => {
    const before = rounds.length;
    const name = freshName();
    await openVault(name);
    await openVault(name);
    expect(rounds.slice(before)).toEqual([600_000, 600_000]);
  });

  it('closes again, and opens with the passphrase alone', async () => {
    const vault = await openVault();
    await vault.set('api-key', value);
    vault.lock();
    expect(await errorOf(resolve(vault, 'api-key'))).toMatchObject(locked);
    expect(await errorOf(vault.unlock(other))).toMatchObject(wrong);
    expect(await errorOf(resolve(vault, 'api-key'))).toMatchObject(locked);
    await vault.unlock(passphrase);
    expect((await resolve(vault, 'api-key')).reveal()).toBe(value);
  });

  it('is closed again after a reload, and the secrets are still there', async () => {
    const name = freshName();
    await (await openVault(name)).set('api-key', value);
    const reloaded = vaultSecrets({ name, unboundSecrets: 'allow' });
    expect(await errorOf(resolve(reloaded, 'api-key'))).toMatchObject(locked);
    expect(await reloaded.list()).toEqual([{ id: 'api-key', version: '1' }]);
    await reloaded.unlock(passphrase);
    expect((await resolve(reloaded, 'api-key')).reveal()).toBe(value);
  });

  it('stays as it is after a wrong passphrase', async () => {
    const vault = await openVault();
    await vault.set('api-key', value);
    expect(await errorOf(vault.unlock(other))).toMatchObject(wrong);
    expect((await resolve(vault, 'api-key')).reveal()).toBe(value);
  });

  it('stays closed when it is closed while a passphrase is tried', async () => {
    const vault = await openVault();
    vault.lock();
    const unlocking = vault.unlock(passphrase);
    vault.lock();
    expect(await errorOf(unlocking)).toMatchObject(locked);
    expect(await errorOf(resolve(vault, 'api-key'))).toMatchObject(locked);
  });

  it('keeps back a secret that is being read when it is closed', async () => {
    const vault = await openVault();
    await vault.set('api-key', value);
    const resolving = resolve(vault, 'api-key');
    vault.lock();
    expect(await errorOf(resolving)).toMatchObject(locked);
  });

  it('opens for the same passphrase however the keyboard composes it', async () => {
    const name = freshName();
    await vaultSecrets({ name }).unlock('pässwört-lang'.normalize('NFC'));
    await expect(vaultSecrets({ name }).unlock('pässwört-lang'.normalize('NFD'))).resolves.toBeUndefined();
  });

  it('opens for two tabs that make the vault at once, and both read what either writes', async () => {
    const name = freshName();
    const [tab, otherTab] = await Promise.all([openVault(name), openVault(name)]);
    await Promise.all([tab.set('a', `${value}-a`), otherTab.set('b', `${value}-b`)]);
    expect((await resolve(otherTab, 'a')).reveal()).toBe(`${value}-a`);
    expect((await resolve(tab, 'b')).reveal()).toBe(`${value}-b`);
    expect((await tab.list()).map(({ version }) => version).toSorted()).toEqual(['1', '2']);
  });

  it('refuses a first passphrase of less than 8 characters, and makes nothing', async () => {
    const vault = vaultSecrets({ name: freshName() });
    expect(await errorOf(vault.unlock('horse'))).toMatchObject({ code: 'invalid_argument' });
    await expect(vault.unlock(passphrase)).resolves.toBeUndefined();
  });
});

describe.skipIf(!hasIndexedDb)('changePassphrase of vaultSecrets', () => {
  it('makes the new passphrase open the vault, and the old one not, with all secrets in it', async () => {
    const name = freshName();
    const vault = await openVault(name);
    await vault.set('api-key', value);
    await vault.changePassphrase({ current: passphrase, next: other });
    expect((await resolve(vault, 'api-key')).reveal()).toBe(value);
    const reloaded = vaultSecrets({ name, unboundSecrets: 'allow' });
    expect(await errorOf(reloaded.unlock(passphrase))).toMatchObject(wrong);
    await reloaded.unlock(other);
    expect((await resolve(reloaded, 'api-key')).reveal()).toBe(value);
    expect(await reloaded.set('api-key', `${value}-2`)).toEqual({ id: 'api-key', version: '2' });
  });

  it('needs the current passphrase, unlocked or not, and a next one of 8 characters', async () => {
    const vault = await openVault();
    expect(await errorOf(vault.changePassphrase({ current: other, next: other }))).toMatchObject(wrong);
    const short = vault.changePassphrase({ current: passphrase, next: 'horse' });
    expect(await errorOf(short)).toMatchObject({ code: 'invalid_argument' });
    vault.lock();
    await vault.changePassphrase({ current: passphrase, next: other });
    await expect(vault.unlock(other)).resolves.toBeUndefined();
  });

  it('finds nothing to change where no vault was made', async () => {
    const vault = vaultSecrets({ name: freshName() });
    const changing = vault.changePassphrase({ current: passphrase, next: other });
    expect(await errorOf(changing)).toMatchObject({ code: 'not_found' });
  });
});

describe.skipIf(!hasIndexedDb)('the versions of vaultSecrets', () => {
  it('are one after set, more after rotate, and the latest where none is named', async () => {
    const vault = await openVault();
    await vault.set('api-key', `${value}-1`);
    expect(await vault.rotate('api-key', `${value}-2`)).toEqual({ id: 'api-key', version: '2' });
    expect((await resolve(vault, 'api-key')).reveal()).toBe(`${value}-2`);
    expect((await resolve(vault, 'api-key', '1')).reveal()).toBe(`${value}-1`);
    expect(await vault.list()).toEqual([{ id: 'api-key', version: '1' }, { id: 'api-key', version: '2' }]);
    await vault.set('api-key', `${value}-3`);
    expect(await vault.list()).toEqual([{ id: 'api-key', version: '3' }]);
    expect(await errorOf(resolve(vault, 'api-key', '1'))).toMatchObject({ code: 'not_found' });
  });

  it('are removed one by one or all at once, twice as well as once, and no other secret with them', async () => {
    const vault = await openVault();
    await vault.set('a', `${value}-1`);
    await vault.rotate('a', `${value}-2`);
    await vault.set('ab', `${value}-3`);
    await vault.remove('a', '2');
    await vault.remove('a', '2');
    expect((await resolve(vault, 'a')).reveal()).toBe(`${value}-1`);
    await vault.remove('a');
    await vault.remove('a');
    await vault.remove('ab', 'none');
    expect(await vault.list()).toEqual([{ id: 'ab', version: '3' }]);
  });

  it('are never used again, not even after a removal', async () => {
    const vault = await openVault();
    await vault.set('api-key', value);
    await vault.remove('api-key');
    expect(await vault.set('api-key', value)).toEqual({ id: 'api-key', version: '2' });
  });

  it('are whole numbers from 1 on, and nothing else', async () => {
    const vault = await openVault();
    await vault.set('api-key', value);
    for (const version of ['0', '-1', '1.0', '01', '', 'latest', '9'.repeat(30)]) {
      expect(await errorOf(resolve(vault, 'api-key', version))).toMatchObject({ code: 'not_found' });
    }
  });

  it('have values of 8 to 65,536 characters of well-formed text, and no other is stored or shown', async () => {
    const vault = await openVault();
    await vault.set('api-key', value);
    for (const bad of ['', 'sk-live', 'sk-live-\ud800-half', 'x'.repeat(65_537)]) {
      for (const call of [vault.set('api-key', bad), vault.rotate('api-key', bad)]) {
        expect(await errorOf(call)).toMatchObject({ code: 'invalid_argument', details: { reason: 'invalid_secret' } });
      }
    }
    expect((await resolve(vault, 'api-key')).reveal()).toBe(value);
  });

  it('belong to ids that a reference can name', async () => {
    const vault = await openVault();
    for (const id of ['', ' ', '../x', 'a/b', 'x'.repeat(129)]) {
      expect(await errorOf(vault.set(id, value))).toMatchObject({ code: 'invalid_argument' });
    }
  });
});

describe.skipIf(!hasIndexedDb)('the origins of vaultSecrets', () => {
  const origin = 'https://api.example.com';
  const ask = (vault: Vault, version?: string) => {
    const ref = { id: 'api-key', ...(version !== undefined && { version }) };
    const scope = { tenant: 'acme', agentId: 'helper', origin };
    return vault.resolve(ref, { scope, signal: new AbortController().signal });
  };

  it('are declared later for a secret of before, in all its versions, and shown while it is locked', async () => {
    const vault = vaultSecrets({ name: freshName() });
    await vault.unlock(passphrase);
    await vault.set('api-key', `${value}-1`);
    await vault.rotate('api-key', `${value}-2`);
    expect(await errorOf(ask(vault))).toMatchObject({ details: { reason: 'secret_origin_mismatch' } });
    await vault.bind('api-key', [origin]);
    expect((await ask(vault)).reveal()).toBe(`${value}-2`);
    expect((await ask(vault, '1')).reveal()).toBe(`${value}-1`);
    vault.lock();
    expect(await vault.list()).toEqual([{ id: 'api-key', version: '1', origins: [origin] }, {
      id: 'api-key',
      version: '2',
      origins: [origin],
    }]);
    expect(await errorOf(vault.bind('api-key', []))).toMatchObject(locked);
  });

  it('cannot be altered in the database', async () => {
    const name = freshName();
    const vault = await openVault(name);
    await vault.set('api-key', value, { origins: ['https://other.example.com'] });
    const raw = rawVault(name);
    const row = await raw.get('secrets', ['api-key', 1]);
    for (const origins of [[origin], undefined]) {
      await raw.put('secrets', { ...row, origins }, ['api-key', 1]);
      expect(await errorOf(ask(vault))).toMatchObject({ details: { reason: 'vault_tampered' } });
    }
  });

  it('are origins, and belong to secrets that are there', async () => {
    const vault = await openVault();
    await vault.set('api-key', value);
    const invalid = { code: 'invalid_argument', details: { reason: 'invalid_secret_origin' } };
    expect(await errorOf(vault.set('api-key', value, { origins: ['example.com'] }))).toMatchObject(invalid);
    expect(await errorOf(vault.bind('api-key', [`${origin}/v1`]))).toMatchObject(invalid);
    expect(await errorOf(vault.bind('missing', [origin]))).toMatchObject({ code: 'not_found' });
  });
});

describe.skipIf(!hasIndexedDb)('the database of vaultSecrets', () => {
  it('is one for each name', async () => {
    const [vault, neighbour] = [await openVault(), await openVault()];
    await vault.set('api-key', value);
    await neighbour.clear();
    expect(await neighbour.list()).toEqual([]);
    expect((await resolve(vault, 'api-key')).reveal()).toBe(value);
  });

  it.each([
    ['QuotaExceededError', 'vault_full'],
    ['SecurityError', 'vault_unavailable'],
    ['InvalidStateError', 'vault_unavailable'],
  ])('that throws %s makes every call unavailable', async (name, reason) => {
    const vault: Vault = vaultSecrets({ name: 'refused', indexedDB: throwingFactory(name) });
    for (const call of [vault.unlock(passphrase), vault.list(), vault.remove('a'), vault.clear()]) {
      expect(await errorOf(call)).toMatchObject({ code: 'unavailable', retryable: false, details: { reason } });
    }
  });

  it('keeps nothing of a write that the browser refuses', async () => {
    const vault = await openVault();
    await vault.set('api-key', value);
    const put = vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(() => {
      throw new DOMException('no room', 'QuotaExceededError');
    });
    expect(await errorOf(vault.set('api-key', `${value}-2`))).toMatchObject({ details: { reason: 'vault_full' } });
    put.mockRestore();
    expect((await resolve(vault, 'api-key')).reveal()).toBe(value);
    expect(await vault.list()).toHaveLength(1);
  });
});

describe.skipIf(hasIndexedDb)('vaultSecrets without IndexedDB', () => {
  it('is unavailable, and says what is missing', async () => {
    const vault = vaultSecrets({ name: 'none' });
    for (const call of [vault.unlock(passphrase), vault.list(), vault.remove('a', '1'), vault.clear()]) {
      expect(await errorOf(call)).toMatchObject({ code: 'unavailable', details: { reason: 'vault_unavailable' } });
    }
    expect(await errorOf(resolve(vault, 'a'))).toMatchObject(locked);
  });
});
