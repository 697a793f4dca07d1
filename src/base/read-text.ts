/** Reads a body as text. */

import { yieldTurn } from './yield-turn.ts';

/** So many pieces are taken in one turn: a hostile server sends single bytes. */
const piecesPerTurn = 1_024;

/**
 * Returns the text of a body, or the error that broke it: `Response.text()` puts another in its place in some browsers. However small
 * its pieces are, they are held in one piece of memory, and others have their turns.
 */
export async function readText(body: ReadableStream<Uint8Array<ArrayBuffer>> | null): Promise<string> {
  if (body === null) return '';
  const reader = body.getReader();
  let bytes = new Uint8Array(4_096);
  let length = 0;
  for (let pieces = 1;; pieces++) {
    const { done, value } = await reader.read();
    if (done) return new TextDecoder().decode(bytes.subarray(0, length));
    if (length + value.length > bytes.length) {
      const larger = new Uint8Array(Math.max(2 * bytes.length, length + value.length));
      larger.set(bytes.subarray(0, length));
      bytes = larger;
    }
    bytes.set(value, length);
    length += value.length;
    if (pieces % piecesPerTurn === 0) await yieldTurn();
  }
}
