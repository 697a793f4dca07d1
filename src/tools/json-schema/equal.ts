/** Whether two JSON values are the same. */

/** Compares by content; the order of properties does not matter. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  const [left, right] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>]; // both are objects
  return keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(right, key) && isEqual(left[key], right[key]));
}
