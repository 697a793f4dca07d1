/** Values of a storage as JSON, and back: what JSON has no word for is an object with the field `$`. */

const arrays = {
  Uint8Array,
  Uint8ClampedArray,
  Int8Array,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
} as const;
type ArrayName = keyof typeof arrays;

/** The largest part of an array that is made into text in one go. */
const chunk = 32_768;

/** Returns the value as JSON takes it. Throws a TypeError for what no storage holds, such as a function. */
export function toPortable(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : { $: 'number', value: String(value) };
    case 'bigint':
      return { $: 'bigint', value: String(value) };
    case 'undefined':
      return { $: 'undefined' };
    case 'object':
      return value === null ? null : objectToPortable(value);
    default:
      throw new TypeError(`Cannot export a ${typeof value}`);
  }
}

/** Returns the value that was made into this. Throws a TypeError for words that it does not know. */
export function fromPortable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromPortable);
  if (typeof value !== 'object' || value === null) return value;
  return '$' in value ? fromWord(value) : fromFields(Object.entries(value));
}

interface Word {
  readonly $: unknown;
  readonly type?: unknown;
  readonly value?: unknown;
}

function objectToPortable(value: object): unknown {
  if (Array.isArray(value)) return value.map(toPortable);
  if (value instanceof Date) return { $: 'date', value: value.getTime() };
  if (value instanceof Map) return { $: 'map', value: [...value].map(toPortable) };
  if (value instanceof Set) return { $: 'set', value: [...value].map(toPortable) };
  if (value instanceof ArrayBuffer) return { $: 'buffer', value: toBase64(new Uint8Array(value)) };
  if (ArrayBuffer.isView(value)) {
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    return { $: 'array', type: value.constructor.name, value: toBase64(bytes) };
  }
  const fields = Object.entries(value).map(([name, field]): [string, unknown] => [name, toPortable(field)]);
  return '$' in value ? { $: 'object', value: fields } : fromEntries(fields);
}

function fromWord({ $, type, value }: Word): unknown {
  switch ($) {
    case 'number':
      return Number(value);
    case 'bigint':
      return BigInt(String(value));
    case 'undefined':
      return undefined;
    case 'date':
      return new Date(Number(value));
    case 'map':
      return new Map(listOf(value).map((entry) => fromPortable(entry) as [unknown, unknown])); // a Map refuses others
    case 'set':
      return new Set(listOf(value).map(fromPortable));
    case 'buffer':
      return fromBase64(value).buffer;
    case 'array':
      return arrayOf(type, fromBase64(value).buffer);
    case 'object':
      return fromFields(listOf(value).map((entry) => entry as [string, unknown])); // as above
    default:
      throw new TypeError('Cannot import a value: it is of a kind that this version does not know');
  }
}

function arrayOf(type: unknown, buffer: ArrayBuffer): unknown {
  if (typeof type !== 'string' || !Object.hasOwn(arrays, type)) {
    throw new TypeError('Cannot import an array of this kind');
  }
  return new arrays[type as ArrayName](buffer); // it is one of them
}

function fromFields(fields: readonly (readonly [string, unknown])[]): object {
  return fromEntries(fields.map(([name, field]) => [name, fromPortable(field)]));
}

/** Also a field that is called `__proto__` is a field, and nothing more. */
function fromEntries(fields: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(fields);
}

function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  throw new TypeError('Cannot import a value: it should be a list');
}

function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += chunk) text += String.fromCharCode(...bytes.subarray(at, at + chunk));
  return btoa(text);
}

function fromBase64(value: unknown): Uint8Array<ArrayBuffer> {
  if (typeof value !== 'string') throw new TypeError('Cannot import bytes: they should be text in Base64');
  return Uint8Array.from(atob(value), (char) => char.charCodeAt(0));
}
