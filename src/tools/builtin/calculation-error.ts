/** Why an expression has no value. */

import { PinnaceError } from '../../base/errors.ts';

/** Returns the error, with the position (counted from 1) and, in its details, what would have been right. */
export function calculationError(
  why: string,
  { position, ...hints }: {
    readonly position: number;
    readonly expected?: string;
    readonly suggestions?: readonly string[];
  },
): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot calculate: at position ${position}, ${why}`, {
    details: { reason: 'invalid_expression', position, ...hints },
  });
}
