/**
 * The keys of a vault. Secrets are encrypted with a data key. It is wrapped twice: by the browser's key, which no script can
 * export, and around that by a key that is derived from the passphrase. No script can read its bytes.
 */

import { PinnaceError } from '../../src/base/errors.ts';

export interface WrappedKey {
  /** Names the data key. */
  readonly kid: string;
  /** The browser's key: AES-GCM-256, not extractable. */
  readonly browserKey: CryptoKey;
  readonly salt: Uint8Array<ArrayBuffer>;
  readonly data: Uint8Array<ArrayBuffer>;
}

export interface DataKey {
  readonly kid: string;
  readonly key: CryptoKey;
}

/** The id and version of a secret. Its ciphertext can be decrypted only for them. */
export interface SecretSlot {
  readonly id: string;
  readonly version: string;
  readonly origins?: readonly string[] | undefined;
}

const iterations = 600_000;
const ivBytes = 12;

export async function createKey(passphrase: string): Promise<{ wrapped: WrappedKey; dataKey: DataKey }> {
  const kid = crypto.randomUUID();
  const [browserKey, extractable] = await Promise.all([
    generateKey(false, ['wrapKey', 'unwrapKey']),
    generateKey(true, ['encrypt', 'decrypt']),
  ]);
  const iv = random(ivBytes);
  const bound = await crypto.subtle.wrapKey('raw', extractable, browserKey, cipher(iv, ['vault-browser-v1', kid]));
  const inner = join(iv, bound);
  const wrapped = { kid, browserKey, ...await lockKey(kid, inner, passphrase) };
  return { wrapped, dataKey: { kid, key: await unwrap(wrapped, inner) } };
}

/**
 * Returns the data key.
 * @throws PinnaceError `forbidden` with the reason `wrong_passphrase`; `unavailable` with the reason `vault_key_lost` where the
 * browser's key is not the one that it was wrapped with.
 */
export async function openKey(wrapped: WrappedKey, passphrase: string): Promise<DataKey> {
  const inner = await unlockKey(wrapped, passphrase);
  return { kid: wrapped.kid, key: await unwrap(wrapped, inner) };
}

export async function rewrapKey(
  wrapped: WrappedKey,
  { current, next }: { readonly current: string; readonly next: string },
): Promise<WrappedKey> {
  const { kid, browserKey } = wrapped;
  const inner = await unlockKey(wrapped, current);
  return { kid, browserKey, ...await lockKey(kid, inner, next) };
}

/** Encrypts a value for its id and version, with a new IV. */
export async function seal({ key }: DataKey, place: SecretSlot, value: string): Promise<Uint8Array<ArrayBuffer>> {
  return await encrypt(key, new TextEncoder().encode(value), secretLabel(place));
}

/**
 * Decrypts a value that was encrypted for this id and version.
 * @throws PinnaceError `unavailable` with the reason `vault_tampered` for anything else.
 */
export async function unseal({ key }: DataKey, place: SecretSlot, data: Uint8Array<ArrayBuffer>): Promise<string> {
  try {
    return new TextDecoder().decode(await decrypt(key, data, secretLabel(place)));
  } catch {
    const why = 'what the vault holds was moved or altered; set it again';
    throw new PinnaceError('unavailable', `Cannot resolve secret "${place.id}": ${why}`, {
      retryable: false,
      details: { reason: 'vault_tampered' },
    });
  }
}

export function keyLost(): PinnaceError {
  const advice = 'its key is gone; unlock it again, or else clear it, and set the secrets again';
  return new PinnaceError('unavailable', `Cannot use the vault: ${advice}`, {
    retryable: false,
    details: { reason: 'vault_key_lost' },
  });
}

/** The origins belong to what is encrypted: who alters the row of a secret cannot send it elsewhere. */
function secretLabel({ id, version, origins }: SecretSlot): readonly string[] {
  return origins === undefined ? ['secret-v1', id, version] : ['secret-v2', id, version, ...origins];
}

async function lockKey(
  kid: string,
  inner: Uint8Array<ArrayBuffer>,
  passphrase: string,
): Promise<Pick<WrappedKey, 'salt' | 'data'>> {
  const salt = random(16);
  const data = await encrypt(await derive(passphrase, salt), inner, ['vault-passphrase-v1', kid]);
  return { salt, data };
}

async function unlockKey({ kid, salt, data }: WrappedKey, passphrase: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await decrypt(await derive(passphrase, salt), data, ['vault-passphrase-v1', kid]);
  } catch {
    throw new PinnaceError('forbidden', 'Cannot unlock the vault: the passphrase is wrong', {
      details: { reason: 'wrong_passphrase' },
    });
  }
}

async function unwrap({ kid, browserKey }: WrappedKey, inner: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const algorithm = cipher(inner.subarray(0, ivBytes), ['vault-browser-v1', kid]);
  const bound = inner.subarray(ivBytes);
  try {
    return await crypto.subtle.unwrapKey('raw', bound, browserKey, algorithm, 'AES-GCM', false, ['encrypt', 'decrypt']);
  } catch {
    throw keyLost();
  }
}

/** One text, however a keyboard composes it. */
async function derive(passphrase: string, salt: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const bytes = new TextEncoder().encode(passphrase.normalize('NFKC'));
  const material = await crypto.subtle.importKey('raw', bytes, 'PBKDF2', false, ['deriveKey']);
  const algorithm = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations };
  return await crypto.subtle.deriveKey(algorithm, material, { name: 'AES-GCM', length: 256 }, false, [
    'encrypt',
    'decrypt',
  ]);
}

async function generateKey(extractable: boolean, usages: KeyUsage[]): Promise<CryptoKey> {
  return await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, extractable, usages);
}

async function encrypt(
  key: CryptoKey,
  bytes: Uint8Array<ArrayBuffer>,
  label: readonly string[],
): Promise<Uint8Array<ArrayBuffer>> {
  const iv = random(ivBytes);
  return join(iv, await crypto.subtle.encrypt(cipher(iv, label), key, bytes));
}

async function decrypt(
  key: CryptoKey,
  data: Uint8Array<ArrayBuffer>,
  label: readonly string[],
): Promise<Uint8Array<ArrayBuffer>> {
  const algorithm = cipher(data.subarray(0, ivBytes), label);
  return new Uint8Array(await crypto.subtle.decrypt(algorithm, key, data.subarray(ivBytes)));
}

function cipher(iv: Uint8Array<ArrayBuffer>, label: readonly string[]): AesGcmParams {
  return { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(JSON.stringify(label)) };
}

function join(iv: Uint8Array<ArrayBuffer>, rest: ArrayBuffer): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(iv.length + rest.byteLength);
  bytes.set(iv);
  bytes.set(new Uint8Array(rest), iv.length);
  return bytes;
}

function random(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length));
}
