/** JSON Pointer (RFC 6901): names one value in JSON data. */

/** The syntax of a pointer: empty for the whole value, else parts that each start with `/`. */
export const pointerForm = /^(?:\/(?:[^~/]|~[01])*)*$/;

/** Returns the value that the pointer names, own properties and members of lists only; `undefined` when there is none. */
export function readPointer(data: unknown, pointer: string): unknown {
  let value = data;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !isThere(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key]; // safe: it has the property
  }
  return value;
}

/** A list has its members alone: not its length, and no member by another spelling of its number. */
function isThere(value: object, key: string): boolean {
  return Object.hasOwn(value, key) && (!Array.isArray(value) || /^(?:0|[1-9]\d*)$/.test(key));
}
