/** The few assertions that the contracts need, so that they depend on no test runner. */

/** Throws unless the condition holds. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** Throws unless both are equal all the way down, as `structuredClone` would copy them. */
export function assertEqual(actual: unknown, expected: unknown, message = 'The values differ'): void {
  if (!isEqual(actual, expected)) throw new Error(`${message}: got ${show(actual)}, expected ${show(expected)}`);
}

/** Throws unless the call rejects with an error of this code and, if one is given, with this reason in its details. */
export async function assertRejects(
  call: () => Promise<unknown>,
  { code, reason }: { readonly code: string; readonly reason?: string },
): Promise<void> {
  const error = await errorOf(call);
  assert(isCoded(error), `Expected an error with the code ${code}, got ${show(error)}`);
  assertEqual(error.code, code, 'The error has another code');
  if (reason !== undefined) assertEqual(error.details?.['reason'], reason, 'The error has another reason');
}

interface CodedError {
  readonly code: unknown;
  readonly details?: Readonly<Record<string, unknown>>;
}

function isCoded(error: unknown): error is CodedError {
  return error instanceof Error && 'code' in error;
}

async function errorOf(call: () => Promise<unknown>): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return 'no error';
}

function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Object.prototype.toString.call(a) !== Object.prototype.toString.call(b)) return false;
  const [left, right] = [partsOf(a), partsOf(b)];
  return left.length === right.length && left.every((part, at) => isEqual(part, right[at]));
}

/** What makes up an object, in an order of its own. */
function partsOf(value: object): unknown[] {
  if (value instanceof Date) return [value.getTime()];
  if (value instanceof RegExp) return [value.source, value.flags];
  if (value instanceof Error) return [value.name, value.message];
  if (value instanceof Map || value instanceof Set) return [...value].flat();
  if (value instanceof ArrayBuffer) return [...new Uint8Array(value)];
  if (ArrayBuffer.isView(value)) return [value.byteOffset, ...new Uint8Array(value.buffer)];
  return Object.entries(value).toSorted(([a], [b]) => a < b ? -1 : 1).flat();
}

function show(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 500);
  } catch {
    return String(value);
  }
}
