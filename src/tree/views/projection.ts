/** Which properties of a payload an answer holds: those equal to or under a listed path, less those that are excluded. */

import { maxJsonDepth } from '../../base/json.ts';
import type { Payload } from '../nodes/node-store.ts';
import { isReservedName, parsePath } from '../nodes/property-path.ts';

/** Lists of paths; an empty list of included ones means all. A path that starts with `$` names a field of the node (`$depth`). */
export interface PropertyFilter {
  readonly includedProperties: readonly string[];
  readonly excludedProperties: readonly string[];
}

/** Picks the properties of payloads, and copies them, so an answer shares no data with the tree. */
export interface Projection {
  /** Texts of more than `textBytes` are cut, and say so. */
  pick(payload: Payload, options?: { readonly textBytes: number }): Payload;
  /** Whether a field of the node itself is shown. */
  shows(field: string): boolean;
}

/** A text that was cut. */
interface Truncated {
  readonly $truncated: true;
  readonly bytes: number;
  readonly text: string;
}

interface Trie {
  isListed: boolean;
  readonly below: Map<string, Trie>;
}

/**
 * Compiles the lists.
 *
 * @throws PinnaceError `invalid_argument` for a path that cannot be one.
 */
export function createProjection({ includedProperties, excludedProperties }: PropertyFilter): Projection {
  const included = includedProperties.length > 0
    ? trieOf(includedProperties.filter((path) => !isField(path)))
    : undefined;
  const excluded = trieOf(excludedProperties.filter((path) => !isField(path)));
  const hidden = new Set(excludedProperties.filter(isField).map((path) => path.slice(1)));
  hidden.delete('nodeId');
  return {
    pick(payload, { textBytes } = { textBytes: Infinity }) {
      const picked = pick(payload, { included, excluded, textBytes, depth: 0 });
      return (picked ?? {}) as Payload; // safe: an object returns an object or nothing
    },
    shows: (field) => !hidden.has(field),
  };
}

function isField(path: string): boolean {
  return path.startsWith('$');
}

function trieOf(paths: readonly string[]): Trie {
  const root: Trie = { isListed: false, below: new Map() };
  for (const path of paths) {
    let here = root;
    for (const name of parsePath(path)) {
      const next = here.below.get(name) ?? { isListed: false, below: new Map<string, Trie>() };
      here.below.set(name, next);
      here = next;
    }
    here.isListed = true;
  }
  return root;
}

interface Picking {
  /** `undefined`: everything from here down. */
  readonly included: Trie | undefined;
  readonly excluded: Trie | undefined;
  readonly textBytes: number;
  readonly depth: number;
}

/** Payloads are at most 64 levels deep, so this may call itself. Returns `undefined` for what is left out. */
function pick(value: unknown, picking: Picking): unknown {
  if (typeof value !== 'object' || value === null) return picking.included ? undefined : cut(value, picking.textBytes);
  if (picking.depth > maxJsonDepth) return undefined;
  const picked = Array.isArray(value) ? pickItems(value, picking) : pickProperties(value, picking);
  const isEmpty = Array.isArray(picked) ? picked.length === 0 : Object.keys(picked).length === 0;
  return picking.included && isEmpty ? undefined : picked;
}

function pickItems(items: readonly unknown[], picking: Picking): unknown[] {
  const inside = { ...picking, depth: picking.depth + 1 };
  return items.map((item) => pick(item, inside)).filter((item) => item !== undefined);
}

function pickProperties(value: object, { included, excluded, textBytes, depth }: Picking): object {
  const picked: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const wanted = included?.below.get(name);
    const unwanted = excluded?.below.get(name);
    if ((included && !wanted) || unwanted?.isListed || isReservedName(name)) continue;
    const inside = { included: wanted?.isListed ? undefined : wanted, excluded: unwanted, textBytes, depth: depth + 1 };
    const part: unknown = pick(item, inside);
    if (part !== undefined) picked[name] = part;
  }
  return picked;
}

function cut(value: unknown, textBytes: number): unknown {
  if (typeof value !== 'string' || value.length * 3 <= textBytes) return value;
  const bytes = byteLength(value);
  if (bytes <= textBytes) return value;
  const whole = new TextDecoder().decode(new TextEncoder().encode(value).subarray(0, textBytes));
  return { $truncated: true, bytes, text: whole.replace(/\uFFFD+$/, '') } satisfies Truncated;
}

const encoder = new TextEncoder();

/** The length of a text in UTF-8. */
export function byteLength(text: string): number {
  return isShortAscii(text) ? text.length : encoder.encode(text).length;
}

/** Most texts are ids and words: for them a loop is quicker than an encoder. */
function isShortAscii(text: string): boolean {
  if (text.length > 64) return false;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}
