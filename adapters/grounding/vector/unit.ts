/** Vectors of length one, as rows and queries are compared. */

import { PinnaceError } from '../../../src/errors.ts';

/**
 * Gives the vector at length one, in 64-bit floats.
 *
 * @throws PinnaceError `invalid_argument` for another number of dimensions than `dimensions`, for none, for more than 8,192, for
 * numbers that are not finite, and for a vector of zeros, which points nowhere.
 */
export function toUnit(vector: ArrayLike<number>, dimensions?: number): Float64Array {
  const { length } = vector;
  if (dimensions !== undefined) requireDimensions(length, dimensions);
  if (length === 0 || length > 8_192) throw invalidVector('it must have 1 to 8,192 dimensions', 'wrong_dimensions');
  const unit = new Float64Array(length);
  let largest = 0;
  let sum = 0; // not finite when one of the numbers is not
  for (let i = 0; i < length; i++) {
    const value = vector[i]!;
    unit[i] = value;
    const size = value < 0 ? -value : value;
    if (size > largest) largest = size;
    sum += value - value;
  }
  if (sum !== 0) throw invalidVector('one of its numbers is not finite', 'not_finite');
  if (largest === 0) throw invalidVector('all of its numbers are zero', 'zero_vector');
  let squares = 0;
  for (let i = 0; i < length; i++) {
    const value = unit[i]! / largest; // neither overflows nor vanishes when squared
    unit[i] = value;
    squares += value * value;
  }
  const scale = 1 / Math.sqrt(squares);
  for (let i = 0; i < length; i++) unit[i]! *= scale;
  return unit;
}

/**
 * Checks that a vector is as long as the others.
 *
 * @throws PinnaceError `invalid_argument`.
 */
export function requireDimensions(length: number, dimensions: number): void {
  if (length === dimensions) return;
  throw invalidVector(`it has ${length} dimensions, not ${dimensions}`, 'wrong_dimensions');
}

function invalidVector(why: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot use a vector: ${why}`, { details: { reason } });
}
