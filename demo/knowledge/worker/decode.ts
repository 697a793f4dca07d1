/** The text of a file, in the encodings that text files have. */

import { PinnaceError } from '../../../src/index.ts';

/**
 * Returns the text: of UTF-8, of UTF-16 with its mark, else of Windows-1252.
 *
 * @throws PinnaceError `invalid_argument` for what is no text.
 */
export function decodeText(bytes: Uint8Array<ArrayBuffer>): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (bytes.subarray(0, 8_000).includes(0)) {
    throw new PinnaceError('invalid_argument', 'Cannot read the file: it is not text', {
      details: { reason: 'no_text' },
    });
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
