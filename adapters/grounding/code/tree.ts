/** Where code comes from: a repository at one commit, or a folder as it is. */

/** One file. */
export interface CodeFile {
  /** With `/`, from the root. */
  readonly path: string;
  /** In bytes. */
  readonly size: number;
  /** Returns the bytes. */
  readonly read: (signal: AbortSignal) => Promise<Uint8Array>;
}

/** A repository as it was opened: what it says of itself stays true. */
export interface OpenTree {
  /** The name that hits carry. */
  readonly repo: string;
  /** The commit; without one the version is a hash of the contents. */
  readonly commit?: string;
  readonly files: AsyncIterable<CodeFile>;
}

/** Opens a repository. What it throws is the source's error. */
export type CodeTree = (signal: AbortSignal) => Promise<OpenTree>;

/** Folders that hold no code of one's own. */
const skipped = new Set(['node_modules', 'vendor', 'dist', 'build', 'target', '__pycache__']);

/** Whether a path is worth reading: not hidden, and not vendored. */
export function isWanted(path: string): boolean {
  return path.split('/').every((part) => part !== '' && !part.startsWith('.') && !skipped.has(part));
}

/** The text of a file; `undefined` when it is none. Of a file that is not UTF-8 throughout, what can be read. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.subarray(0, 8_000).includes(0)) return undefined;
  return new TextDecoder().decode(bytes);
}
