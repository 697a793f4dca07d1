/** The limit of a file. */

import { PinnaceError } from '../../base/errors.ts';

/** @throws PinnaceError `invalid_argument` with the reason `attachment_too_large`. */
export function requireLength(size: number, most: number, what = 'a file'): void {
  if (size <= most) return;
  throw new PinnaceError('invalid_argument', `Cannot read ${what}: it has ${size} bytes, ${most} are allowed`, {
    status: 413,
    details: { reason: 'attachment_too_large', size, maxBytes: most },
  });
}
