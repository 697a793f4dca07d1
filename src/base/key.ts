/** How a storage key becomes bytes that sort as the key does, the same for every adapter. */

import { PinnaceError } from './errors.ts';

/** The name of one stored value: text and finite numbers, from the general to the particular. */
export type Key = readonly (string | number)[];

/** The most bytes that an encoded key may have; Deno KV refuses keys of more than 2,048 with its own framing. */
export const maxKeyBytes = 1536;

const numberTag = '\x01';
const textTag = '\x02';

/**
 * Encodes a key so that the bytes sort like the key: numbers before text, numbers by size, text by code point, a prefix before its
 * extensions. The bytes from a prefix to {@link afterPrefix} are those of the keys with this prefix only.
 *
 * @throws PinnaceError `invalid_argument` for an empty key, a part that is neither well-formed text nor a finite number, or a key
 * of more than {@link maxKeyBytes} bytes.
 */
export function encodeKey(key: Key): Uint8Array<ArrayBuffer> {
  return keyBytes(keyText(key));
}

/**
 * Encodes a key as text with one character per byte. It sorts as {@link encodeKey} does, and is a key of a `Map`.
 *
 * @throws PinnaceError as {@link encodeKey}.
 */
export function keyText(key: Key): string {
  if (key.length === 0) throw invalidKey('it has no parts');
  let text = '';
  for (const part of key) text += typeof part === 'number' ? encodeNumber(part) : encodeText(part);
  if (text.length > maxKeyBytes) throw invalidKey(`it takes ${text.length} bytes, ${maxKeyBytes} are allowed`);
  return text;
}

export function keyBytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Encodes a prefix, which unlike a key may be empty: then every key starts with it. */
export function encodePrefix(prefix: Key): Uint8Array<ArrayBuffer> {
  return prefix.length === 0 ? new Uint8Array() : encodeKey(prefix);
}

/** The first bytes after all keys with this prefix: no part starts with a byte as high as 255. */
export function afterPrefix(prefix: Uint8Array): Uint8Array<ArrayBuffer> {
  const end = new Uint8Array(prefix.length + 1);
  end.set(prefix);
  end[prefix.length] = 255;
  return end;
}

const double = new DataView(new ArrayBuffer(8));

/** An IEEE 754 double sorts as bytes when its sign bit is flipped, or all its bits where it is negative. */
function encodeNumber(part: number): string {
  if (!Number.isFinite(part)) throw invalidKey('one of its numbers is not finite');
  double.setFloat64(0, part === 0 ? 0 : part); // no negative zero
  const flip = part < 0 ? 0xffff_ffff : 0;
  const [high, low] = [double.getUint32(0) ^ (flip === 0 ? 0x8000_0000 : flip), double.getUint32(4) ^ flip];
  return numberTag + String.fromCharCode(
    high >>> 24,
    (high >>> 16) & 255,
    (high >>> 8) & 255,
    high & 255,
    low >>> 24,
    (low >>> 16) & 255,
    (low >>> 8) & 255,
    low & 255,
  );
}

const ascii = /^[\0-\x7f]*$/;

/** UTF-8, ended by a zero; a zero inside becomes 0 255, which sorts after the end. */
function encodeText(part: unknown): string {
  if (typeof part !== 'string') throw invalidKey('its parts must be text or numbers');
  return `${textTag}${ascii.test(part) && !part.includes('\0') ? part : encodeAnyText(part)}\0`;
}

function encodeAnyText(part: string): string {
  if (!part.isWellFormed()) throw invalidKey('its text holds half of a surrogate pair');
  let text = '';
  for (const byte of new TextEncoder().encode(part)) text += byte === 0 ? '\0\xff' : String.fromCharCode(byte);
  return text;
}

function invalidKey(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot use a storage key: ${why}`, {
    details: { reason: 'invalid_key' },
  });
}
