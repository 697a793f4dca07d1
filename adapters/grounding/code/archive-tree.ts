/** Reads a ZIP archive (APPNOTE 6.3) as a repository: a file dropped on the page, or a download from a code host. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { type CodeFile, type CodeTree, isWanted } from './tree.ts';

/** The longest file that is unpacked: an archive of a megabyte may hold terabytes. */
const mostBytes = 16_777_216;

/**
 * Returns the archive's files. A folder that all of them are in is left out of their paths. Nothing is unpacked before it is read.
 *
 * Opening throws `invalid_argument` for what is no archive; reading, for a file that is damaged, encrypted or packed otherwise than
 * by deflate.
 */
export function archiveTree(archive: Uint8Array<ArrayBuffer>, { repo }: { readonly repo: string }): CodeTree {
  return () =>
    Promise.resolve().then(() => {
      const entries = entriesOf(archive).filter(({ path }) => !path.endsWith('/'));
      const root = commonRoot(entries.map(({ path }) => path));
      return { repo, files: filesOf(archive, entries, root) };
    });
}

interface ZipEntry {
  readonly path: string;
  readonly method: number;
  readonly packed: number;
  readonly size: number;
  readonly at: number;
  readonly encrypted: boolean;
}

async function* filesOf(
  archive: Uint8Array<ArrayBuffer>,
  entries: readonly ZipEntry[],
  root: string,
): AsyncGenerator<CodeFile> {
  for (const entry of entries.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const path = entry.path.slice(root.length);
    if (!isWanted(path) || path.split('/').includes('..')) continue;
    yield { path, size: entry.size, read: () => unpack(archive, entry) };
  }
}

function entriesOf(archive: Uint8Array<ArrayBuffer>): ZipEntry[] {
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
    return entry;
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
  { at, method, packed, size, encrypted }: ZipEntry,
): Promise<Uint8Array> {
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

function commonRoot(paths: readonly string[]): string {
  const root = paths[0]?.slice(0, paths[0].indexOf('/') + 1) ?? '';
  return paths.every((path) => path.startsWith(root)) ? root : '';
}

function malformed(why: string, cause?: unknown): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot read the archive: ${why}`, {
    details: { reason: 'invalid_archive' },
    ...(cause !== undefined && { cause }),
  });
}
