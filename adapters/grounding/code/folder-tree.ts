/** A folder of this machine as a repository, on Node and Deno. */

import { checkNames, optional } from '../../../src/base/check-options.ts';
import type { promises } from 'node:fs';
import { PinnaceError } from '../../../src/base/errors.ts';
import { type CodeFile, type CodeTree, isWanted } from './tree.ts';

export type { CodeTree } from './tree.ts';

type Files = Pick<typeof promises, 'readdir' | 'readFile' | 'stat'>;

/**
 * Returns the folder's files as they are when the repository is opened. Links are not followed, and what is hidden or was installed
 * is left out. Opening throws `unavailable` on a platform without files, as in a browser.
 */
export function folderTree(folder: string, options: { readonly repo: string }): CodeTree {
  checkNames('read the repository', options, optional('repo'));
  const { repo } = options;
  return async (signal) => ({ repo, files: walk(await loadFiles(), { folder, prefix: '', signal }) });
}

interface Place {
  readonly folder: string;
  readonly prefix: string;
  readonly signal: AbortSignal;
}

async function* walk(files: Files, { folder, prefix, signal }: Place): AsyncGenerator<CodeFile> {
  const entries = await files.readdir(folder, { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    signal.throwIfAborted();
    const [place, path] = [`${folder}/${entry.name}`, `${prefix}${entry.name}`];
    if (!isWanted(path)) continue;
    if (entry.isDirectory()) yield* walk(files, { folder: place, prefix: `${path}/`, signal });
    else if (entry.isFile()) {
      yield { path, size: (await files.stat(place)).size, read: () => files.readFile(place, { signal }) };
    }
  }
}

async function loadFiles(): Promise<Files> {
  try {
    const files = await import('node:fs/promises');
    if (typeof files.readdir === 'function') return files; // a bundler may put an empty module in its place
  } catch {
    // Reported below.
  }
  throw new PinnaceError('unavailable', 'Cannot read the folder: there are no files on this platform');
}
