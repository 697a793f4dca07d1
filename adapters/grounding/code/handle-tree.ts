/** Reads a folder that a person opened in the page as a repository. */

import { checkNames, optional } from '../../../src/base/check-options.ts';
import { type CodeFile, type CodeTree, isWanted } from './tree.ts';

export type { CodeTree } from './tree.ts';

/** Returns the files behind a directory handle; what is hidden or was installed is left out. */
export function handleTree(
  handle: FileSystemDirectoryHandle,
  options: { readonly repo?: string } = {},
): CodeTree {
  checkNames('read the repository', options, optional('repo'));
  const { repo = handle.name } = options;
  return (signal) => Promise.resolve({ repo, files: walk(handle, '', signal) });
}

async function* walk(folder: FileSystemDirectoryHandle, prefix: string, signal: AbortSignal): AsyncGenerator<CodeFile> {
  const entries = await Array.fromAsync(folder.entries());
  for (const [name, entry] of entries.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    signal.throwIfAborted();
    const path = `${prefix}${name}`;
    if (!isWanted(path)) continue;
    if (isFolder(entry)) {
      yield* walk(entry, `${path}/`, signal);
      continue;
    }
    const file = await entry.getFile();
    yield { path, size: file.size, read: async () => new Uint8Array(await file.arrayBuffer()) };
  }
}

function isFolder(entry: FileSystemHandle): entry is FileSystemDirectoryHandle {
  return entry.kind === 'directory';
}
