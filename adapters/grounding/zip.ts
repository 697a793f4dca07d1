/** Reads ZIP archives (APPNOTE 6.3), as folders of code and office files are. */

import { PinnaceError } from '../../src/base/errors.ts';

/** The longest file that is unpacked: an archive of a megabyte may hold terabytes. */
const mostBytes = 16_777_216;

/** A file in an archive. Paths of folders end in `/`. */
export interface ZipEntry {
  readonly path: string;
  /** Its size in bytes, as the archive states it. `read` rejects for a file that is longer. */
  readonly size: number;
  readonly read: () => Promise<Uint8Array<ArrayBuffer>>;
}

interface Packed {
  readonly method: number;
  readonly packed: number;
  readonly size: number;
  readonly at: number;
  readonly encrypted: boolean;
}

/**
 * Lists the files of an archive. Nothing is unpacked before it is read.
 *
 * @throws PinnaceError `invalid_argument` with the reason `invalid_archive` for what is no archive; from `read`, for a file that is
 * damaged, encrypted, longer than 16 MiB, or packed otherwise than by deflate.
 */
export function openZip(archive: Uint8Array<ArrayBuffer>): ZipEntry[] {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  const end = endRecord(view);
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  return Array.from({ length: count }, () => {
    if (at + 46 > view.byteLength || view.getUint32(at, true) !== 0x02014b50) {
      throw malformed('its directory is damaged');
    }
    const [name, extra, comment] = [28, 30, 32].map((field) => view.getUint16(at + field, true)) as [
      number,
      number,
      number,
    ];
    const entry = {
      path: new TextDecoder().decode(archive.subarray(at + 46, at + 46 + name)).replaceAll('\\', '/'),
      method: view.getUint16(at + 10, true),
      packed: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      at: view.getUint32(at + 42, true),
      encrypted: (view.getUint16(at + 8, true) & 1) === 1,
    };
    at += 46 + name + extra + comment;
    return { path: entry.path, size: entry.size, read: () => unpack(archive, entry) };
  });
}

/** The record at the end, which a comment of up to 65,535 bytes may follow. */
function endRecord(view: DataView): number {
  for (let at = view.byteLength - 22; at >= Math.max(0, view.byteLength - 65_557); at--) {
    if (view.getUint32(at, true) === 0x06054b50) return at;
  }
  throw malformed('it is no ZIP archive');
}

async function unpack(
  archive: Uint8Array<ArrayBuffer>,
  { at, method, packed, size, encrypted }: Packed,
): Promise<Uint8Array<ArrayBuffer>> {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  if (at + 30 > view.byteLength || view.getUint32(at, true) !== 0x04034b50) throw malformed('a file in it is damaged');
  const from = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
  const bytes = archive.subarray(from, from + packed);
  if (encrypted || (method !== 0 && method !== 8)) {
    throw malformed('a file in it is encrypted, or packed in an unknown way');
  }
  if (size > mostBytes) throw malformed('a file in it is too long');
  if (method === 0) return bytes;
  const unpacked = new Uint8Array(size);
  let length = 0;
  try {
    for await (const chunk of new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))) {
      if (length + chunk.length > size) throw malformed('a file in it is longer than it says');
      unpacked.set(chunk, length);
      length += chunk.length;
    }
  } catch (cause) {
    if (cause instanceof PinnaceError) throw cause;
    throw malformed('a file in it is damaged', cause);
  }
  return unpacked.subarray(0, length);
}

function malformed(why: string, cause?: unknown): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot read the archive: ${why}`, {
    details: { reason: 'invalid_archive' },
    ...(cause !== undefined && { cause }),
  });
}
