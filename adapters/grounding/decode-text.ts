/** The text of a file, in the encodings that text files have. */

import { PinnaceError } from '../../src/base/errors.ts';
import { declaredEncoding } from '../../src/base/read-text.ts';
import { detectEncoding } from './detect-encoding.ts';

/** Options of {@link decodeText}. */
export interface DecodeOptions {
  /** The media type of the file: its parameter `charset` counts where the text is not UTF-8. */
  readonly type?: string | undefined;
}

/**
 * Returns the text: of UTF-8 and UTF-16 by their marks, of UTF-16 without one by its zeros, of UTF-8 with some broken bytes, which
 * become U+FFFD, else by what the media type or the page itself declares, else of the older encoding whose letters fit best:
 * of Latin, Cyrillic, Greek, Hebrew, Arabic, Thai, Japanese, Chinese or Korean.
 * @throws PinnaceError `invalid_argument` with the reason `no_text` for what is no text.
 */
export function decodeText(bytes: Uint8Array<ArrayBuffer>, { type }: DecodeOptions = {}): string {
  return decode(withoutPadding(bytes), type);
}

/** A file that was cut off by a crash may end with zeros. */
function withoutPadding(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return end === 0 || bytes.length - end < 4 || bytes.subarray(0, end).includes(0) ? bytes : bytes.subarray(0, end);
}

function decode(bytes: Uint8Array<ArrayBuffer>, type: string | undefined): string {
  const order = [...bytes.subarray(0, 4)].join(' ');
  if (order === '255 254 0 0' || order === '0 0 254 255') return decodeUtf32(bytes, order.startsWith('255'));
  const wide = wideEncodingOf(bytes);
  if (wide) return new TextDecoder(wide).decode(bytes);
  if (bytes.subarray(0, 8_000).includes(0)) throw noText();
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\x1b$') ? new TextDecoder(detectEncoding(bytes)).decode(bytes) : text;
  } catch {
    return decodeBroken(bytes, type);
  }
}

/** UTF-32 with its mark, which no platform decodes. */
function decodeUtf32({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>, isLittle: boolean): string {
  const view = new DataView(buffer, byteOffset, byteLength & ~3);
  const texts: string[] = [];
  for (let at = 4; at < view.byteLength; at += 4) {
    const code = view.getUint32(at, isLittle);
    texts.push(code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd');
  }
  return texts.join('').toWellFormed();
}

/** A few broken bytes among the letters of UTF-8 do not make it another encoding. */
function decodeBroken(bytes: Uint8Array<ArrayBuffer>, type: string | undefined): string {
  const declared = declaredEncoding(bytes, type);
  if (declared) return declared.decode(bytes);
  const text = new TextDecoder().decode(bytes);
  const broken = countOf(text, /\ufffd/g);
  const whole = countOf(text, /[\u0080-\ufffc]|[\u{10000}-\u{10ffff}]/gu);
  return broken <= whole ? text : new TextDecoder(detectEncoding(bytes)).decode(bytes);
}

const sampleLength = 4_096;

/** UTF-16 by its mark; without one, Latin text has a zero in every other byte. */
function wideEncodingOf(bytes: Uint8Array<ArrayBuffer>): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const sample = bytes.subarray(0, sampleLength & ~1);
  const zeros = [0, 0];
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at & 1]!++;
  const [even = 0, odd = 0] = zeros;
  const most = sample.length / 2;
  const found = odd > most * 0.4 && even < most * 0.05
    ? 'utf-16le'
    : even > most * 0.4 && odd < most * 0.05
    ? 'utf-16be'
    : undefined;
  const isText = found && !/(?!\s|[\u0080-\u009f])[\p{Cc}\ufffe\uffff]/u.test(new TextDecoder(found).decode(sample));
  return isText ? found : undefined; // numbers of two bytes
}

function countOf(text: string, pattern: RegExp): number {
  let count = 0;
  for (const _ of text.matchAll(pattern)) count++;
  return count;
}

function noText(): PinnaceError {
  return new PinnaceError('invalid_argument', 'Cannot read the file: it is not text', {
    details: { reason: 'no_text' },
  });
}
