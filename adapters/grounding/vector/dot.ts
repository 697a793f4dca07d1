/** The inner loops. V8 has no vector instructions: what counts is few loads, and four sums at a time. */

/** The dot product of a query with the row of 32-bit floats that starts at `from`. */
export function dotFloats(rows: Float32Array, from: number, query: Float64Array): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  const { length } = query;
  const even = length - (length % 4);
  let at = from;
  let i = 0;
  for (; i < even; i += 4, at += 4) {
    a += rows[at]! * query[i]!;
    b += rows[at + 1]! * query[i + 1]!;
    c += rows[at + 2]! * query[i + 2]!;
    d += rows[at + 3]! * query[i + 3]!;
  }
  for (; i < length; i++, at++) a += rows[at]! * query[i]!;
  return a + b + c + d;
}

/** The same of bytes. One function for both would be slower for both. */
export function dotBytes(rows: Int8Array, from: number, query: Float64Array): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  const { length } = query;
  const even = length - (length % 4);
  let at = from;
  let i = 0;
  for (; i < even; i += 4, at += 4) {
    a += rows[at]! * query[i]!;
    b += rows[at + 1]! * query[i + 1]!;
    c += rows[at + 2]! * query[i + 2]!;
    d += rows[at + 3]! * query[i + 3]!;
  }
  for (; i < length; i++, at++) a += rows[at]! * query[i]!;
  return a + b + c + d;
}
