/** Files that a person drops or chooses, folders with all that is in them. */

import { isWanted } from '../../../adapters/grounding/code/tree.ts';
import type { Upload } from '../../control/knowledge-control.ts';

/** The most files of one drop: beyond, a folder was not meant for reading. */
const mostFiles = 20_000;

/** Returns what was dropped. Must be called while the event is handled; folders are read afterwards. */
export async function uploadsOf({ items, files }: DataTransfer): Promise<readonly Upload[]> {
  const entries = [...items].flatMap((item) => item.kind === 'file' ? item.webkitGetAsEntry?.() ?? [] : []);
  if (entries.length === 0) return chosenFiles(files);
  const uploads: Upload[] = [];
  for (const entry of entries) await collect(entry, uploads);
  return uploads;
}

/** Returns what was chosen in a file dialog; of a folder, without what is hidden or was installed. */
export function chosenFiles(files: Iterable<File>): readonly Upload[] {
  return [...files].flatMap((file) => {
    const path = file.webkitRelativePath || file.name;
    return path.includes('/') && !isWanted(path) ? [] : [toUpload(file, path)];
  }).slice(0, mostFiles);
}

async function collect(entry: FileSystemEntry, uploads: Upload[]): Promise<void> {
  const path = entry.fullPath.replace(/^\//, '');
  if (uploads.length >= mostFiles || (path.includes('/') && !isWanted(path))) return;
  if (isFile(entry)) {
    uploads.push(toUpload(await fileOf(entry), path));
    return;
  }
  if (!isFolder(entry)) return;
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return; // a reader returns a hundred at a time, and none at the end
    for (const inner of some) await collect(inner, uploads);
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}

function toUpload(file: File, name: string): Upload {
  return { name, ...(file.type !== '' && { type: file.type }), content: file };
}
