/** Encodes values as bytes in plain code, for platforms with neither `node:v8` nor a store of structured clones. */

import { invalid } from './changes.ts';

/** A value of a graph: its kind, and what it is made of. `at` names another value by its place in the list of all. */
type Node =
  | readonly ['value', value: string | number | boolean | null]
  | readonly ['undefined']
  | readonly ['bigint' | 'number', text: string]
  | readonly ['boxed', at: number]
  | readonly ['date', time: number | null]
  | readonly ['regexp', source: string, flags: string]
  | readonly ['buffer', at: number]
  | readonly ['view', type: string, at: number, offset: number, length: number]
  | readonly ['error', name: string, message: string, stack: string | null, cause: number | null]
  | readonly ['array', length: number, fields: Fields]
  | readonly ['object', fields: Fields]
  | readonly ['map', pairs: readonly (readonly [at: number, at: number])[]]
  | readonly ['set', items: readonly number[]];
type Fields = readonly (readonly [name: string, at: number])[];

const views = { Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, DataView };
const wideViews = { Float32Array, Float64Array, BigInt64Array, BigUint64Array };
const viewTypes: Readonly<Record<string, ViewType>> = { ...views, ...wideViews };
type ViewType = new (buffer: ArrayBuffer, byteOffset?: number, length?: number) => ArrayBufferView;

const errorTypes: Readonly<Record<string, new (message?: string) => Error>> = {
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};

/**
 * Encodes a copy that `structuredClone` made: JSON as it is, anything else as a list of its values, with their bytes behind it.
 * @throws PinnaceError `invalid_argument` with the reason `invalid_value` for a host object, such as a `Blob` or a `CryptoKey`.
 */
export function encodeStructured(value: unknown): Uint8Array<ArrayBuffer> {
  if (isJson(value)) return join(JSON.stringify({ json: value }), []);
  const buffers: ArrayBuffer[] = [];
  const nodes = nodesOf(value, buffers);
  return join(JSON.stringify({ nodes, sizes: buffers.map(({ byteLength }) => byteLength) }), buffers);
}

export function decodeStructured(bytes: Uint8Array<ArrayBuffer>): unknown {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as Head; // safe: as encoded
  if ('json' in head) return head.json;
  let at = 4 + length;
  const buffers = head.sizes.map((size) => bytes.slice(at, at += size).buffer);
  return build(head.nodes, buffers);
}

type Head = { readonly json: unknown } | { readonly nodes: readonly Node[]; readonly sizes: readonly number[] };

/** Whether JSON returns the same value: no other types, no number that JSON lacks, and no object twice. */
export function isJson(value: unknown, seen: Set<object> = new Set()): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || value === null) {
    return value === null || ['string', 'boolean'].includes(typeof value);
  }
  if (seen.has(value)) return false;
  seen.add(value);
  const { length } = Object.keys(value);
  if (Array.isArray(value)) return length === value.length && value.every((item) => isJson(item, seen));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return Object.values(value).every((item) => isJson(item, seen));
}

function join(head: string, buffers: readonly ArrayBuffer[]): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(head);
  const bytes = new Uint8Array(4 + text.length + buffers.reduce((sum, { byteLength }) => sum + byteLength, 0));
  new DataView(bytes.buffer).setUint32(0, text.length);
  bytes.set(text, 4);
  let at = 4 + text.length;
  for (const buffer of buffers) {
    bytes.set(new Uint8Array(buffer), at);
    at += buffer.byteLength;
  }
  return bytes;
}

function nodesOf(root: unknown, buffers: ArrayBuffer[]): readonly Node[] {
  const nodes: Node[] = [];
  const places = new Map<object, number>();
  const place = (value: unknown): number => {
    const known = typeof value === 'object' && value !== null ? places.get(value) : undefined;
    if (known !== undefined) return known;
    const at = nodes.push(['value', null]) - 1;
    if (typeof value === 'object' && value !== null) places.set(value, at);
    nodes[at] = typeof value === 'object' && value !== null ? objectNode(value, place, buffers) : plainNode(value);
    return at;
  };
  place(root);
  return nodes;
}

function plainNode(value: unknown): Node {
  if (value === undefined) return ['undefined'];
  if (typeof value === 'bigint') return ['bigint', String(value)];
  if (typeof value === 'number') return ['number', Object.is(value, -0) ? '-0' : String(value)];
  return ['value', value as string | boolean | null]; // safe: `structuredClone` copies no function and no symbol
}

