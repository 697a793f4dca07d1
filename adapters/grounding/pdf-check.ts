/** What a PDF may not be before a reader sees it: encrypted, or packed so that some hundred bytes become gigabytes. */

import { PinnaceError } from '../../src/base/errors.ts';
import type { Turns } from '../../src/base/turns.ts';

/** The longest stream of a file when it is unpacked: pdf.js has no limit. */
const mostBytes = 67_108_864;
/** What all streams may unpack to: images count, which are never unpacked for their text. */
const mostInAll = 1_073_741_824;
/** Filters that unpack, up to so many times their size: those of Flate are tried, what is packed in the others is bounded. */
const mostRatio = 2_700;
/** Streams within streams. */
const mostLevels = 4;

/**
 * @throws PinnaceError `invalid_argument` with the reason `invalid_document` for no PDF or one that unpacks to too much, and
 * `unsupported_type` for an encrypted one.
 */
export async function checkPdf(file: Uint8Array<ArrayBuffer>, turns: Turns): Promise<void> {
  const text = new TextDecoder('latin1').decode(file); // windows-1252: one character for each byte
  if (!text.slice(0, 1_024).includes('%PDF-')) throw refused('invalid_document', 'it is no PDF');
  if (/\/Encrypt(?:\s+\d+\s+\d+\s+R|\s*<<)/.test(text)) {
    throw refused('unsupported_type', 'it is encrypted; save it without a password');
  }
  const total = { left: mostInAll };
  for (let at = text.indexOf('stream'); at >= 0; at = text.indexOf('stream', at + 6)) {
    await turns.next();
    if (text.startsWith('end', at - 3)) continue;
    const start = at + (text.startsWith('\r\n', at + 6) ? 8 : 7);
    const before = text.slice(Math.max(0, at - 4_096), at);
    const dictionary = before.slice(Math.max(0, before.lastIndexOf('obj')));
    const length = Number(/\/Length\s+(\d+)(?!\s+\d+\s+R)/.exec(dictionary)?.[1] ?? 0);
    const end = Math.max(start + length, text.indexOf('endstream', start));
    await checkStream({ file, start, end, dictionary }, total);
  }
}

/** A stream that starts and seems to end here; its own data say where a packed one ends. */
interface PackedStream {
  readonly file: Uint8Array<ArrayBuffer>;
  readonly start: number;
  readonly end: number;
  readonly dictionary: string;
}

async function checkStream(stream: PackedStream, total: { left: number }): Promise<void> {
  const { file, start, end, dictionary } = stream;
  if (/\/(?:LZWDecode|LZW|RunLengthDecode|RL)\b/.test(dictionary) && (end - start) * mostRatio > mostBytes) {
    throw tooMuch(mostBytes);
  }
  let bytes = file.subarray(start);
  if (/\/(?:ASCII85Decode|A85)\b/.test(dictionary)) bytes = fromAscii85(file.subarray(start, end));
  else if (/\/(?:ASCIIHexDecode|AHx)\b/.test(dictionary)) bytes = fromHex(file.subarray(start, end));
  const given = file.subarray(start, end);
  for (let level = 0; isZlib(bytes); level++) {
    if (level === mostLevels) throw tooMuch(mostBytes);
    const { left } = total;
    const isGiven = level === 0 && bytes.byteOffset === given.byteOffset && isZlib(given);
    const whole = await inflate(isGiven ? given : bytes, total);
    if (whole.isDamaged) total.left = left;
    bytes = whole.isDamaged ? (await inflate(bytes, total, finePieces)).bytes : whole.bytes;
  }
}

/** The two bytes that start a zlib stream (RFC 1950). */
function isZlib([first = 0, second = 0]: Uint8Array): boolean {
  return (first & 15) === 8 && first >> 4 <= 7 && (first * 256 + second) % 31 === 0;
}

/** Unpacks up to the limits. What is damaged or cut off is unpacked as far as it can be, as readers do. */
async function inflate(
  bytes: Uint8Array<ArrayBuffer>,
  total: { left: number },
  pieceAt: (at: number) => number = () => 16_384,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly isDamaged: boolean }> {
  let isDamaged = false;
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const reader = inChunks(bytes, pieceAt).pipeThrough(new DecompressionStream('deflate')).getReader();
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      length += chunk.value.length;
      total.left -= chunk.value.length;
      if (length > mostBytes) throw tooMuch(mostBytes);
      if (total.left < 0) throw tooMuch(mostInAll);
      if (parts.length < 2 || isZlib(startOf(parts))) parts.push(chunk.value); // only what is packed again is looked at again
    }
  } catch (error) {
    if (error instanceof PinnaceError) throw error;
    isDamaged = true;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  return {
    bytes: isZlib(startOf(parts)) ? new Uint8Array(await new Blob(parts).arrayBuffer()) : new Uint8Array(),
    isDamaged,
  };
}

function startOf([first, second]: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from([...first?.subarray(0, 2) ?? [], ...second?.subarray(0, 2) ?? []]);
}

/** Deno gives nothing of the piece in which a stream is damaged, or ends before the piece does. */
function finePieces(at: number): number {
  return at < 2_048 ? 1 : at < 65_536 ? 64 : 16_384;
}

function inChunks(
  bytes: Uint8Array<ArrayBuffer>,
  pieceAt: (at: number) => number,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.slice(at, at += pieceAt(at)));
    },
  }, { highWaterMark: 0 });
}

function fromHex(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const digits = new TextDecoder().decode(bytes).split('>')[0]!.replace(/[^0-9a-f]/gi, '');
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** ASCII base 85 (ISO 32000-1, 7.4.3): five characters for four bytes, `z` for four zeros. */
function fromAscii85(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const decoded = new Uint8Array(bytes.length * 4 + 4);
  let [length, value, count] = [0, 0, 0];
  const write = (size: number): void => {
    for (let i = 0; i < size; i++) decoded[length++] = (value / 256 ** (3 - i)) & 255;
    [value, count] = [0, 0];
  };
  for (const code of bytes) {
    if (code === 0x7e) break; // the end
    if (code === 0x7a && count === 0) length += 4;
    if (code < 0x21 || code > 0x75) continue;
    value = value * 85 + code - 0x21;
    if (++count === 5) write(4);
  }
  if (count > 1) {
    const size = count - 1;
    for (; count < 5; count++) value = value * 85 + 84;
    write(size);
  }
  return decoded.slice(0, length);
}

function tooMuch(most: number): PinnaceError {
  return refused('invalid_document', `it unpacks to more than ${most / 1_048_576} MiB`);
}

function refused(reason: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot read the PDF: ${why}`, { details: { reason } });
}
