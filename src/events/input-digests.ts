/** Keyed digests of inputs: equal inputs have equal digests, and a value cannot be found by guessing without the key. */

import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import type { Storage } from '../contracts/storage.ts';
import { hmacSha256Sync } from '../base/hash.ts';
import { untilAborted } from '../base/until-aborted.ts';

/** Returns the digest of a text as 16 hexadecimal digits. Digests of different tenants differ. */
export type DigestOf = (text: string, tenant: string) => string;

export interface InputDigests {
  /** `undefined` until the key is known. */
  readonly current: DigestOf | undefined;
  /** Waits for the first read of the key, but not for later ones. Returns `undefined` without the key; never rejects. */
  load(signal: AbortSignal): Promise<DigestOf | undefined>;
}

/** Where the key comes from. */
export interface InputDigestsOptions {
  /** Holds the key that all instances share. The first instance creates it. */
  readonly storage: Storage;
  /** 32 to 64 random bytes; when present, no key is stored. */
  readonly key?: Uint8Array | undefined;
}

const storageKey: Key = ['input-digest-key'];
const [minKeyBytes, maxKeyBytes] = [32, 64];

/** No digests, for runtimes whose events have no reader. */
export const noInputDigests: InputDigests = { current: undefined, load: () => Promise.resolve(undefined) };

/**
 * Returns the digests of a deployment.
 *
 * @throws PinnaceError `invalid_argument` with the reason `digest_key_length` for a key that is too short or too long.
 */
export function createInputDigests({ storage, key }: InputDigestsOptions): InputDigests {
  let current = key && digestOf(checked(key));
  let loading: Promise<void> | undefined;
  let attempted = false;
  const load = async (): Promise<void> => {
    try {
      current = digestOf(await storedKey(storage));
    } catch {
      // Events without digests are better than no events.
    }
    attempted = true;
    loading = undefined;
  };
  return {
    get current() {
      return current;
    },
    async load(signal) {
      if (current) return current;
      const isFirst = !attempted;
      const pending = loading ??= load();
      const waiting = { signal, action: 'read the key of digests' };
      if (isFirst) await untilAborted(() => pending, waiting).catch(() => undefined);
      return current;
    },
  };
}

function digestOf(key: Uint8Array): DigestOf {
  const hmac = hmacSha256Sync(key);
  return (text, tenant) => hmac(`${JSON.stringify(tenant)}\n${text}`).slice(0, 16);
}

/** Of instances that create the key at the same time, one writes it and the others read it. */
async function storedKey(storage: Storage): Promise<Uint8Array> {
  const found = await storage.get(storageKey);
  if (found) return checked(found.value);
  const value = crypto.getRandomValues(new Uint8Array(minKeyBytes));
  const result = await storage.commit([{ key: storageKey, value, ifVersion: null }]);
  return result.ok ? value : checked((await storage.get(storageKey))?.value);
}

function checked(key: unknown): Uint8Array {
  if (key instanceof Uint8Array && key.length >= minKeyBytes && key.length <= maxKeyBytes) return key.slice();
  const advice = `pass ${minKeyBytes} to ${maxKeyBytes} random bytes`;
  throw new PinnaceError('invalid_argument', `Cannot use the key of digests: its length is wrong; ${advice}`, {
    details: { reason: 'digest_key_length' },
  });
}
