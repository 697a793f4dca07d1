/** Encodes values as bytes, for stores that hold bytes. */

import { deserialize, Deserializer, serialize as serializeWhole, Serializer } from 'node:v8';
import { invalid } from './changes.ts';
import { isJson } from './structured-codec.ts';

/** The most bytes of a serialised value. Text takes one byte a character, or two where it holds any above U+00FF. */
export const maxValueBytes: number = 4 * 1024 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** JSON starts with a tab, which parsers skip. Neither the serializer of V8 (255) nor that of Bun (a version) starts with it. */
const jsonMark = '\t';
const jsonByte = 9;
/** Longer values are few, and V8 takes two bytes for what may be six in JSON. */
const maxJsonBytes = 50_000;

/**
 * Serialises a value as `structuredClone` copies it: what JSON can hold as JSON, anything else by V8. A serializer of V8 takes 5 kB
 * outside the heap on Deno until a full garbage collection, and before Deno 2.9 it is never freed, nor is the value.
 * @throws PinnaceError `invalid_argument` with the reason `value_too_large`, or `invalid_value` for a host object: V8 would
 * write a `Blob` or a `CryptoKey` as `{}`.
 */
export function encodeValue(value: unknown): Uint8Array<ArrayBuffer> {
  const json = encodeJson(value);
  if (json && json.length <= maxJsonBytes) return json;
  requireNoHostObject(value);
  const bytes = serialize(value);
  if (bytes.length > maxValueBytes) {
    const sizes = `it takes ${bytes.length} bytes in serialised form, ${maxValueBytes} are allowed`;
    throw invalid('value_too_large', `Cannot store the value: ${sizes}; store it in several`);
  }
  return bytes;
}

/** Decodes the bytes of {@link encodeValue}. */
export function decodeValue(bytes: Uint8Array): unknown {
  if (bytes[0] === jsonByte) return JSON.parse(decoder.decode(bytes));
  if (!hasClasses()) return deserialize(bytes);
  const deserializer = new Deserializer(bytes);
  deserializer.readHeader();
  return deserializer.readValue();
}

function encodeJson(value: unknown): Uint8Array<ArrayBuffer> | undefined {
  try {
    return isJson(value) ? encoder.encode(jsonMark + JSON.stringify(value)) : undefined;
  } catch {
    return undefined; // deeper than the stack, or longer than a text may be
  }
}

/** Bun has no `Serializer`. Its `serialize` keeps views, in a format of its own. */
function hasClasses(): boolean {
  return typeof (globalThis as { Bun?: unknown }).Bun === 'undefined';
}

function serialize(value: unknown): Uint8Array<ArrayBuffer> {
  return hasClasses() ? serializeByClass(value) : serializeByFunction(value);
}

function serializeByFunction(value: unknown): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(serializeWhole(value));
  } catch {
    throw notKept();
  }
}

// The plain `serialize` of `node:v8` would tear views from their buffers.
function serializeByClass(value: unknown): Uint8Array<ArrayBuffer> {
  const serializer = new Serializer();
  serializer.writeHeader();
  try {
    serializer.writeValue(value);
  } catch {
    throw notKept();
  }
  const { buffer, byteOffset, byteLength } = serializer.releaseBuffer();
  return new Uint8Array(buffer, byteOffset, byteLength);
}

const cloned = new Set(
  ['Object', 'Array', 'Map', 'Set', 'Date', 'RegExp', 'Error', 'Boolean', 'Number', 'String', 'BigInt', 'ArrayBuffer']
    .map((name) => `[object ${name}]`),
);

/** Walks the copy that `structuredClone` made, in which only host objects still have a tag of their own. */
function requireNoHostObject(value: unknown): void {
  const seen = new Set<unknown>();
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next !== 'object' || next === null || ArrayBuffer.isView(next) || seen.has(next)) continue;
    if (!cloned.has(Object.prototype.toString.call(next))) throw notKept();
    seen.add(next);
    for (const child of childrenOf(next)) left.push(child);
  }
}

function* childrenOf(parent: object): Iterable<unknown> {
  if (parent instanceof Map || parent instanceof Set) yield* parent.keys();
  if (parent instanceof Map) yield* parent.values();
  yield* Object.values(parent);
}

function notKept(): Error {
  return invalid('invalid_value', 'Cannot store the value: it holds something that this store does not keep');
}
