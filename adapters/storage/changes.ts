/** The checks that all storage adapters share. */

import { PinnaceError } from '../../src/base/errors.ts';
import { afterPrefix, encodeKey, encodePrefix, type Key, keyText } from '../../src/base/key.ts';
import type { Change, Storage } from '../../src/contracts/storage.ts';

export interface PreparedChange {
  readonly key: Key;
  readonly id: string;
  readonly value: unknown;
  readonly expiresAt: number | undefined;
  readonly ifVersion: string | null | undefined;
  readonly keep: boolean;
}

export interface ListBounds {
  readonly lower: Uint8Array<ArrayBuffer>;
  readonly upper: Uint8Array<ArrayBuffer>;
}

export type ListOptions = Parameters<Storage['list']>[0];

const maxChanges = 100;
const maxLimit = 1000;

/**
 * Checks the changes of one commit and copies them, so that the caller may go on using what it passed.
 * @throws PinnaceError `invalid_argument` with the reason `invalid_changes` (not 1 to 100, a key twice, a bad `keep`), `invalid_key`,
 * `invalid_value` (cannot be cloned) or `invalid_ttl`.
 */
export function prepareChanges(changes: readonly Change[], now: number): PreparedChange[] {
  if (changes.length < 1 || changes.length > maxChanges) {
    throw invalid('invalid_changes', `Cannot commit ${changes.length} changes: 1 to ${maxChanges} are allowed`);
  }
  const prepared = changes.map((change) => prepare(change, now));
  if (hasTwice(prepared)) {
    throw invalid('invalid_changes', 'Cannot commit two changes of one key: make them one change');
  }
  return prepared;
}

/** A table of the storage needs the hashes of the ids anyway. */
function hasTwice(changes: readonly PreparedChange[]): boolean {
  if (changes.length < 3) return changes.length === 2 && changes[0]?.id === changes[1]?.id;
  return new Set(changes.map(({ id }) => id)).size < changes.length;
}

/** Returns the keys of the changes whose `ifVersion` differs; `versionOf` returns the version of an unexpired entry. */
export function findConflicts(
  changes: readonly PreparedChange[],
  versionOf: (change: PreparedChange, index: number) => string | undefined,
): Key[] {
  const differs = (change: PreparedChange, index: number) =>
    change.ifVersion !== undefined && change.ifVersion !== (versionOf(change, index) ?? null);
  return changes.filter(differs).map(({ key }) => key);
}

/**
 * Returns the bounds of a listing. An `after` before the prefix has no effect; one behind it makes the bounds empty.
 * @throws PinnaceError `invalid_argument` with the reason `invalid_key` or `invalid_limit`.
 */
export function listBounds({ prefix, after, limit }: ListOptions): ListBounds {
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) {
    throw invalid('invalid_limit', `Cannot list ${limit} entries: 1 to ${maxLimit} are allowed`);
  }
  const start = encodePrefix(prefix);
  const upper = afterPrefix(start);
  const behind = after === undefined ? start : nextBytes(encodeKey(after));
  const lower = byteString(behind) > byteString(start) ? behind : start;
  return { lower: byteString(lower) < byteString(upper) ? lower : upper, upper };
}

export function isExpired({ expiresAt }: { readonly expiresAt?: number | undefined }, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

/** The bytes as text of one character each: compares as the bytes do, and is a key of a `Map`. */
export function byteString(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

export function nextBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const next = new Uint8Array(bytes.length + 1);
  next.set(bytes);
  return next;
}

/** Copies as `structuredClone`, which takes many times as long for what most values are: plain data, and lists of it. */
export function copyOf(value: unknown): unknown {
  return isPlain(value, { left: plainNodes }, plainDepth) ? copyPlain(value) : structuredClone(value);
}

/** More and deeper data may be a cycle, which only `structuredClone` copies. */
const [plainNodes, plainDepth] = [2_000, 16];

/** Whether the value is made of plain objects, lists without holes, and values that cannot change. */
function isPlain(value: unknown, nodes: { left: number }, depth: number): value is Plain {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function' && typeof value !== 'symbol';
  if (depth === 0 || --nodes.left < 0) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Array.prototype) {
    const items = value as readonly unknown[]; // by its prototype
    for (let at = 0; at < items.length; at++) if (!(at in items) || !isPlain(items[at], nodes, depth - 1)) return false;
    return true;
  }
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const name of Object.keys(value)) {
    if (name === '__proto__' || !isPlain((value as Plain)[name], nodes, depth - 1)) return false;
  }
  return true;
}

type Plain = Readonly<Record<string, unknown>>;

function copyPlain<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyPlain) as T; // has the same items
  const fields: Record<string, unknown> = {};
  for (const name of Object.keys(value)) fields[name] = copyPlain((value as Plain)[name]);
  return fields as T; // has the same fields
}

export function invalid(reason: string, message: string): PinnaceError {
  return new PinnaceError('invalid_argument', message, { details: { reason } });
}

function prepare({ key, value, ttlMs, ifVersion, keep }: Change, now: number): PreparedChange {
  if (ttlMs !== undefined && !(ttlMs > 0 && Number.isFinite(ttlMs))) {
    throw invalid('invalid_ttl', `Cannot keep a value for ${ttlMs} ms: the time must be positive and finite`);
  }
  if (keep && (ifVersion === undefined || value !== undefined)) {
    throw invalid('invalid_changes', 'Cannot only check a version: the change has a value, or no `ifVersion`');
  }
  return {
    key: key.includes(0) ? key.map((part) => part === 0 ? 0 : part) : key.slice(), // no negative zero, as encoded
    id: keyText(key),
    value: copy(value),
    expiresAt: ttlMs === undefined ? undefined : now + ttlMs,
    ifVersion,
    keep: keep === true,
  };
}

/** The clone's own error is dropped: its text quotes the value. */
function copy(value: unknown): unknown {
  try {
    return copyOf(value);
  } catch {
    throw invalid('invalid_value', 'Cannot store the value: it holds something that structuredClone does not copy');
  }
}
