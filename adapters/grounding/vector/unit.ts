/** Vectors of length one, as rows and queries are compared. */

import { PinnaceError } from '../../../src/errors.ts';

/**
 * Gives the vector at length one, in 64-bit floats.
 *
 * @throws PinnaceError `invalid_argument` for another number of dimensions than `dimensions`, for none, for more than 8,192, for
 * numbers that are not finite, and for a vector of zeros, which points nowhere.
 */
export function toUnit(vector: ArrayLike<number>, dimensions?: number): Float64Array {
  const scale = scaleOf(vector, dimensions);
  const unit = new Float64Array(vector.length);
  for (let i = 0; i < unit.length; i++) unit[i] = (vector[i]! / scale.largest) * scale.factor;
  return unit;
}

/** The same in 32-bit floats, as rows are kept. */
export function toUnitRow(vector: ArrayLike<number>, dimensions?: number): Float32Array {
  const scale = scaleOf(vector, dimensions);
  const unit = new Float32Array(vector.length);
  for (let i = 0; i < unit.length; i++) unit[i] = (vector[i]! / scale.largest) * scale.factor;
  return unit;
}

/** In two steps, so that numbers neither overflow nor vanish when they are squared. */
function scaleOf(vector: ArrayLike<number>, dimensions: number | undefined) {
  const { length } = vector;
  if (dimensions !== undefined) requireDimensions(length, dimensions);
  if (length === 0 || length > 8_192) throw invalidVector('it must have 1 to 8,192 dimensions', 'wrong_dimensions');
  let largest = 0;
  let sum = 0; // not zero when one of the numbers is not finite
  for (let i = 0; i < length; i++) {
    const value = vector[i]!;
    const size = value < 0 ? -value : value;
    if (size > largest) largest = size;
    sum += value - value;
  }
  if (sum !== 0) throw invalidVector('one of its numbers is not finite', 'not_finite');
  if (largest === 0) throw invalidVector('all of its numbers are zero', 'zero_vector');
  let squares = 0;
  for (let i = 0; i < length; i++) {
    const value = vector[i]! / largest;
    squares += value * value;
  }
  return { largest, factor: 1 / Math.sqrt(squares) };
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
