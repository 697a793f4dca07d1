/** A folder of this machine as a repository, on Deno. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { type CodeFile, type CodeTree, isWanted } from './tree.ts';

/**
 * Returns the folder's files as they are when the repository is opened. Links are not followed, and what is hidden or was installed
 * is left out.
 */
export function folderTree(folder: string, { repo }: { readonly repo: string }): CodeTree {
  return (signal) => {
    if (!('Deno' in globalThis)) {
      return Promise.reject(
        new PinnaceError('unavailable', 'Cannot read the folder: there are no files on this platform'),
      );
    }
    return Promise.resolve({ repo, files: walk(folder, '', signal) });
  };
}

async function* walk(folder: string, prefix: string, signal: AbortSignal): AsyncGenerator<CodeFile> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  for (const { name, isFile, isDirectory } of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    signal.throwIfAborted();
    const [place, path] = [`${folder}/${name}`, `${prefix}${name}`];
    if (!isWanted(path)) continue;
    if (isDirectory) yield* walk(place, `${path}/`, signal);
    else if (isFile) yield { path, size: (await Deno.stat(place)).size, read: () => Deno.readFile(place, { signal }) };
  }
}
