/** Checks a file before it is stored. Loaded with the first upload. */

import { fileTypeOf } from './file-type.ts';
import { requireLength } from './require-length.ts';

/** Returns the type that the content has. @throws PinnaceError for more than `most` bytes, and for a type that is not allowed. */
export function checkUpload(
  bytes: Uint8Array<ArrayBuffer>,
  { declared, most }: { readonly declared: string; readonly most: number },
): string {
  requireLength(bytes.length, most);
  return fileTypeOf(bytes, declared);
}