type Place = (value: unknown) => number;

function objectNode(value: object, place: Place, buffers: ArrayBuffer[]): Node {
  const fields = (): Fields => Object.entries(value).map(([name, item]) => [name, place(item)]);
  if (Array.isArray(value)) return ['array', value.length, fields()];
  if (value instanceof Map) {
    return ['map', [...value].map(([key, item]): readonly [number, number] => [place(key), place(item)])];
  }
  if (value instanceof Set) return ['set', [...value].map(place)];
  if (value instanceof Date) return ['date', value.getTime()];
  if (value instanceof RegExp) return ['regexp', value.source, value.flags];
  if (value instanceof ArrayBuffer) return ['buffer', buffers.push(value) - 1];
  if (ArrayBuffer.isView(value)) return viewNode(value, place);
  if (value instanceof Error) return errorNode(value, place);
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  if (['Boolean', 'Number', 'String', 'BigInt'].includes(tag)) return ['boxed', place(value.valueOf())];
  if (tag === 'Object') return ['object', fields()];
  throw invalid('invalid_value', 'Cannot store the value: it holds something that this store does not keep');
}

function viewNode(view: ArrayBufferView, place: Place): Node {
  const type = Object.prototype.toString.call(view).slice(8, -1);
  if (!(type in viewTypes)) {
    throw invalid('invalid_value', `Cannot store the value: this store does not keep a ${type}`);
  }
  const length = view instanceof DataView ? view.byteLength : (view as Uint8Array).length; // safe: all others have one
  return ['view', type, place(view.buffer), view.byteOffset, length];
}

function errorNode(error: Error, place: Place): Node {
  const cause: number | null = 'cause' in error ? place(error.cause) : null;
  return ['error', error.name in errorTypes ? error.name : 'Error', error.message, error.stack ?? null, cause];
}

/** Builds the first value of the list. An object is made before what is in it, which may refer to it. */
function build(nodes: readonly Node[], buffers: readonly ArrayBuffer[]): unknown {
  const built = new Map<number, unknown>();
  const read: Read = (at) => {
    if (built.has(at)) return built.get(at);
    const node = nodes[at] as Node; // safe: places are those of the list
    const value = emptyOf(node, read, buffers);
    built.set(at, value);
    fill(value, node, read);
    return value;
  };
  return read(0);
}

type Read = (at: number) => unknown;

/** The value of a node, without what is in an array, object, map or set. */
function emptyOf(node: Node, read: Read, buffers: readonly ArrayBuffer[]): unknown {
  switch (node[0]) {
    case 'value':
      return node[1];
    case 'bigint':
      return BigInt(node[1]);
    case 'number':
      return Number(node[1]);
    case 'boxed':
      return Object(read(node[1]));
    case 'date':
      return new Date(node[1] ?? Number.NaN);
    case 'regexp':
      return new RegExp(node[1], node[2]);
    case 'buffer':
      return buffers[node[1]];
    case 'view':
      return new (viewTypes[node[1]] as ViewType)(read(node[2]) as ArrayBuffer, node[3], node[4]); // safe: as encoded
    case 'error':
      return new (errorTypes[node[1]] ?? Error)(node[2]);
    case 'array':
      return [];
    case 'object':
      return {};
    case 'map':
      return new Map();
    case 'set':
      return new Set();
    case 'undefined':
      return undefined;
    default:
      return node satisfies never;
  }
}

function fill(target: unknown, node: Node, read: Read): void {
  if (node[0] === 'error') {
    if (node[3] !== null) define(target, 'stack', node[3]);
    if (node[4] !== null) define(target, 'cause', read(node[4]));
  } else if (node[0] === 'array') {
    (target as unknown[]).length = node[1]; // with its holes
    setFields(target, node[2], read);
  } else if (node[0] === 'object') {
    setFields(target, node[1], read);
  } else if (node[0] === 'map') {
    for (const [key, value] of node[1]) (target as Map<unknown, unknown>).set(read(key), read(value));
  } else if (node[0] === 'set') {
    for (const at of node[1]) (target as Set<unknown>).add(read(at));
  }
}

/** Defines the fields: an assignment to `__proto__` would change the prototype. */
function setFields(target: unknown, fields: Fields, read: Read): void {
  for (const [name, at] of fields) define(target, name, read(at), true);
}

function define(target: unknown, name: string, value: unknown, enumerable = false): void {
  Object.defineProperty(target, name, { value, writable: true, enumerable, configurable: true });
}
