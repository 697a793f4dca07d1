/** Reads a ZIP archive as a repository: a file dropped on the page, or a download from a code host. */

import { checkNames, optional } from '../../../src/base/check-options.ts';
import { openZip, type ZipEntry } from '../zip.ts';
import { type CodeFile, type CodeTree, isWanted } from './tree.ts';

export type { CodeTree } from './tree.ts';

/**
 * Returns the archive's files. A folder that all of them are in is left out of their paths. Nothing is unpacked before it is read.
 *
 * Opening throws `invalid_argument` for what is no archive; reading, for a file that is damaged, encrypted, longer than 16 MiB, or
 * packed otherwise than by deflate.
 */
export function archiveTree(archive: Uint8Array<ArrayBuffer>, options: { readonly repo: string }): CodeTree {
  checkNames('read the repository', options, optional('repo'));
  const { repo } = options;
  return async () => {
    const entries = (await openZip(archive)).filter(({ path }) => !path.endsWith('/'));
    const root = commonRoot(entries.map(({ path }) => path));
    return { repo, files: filesOf(entries, root) };
  };
}

async function* filesOf(entries: readonly ZipEntry[], root: string): AsyncGenerator<CodeFile> {
  for (const entry of entries.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const path = entry.path.slice(root.length);
    if (!isWanted(path) || path.split('/').includes('..')) continue;
    yield { path, size: entry.size, read: entry.read };
  }
}

function commonRoot(paths: readonly string[]): string {
  const root = paths[0]?.slice(0, paths[0].indexOf('/') + 1) ?? '';
  return paths.every((path) => path.startsWith(root)) ? root : '';
}
