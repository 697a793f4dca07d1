/** Reads the text or the bytes of a body, in one piece of memory. */

import { PinnaceError } from './errors.ts';
import { yieldTurn } from './turns.ts';

/** The pieces of an answer before others have their turn, and those that it may have besides one for each 16 bytes: each costs time. */
const [piecesPerTurn, freePieces, bytesPerPiece] = [1_024, 4_096, 16];

/** @throws PinnaceError `unavailable` with the reason `body_in_pieces`: hostile servers send single bytes. */
export function requirePieces(pieces: number, length: number): void {
  if (pieces <= freePieces + length / bytesPerPiece) return;
  const details = { reason: 'body_in_pieces' };
  throw new PinnaceError('unavailable', 'Cannot use the answer: its pieces are too small', {
    retryable: false,
    details,
  });
}

type Body = ReadableStream<Uint8Array<ArrayBuffer>> | null;
/** Returns the text of a body, or the error that broke it: `Response.text()` puts another in its place in some browsers. */
export async function readText(body: Body): Promise<string> {
  return new TextDecoder().decode(await readBytes(body));
}

/** Returns the text of an answer in the encoding that it, or the page itself, declares where it is not UTF-8. */
export async function readAnswerText({ body, headers }: Pick<Response, 'body' | 'headers'>): Promise<string> {
  const bytes = await readBytes(body);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const [first = 0, second = 0] = bytes;
    const wide = byteOrders[first * 256 + second];
    const declared = wide ? new TextDecoder(wide) : declaredEncoding(bytes, headers.get('content-type') ?? '');
    return (declared ?? new TextDecoder()).decode(bytes);
  }
}

const byteOrders: Readonly<Record<number, string>> = { 0xfffe: 'utf-16le', 0xfeff: 'utf-16be' };

/** What the media type, the page or the XML declares, where the platform knows it. */
export function declaredEncoding(bytes: Uint8Array, type = ''): TextDecoder | undefined {
  const head = new TextDecoder('windows-1252').decode(bytes.subarray(0, 4_096));
  const label = /charset\s*=\s*["']?([\w.:-]+)/i.exec(type)?.[1] ??
    /<meta\s[^>]*charset\s*=\s*["']?([\w.:-]+)/i.exec(head)?.[1] ??
    /^<\?xml\s[^>]*encoding\s*=\s*["']([\w.:-]+)/.exec(head)?.[1];
  if (label === undefined || /^utf-?8$/i.test(label)) return undefined;
  try {
    return new TextDecoder(label);
  } catch {
    return undefined; // no encoding of the platform
  }
}

/** Returns the bytes of a body in one piece of memory; more than `maxBytes`, as soon as there are more. Others have their turns. */
export async function readBytes(body: Body, maxBytes = Infinity): Promise<Uint8Array<ArrayBuffer>> {
  const reader = (body ?? new Blob().stream()).getReader();
  let [bytes, length] = [new Uint8Array(4_096), 0];
  try {
    for (let pieces = 1; length <= maxBytes; pieces++) {
      const { done, value } = await reader.read();
      if (done) break;
      const needed = length + value.length;
      requirePieces(pieces, needed);
      if (needed > bytes.length) {
        const larger = new Uint8Array(Math.max(2 * bytes.length, needed));
        larger.set(bytes.subarray(0, length));
        bytes = larger;
      }
      bytes.set(value, length);
      length = needed;
      if (pieces % piecesPerTurn === 0) await yieldTurn();
    }
    return bytes.slice(0, length); // what is stored is not larger than the body
  } finally {
    void reader.cancel().catch(() => undefined); // a body that has ended is not hurt by it
  }
}
