/** How a storage key becomes bytes that sort as the key does, the same for every adapter. */

import { PinnaceError } from './errors.ts';

/** The name of one stored value: text and finite numbers, from the general to the particular. */
export type Key = readonly (string | number)[];

/** The most bytes that an encoded key may have; Deno KV refuses keys of more than 2,048 with its own framing. */
export const maxKeyBytes = 1536;

const numberTag = 1;
const textTag = 2;

/**
 * Encodes a key so that the bytes sort like the key: numbers before text, numbers by size, text by code point, a prefix before its
 * extensions. The bytes from a prefix to {@link afterPrefix} are those of the keys with this prefix only.
 *
 * @throws PinnaceError `invalid_argument` for an empty key, a part that is neither well-formed text nor a finite number, or a key
 * of more than {@link maxKeyBytes} bytes.
 */
export function encodeKey(key: Key): Uint8Array<ArrayBuffer> {
  if (key.length === 0) throw invalidKey('it has no parts');
  const bytes = encodeParts(key);
  if (bytes.length > maxKeyBytes) throw invalidKey(`it takes ${bytes.length} bytes, ${maxKeyBytes} are allowed`);
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

function encodeParts(key: Key): Uint8Array<ArrayBuffer> {
  const out: number[] = [];
  for (const part of key) {
    if (typeof part === 'number') encodeNumber(part, out);
    else encodeText(part, out);
  }
  return new Uint8Array(out);
}

/** An IEEE 754 double sorts as bytes when its sign bit is flipped, or all its bits where it is negative. */
function encodeNumber(part: number, out: number[]): void {
  if (!Number.isFinite(part)) throw invalidKey('one of its numbers is not finite');
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, part === 0 ? 0 : part); // no negative zero
  const flip = part < 0 ? 255 : 0;
  out.push(numberTag);
  for (let i = 0; i < 8; i++) out.push(view.getUint8(i) ^ (i === 0 && flip === 0 ? 128 : flip));
}

/** UTF-8, ended by a zero; a zero inside becomes 0 255, which sorts after the end. */
function encodeText(part: unknown, out: number[]): void {
  if (typeof part !== 'string') throw invalidKey('its parts must be text or numbers');
  out.push(textTag);
  if (isPlain(part)) { for (let i = 0; i < part.length; i++) out.push(part.charCodeAt(i)); }
  else encodeAnyText(part, out);
  out.push(0);
}

/** Whether the text is its own UTF-8 and holds no zero, as nearly every one: that takes a third of the time. */
function isPlain(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0 || code > 127) return false;
  }
  return true;
}

function encodeAnyText(text: string, out: number[]): void {
  if (!text.isWellFormed()) throw invalidKey('its text holds half of a surrogate pair');
  for (const byte of new TextEncoder().encode(text)) {
    out.push(byte);
    if (byte === 0) out.push(255);
  }
}

function invalidKey(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot use a storage key: ${why}`, {
    details: { reason: 'invalid_key' },
  });
}
