/** Vectors of length one, as rows and queries are compared. */

import { PinnaceError } from '../../../src/base/errors.ts';

/**
 * Returns the vector at length one, in 64-bit floats.
 *
 * @throws PinnaceError `invalid_argument` for another number of dimensions than `dimensions`, for none, for more than 8,192, for
 * numbers that are not finite, and for a vector of zeros, which points nowhere.
 */
export function toUnit(vector: ArrayLike<number>, dimensions?: number): Float64Array {
  const unit = new Float64Array(vector.length);
  writeUnit(unit, vector, dimensions);
  return unit;
}

/** The same in 32-bit floats, as rows are stored. `into`: as long as the vector; new memory when absent. */
export function toUnitRow(
  vector: ArrayLike<number>,
  { dimensions, into = new Float32Array(vector.length) }: {
    readonly dimensions?: number | undefined;
    readonly into?: Float32Array | undefined;
  } = {},
): Float32Array {
  if (vector instanceof Float32Array) writeUnitRow(into, vector, dimensions);
  else writeUnit(into, vector, dimensions);
  return into;
}

/** Of floats to floats, which most are: one kind of numbers in a loop is three times as fast as any. */
function writeUnitRow(unit: Float32Array, vector: Float32Array, dimensions: number | undefined): void {
  requireLength(vector.length, dimensions);
  const { length } = vector;
  const even = length - (length % 4);
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0; i < even; i += 4) {
    a += vector[i]! * vector[i]!;
    b += vector[i + 1]! * vector[i + 1]!;
    c += vector[i + 2]! * vector[i + 2]!;
    d += vector[i + 3]! * vector[i + 3]!;
  }
  for (let i = even; i < length; i++) a += vector[i]! * vector[i]!;
  const squares = a + b + c + d;
  if (!isSafe(squares)) return writeCarefully(unit, vector);
  const factor = 1 / Math.sqrt(squares);
  for (let i = 0; i < length; i++) unit[i] = vector[i]! * factor;
}

function writeUnit(
  unit: Float64Array | Float32Array,
  vector: ArrayLike<number>,
  dimensions: number | undefined,
): void {
  requireLength(vector.length, dimensions);
  let squares = 0;
  for (let i = 0; i < unit.length; i++) squares += vector[i]! * vector[i]!;
  if (!isSafe(squares)) return writeCarefully(unit, vector);
  const factor = 1 / Math.sqrt(squares);
  for (let i = 0; i < unit.length; i++) unit[i] = vector[i]! * factor;
}

/** Whether no number has overflowed or vanished when it was squared, and none was not finite. */
function isSafe(squares: number): boolean {
  return squares > 1e-200 && squares < 1e200;
}

/** In two steps, for numbers that are very large or very small, and to say what is wrong. */
function writeCarefully(unit: Float64Array | Float32Array, vector: ArrayLike<number>): void {
  let largest = 0;
  for (let i = 0; i < unit.length; i++) {
    const value = vector[i]!;
    if (!Number.isFinite(value)) throw invalidVector('one of its numbers is not finite', 'not_finite');
    largest = Math.max(largest, Math.abs(value));
  }
  if (largest === 0) throw invalidVector('all of its numbers are zero', 'zero_vector');
  let squares = 0;
  for (let i = 0; i < unit.length; i++) squares += (vector[i]! / largest) ** 2;
  const factor = 1 / Math.sqrt(squares);
  for (let i = 0; i < unit.length; i++) unit[i] = (vector[i]! / largest) * factor;
}

function requireLength(length: number, dimensions: number | undefined): void {
  if (dimensions !== undefined) requireDimensions(length, dimensions);
  if (length === 0 || length > 8_192) throw invalidVector('it must have 1 to 8,192 dimensions', 'wrong_dimensions');
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
