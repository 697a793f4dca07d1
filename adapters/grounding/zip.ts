/** Reads ZIP archives with unzipit, ZIP64 included, as folders of code and office files are. */

import { unzipRaw, type ZipEntry as PackedEntry } from 'unzipit';
import { PinnaceError } from '../../src/base/errors.ts';

/** The longest file that is unpacked: an archive of a megabyte may hold terabytes. */
const mostBytes = 16_777_216;

export interface ZipEntry {
  readonly path: string;
  /** Its size in bytes, as the archive states it. `read` rejects for a file that is longer. */
  readonly size: number;
  readonly read: () => Promise<Uint8Array<ArrayBuffer>>;
}

/**
 * Lists the files of an archive. Nothing is unpacked before it is read.
 * @throws PinnaceError `invalid_argument` with the reason `invalid_archive` for what is no archive; from `read`, for a file that is
 * damaged, encrypted, longer than 16 MiB, or packed otherwise than by deflate.
 */
export async function openZip(archive: Uint8Array<ArrayBuffer>): Promise<ZipEntry[]> {
  if (archive.length < 22) throw malformed('it is no ZIP archive');
  try {
    const { entries } = await unzipRaw(withoutTrail(archive));
    return entries.map((entry) => ({
      path: entry.name.replaceAll('\\', '/'),
      size: entry.size,
      read: () => unpack(entry),
    }));
  } catch (cause) {
    throw malformed('it is no ZIP archive, or its directory is damaged', cause);
  }
}

/** Returns the archive without what some programs and transfers leave behind its end, which other readers ignore. */
function withoutTrail(archive: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  for (let at = archive.length - 22, least = Math.max(0, at - longestTrail); at >= least; at--) {
    if (view.getUint32(at, true) !== endOfDirectory) continue;
    const end = at + 22 + view.getUint16(at + 20, true); // with its comment
    return end < archive.length ? archive.subarray(0, end) : archive;
  }
  return archive;
}

const endOfDirectory = 0x06054b50;
const longestTrail = 131_072;

/** Unpacks as it is read: what is longer than it says ends there. */
async function unpack(entry: PackedEntry): Promise<Uint8Array<ArrayBuffer>> {
  const { size, name } = entry;
  if (entry.encrypted || (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)) {
    throw malformed(`"${name}" in it is encrypted, or packed in an unknown way`);
  }
  if (size > mostBytes) throw malformed(`"${name}" in it is longer than ${mostBytes / 1_048_576} MiB`);
  const unpacked = new Uint8Array(size);
  let length = 0;
  try {
    for await (const chunk of await entry.stream()) {
      unpacked.set(chunk, length);
      length += chunk.length;
    }
  } catch (cause) {
    throw malformed(`"${name}" in it is damaged`, cause);
  }
  return unpacked.subarray(0, length);
}

function malformed(why: string, cause?: unknown): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot read the archive: ${why}`, {
    details: { reason: 'invalid_archive' },
    ...(cause !== undefined && { cause }),
  });
}
