/** Encodes keys for Deno KV. */

/**
 * Packs the bytes of a key into bytes from 1 to 128, seven bits each, that sort in the same way. Deno KV doubles every zero and
 * takes 2,048 bytes: packed, the longest key takes 1,756, whatever it holds.
 */
export function packKey(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const packed = new Uint8Array(Math.ceil(bytes.length * 8 / 7));
  let bits = 0;
  let pending = 0;
  let at = 0;
  for (const byte of bytes) {
    bits = (bits << 8 | byte) & 0x3fff; // at most six bits were pending
    for (pending += 8; pending >= 7; pending -= 7) packed[at++] = (bits >> pending - 7 & 127) + 1;
  }
  if (pending > 0) packed[at] = (bits << 7 - pending & 127) + 1;
  return packed;
}
