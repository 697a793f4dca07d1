/** Seals what storage must not show: AES-GCM-256 with a key of the secret source, bound to the record that holds it. */

import { PinnaceError } from '../../base/errors.ts';
import { canonicalJson } from '../../base/json.ts';
import type { SecretRef } from '../../base/schema.ts';
import { requireDestination } from '../../base/secret-origins.ts';
import type { SecretSource } from '../../contracts/secret-source.ts';
import { fromBase64, toBase64 } from '../../base/base64.ts';

/** A sealed value, as JSON. */
export interface Sealed {
  /** The digest of the key, shortened. */
  readonly kid: string;
  /** The version under which the secret source has the key. */
  readonly keyVersion: string;
  /** Base64. */
  readonly iv: string;
  readonly data: string;
}

/** Seals and opens values. */
export interface Seals {
  /** `bound`: facts that `open` must be given again, such as the key of the record; they are not part of the result. */
  seal(value: unknown, bound: readonly unknown[]): Promise<Sealed>;
  /** Returns `undefined` for a value that was changed, moved to another record, or sealed with a key that is gone. */
  open(sealed: Sealed, bound: readonly unknown[]): Promise<unknown>;
}

/** Where the key is, and for which tenant it is resolved. */
export interface SealsOptions {
  readonly secrets: SecretSource | undefined;
  /** 32 random bytes as base64url, bound to `code`. A new version seals; earlier ones still open. */
  readonly sealKey: SecretRef;
  readonly tenant: string;
  readonly signal: AbortSignal;
}

/** Creates the seals of a tenant. */
export function createSeals(options: SealsOptions): Seals {
  return {
    async seal(value, bound) {
      const { key, kid, keyVersion } = await keyOf(options.sealKey, options);
      const iv = crypto.getRandomValues(new Uint8Array(12));
      const data = new TextEncoder().encode(JSON.stringify(value));
      const sealed = await crypto.subtle.encrypt({ name, iv, additionalData: toBytes([kid, ...bound]) }, key, data);
      return { kid, keyVersion, iv: toBase64(iv), data: toBase64(new Uint8Array(sealed)) };
    },
    async open({ kid, keyVersion, iv, data }, bound) {
      const found = await keyNamed({ kid, keyVersion }, options);
      if (found === undefined) return undefined;
      try {
        const facts = { name, iv: bytesOf(iv), additionalData: toBytes([kid, ...bound]) };
        const opened = await crypto.subtle.decrypt(facts, found, bytesOf(data));
        return JSON.parse(new TextDecoder().decode(opened));
      } catch {
        return undefined;
      }
    },
  };
}

const name = 'AES-GCM';
function toBytes(bound: readonly unknown[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`pinnace/seal/v1\n${canonicalJson(bound)}`);
}

/** The one place that reveals the key, to the platform's cryptography. */
async function keyOf(
  ref: SecretRef,
  { secrets, tenant, signal }: SealsOptions,
): Promise<{ readonly key: CryptoKey; readonly kid: string; readonly keyVersion: string }> {
  if (secrets === undefined) throw unusableKey(ref.id, 'the composition has no secrets');
  const secret = requireDestination(await secrets.resolve(ref, { scope: { tenant, agentId: '' }, signal }), undefined);
  const bytes = bytesOf(secret.reveal());
  if (bytes.length !== 32) throw unusableKey(ref.id, 'it must be 32 bytes as base64url');
  const key = await crypto.subtle.importKey('raw', bytes, name, false, ['encrypt', 'decrypt']);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return { key, kid: toBase64(digest.subarray(0, 9)), keyVersion: secret.version };
}

/** The key that sealed a value: the current one, or an earlier one of the source. */
async function keyNamed(
  { kid, keyVersion }: Pick<Sealed, 'kid' | 'keyVersion'>,
  options: SealsOptions,
): Promise<CryptoKey | undefined> {
  const current = await keyOf(options.sealKey, options);
  if (current.kid === kid) return current.key;
  try {
    const earlier = await keyOf({ id: options.sealKey.id, version: keyVersion }, options);
    return earlier.kid === kid ? earlier.key : undefined;
  } catch (error) {
    if (error instanceof PinnaceError && error.code === 'not_found') return undefined; // it was removed
    throw error;
  }
}

/** Empty for what is not base64. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return fromBase64(text.trim().replaceAll('-', '+').replaceAll('_', '/')) ?? new Uint8Array();
}

function unusableKey(id: string, why: string): PinnaceError {
  return new PinnaceError('unavailable', `Cannot seal with the secret "${id}": ${why}`, {
    retryable: false,
    details: { reason: 'seal_key_unusable', secret: id },
  });
}
