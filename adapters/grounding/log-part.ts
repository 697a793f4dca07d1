/** One part of an item log: items, their vectors as bytes, removed ids, and a hash over it all. */

import { PinnaceError } from '../../src/base/errors.ts';
import { canonicalJson } from '../../src/base/json.ts';
import { sha256 } from '../../src/base/hash.ts';
import type { StoredItem } from './item.ts';

/** An item with its vector, where the source has vectors. */
export interface StoredRow {
  readonly item: StoredItem;
  readonly vector?: Float32Array;
}

/** One change: ids are removed first, then rows are added. */
export interface LogChange {
  readonly removed: readonly string[];
  readonly put: readonly StoredRow[];
}

/** A stored part. */
export interface LogPart {
  readonly removed: readonly string[];
  readonly items: readonly StoredItem[];
  /** The vectors, one after another, 32-bit floats of little end first. */
  readonly vectors?: Uint8Array<ArrayBuffer>;
  readonly sum: string;
}

/** The most bytes of a part with several rows: a reader checks the hash of one part at a time. */
const partBytes = 256 * 1024;

/** Cuts a change into parts, in order. */
export async function* toParts(
  { removed, put }: { readonly removed: readonly string[]; readonly put: Iterable<StoredRow> },
): AsyncGenerator<LogPart> {
  for (let from = 0; from < removed.length; from += 200) yield await toPart(removed.slice(from, from + 200), []);
  let [rows, size]: [StoredRow[], number] = [[], 0];
  for (const row of put) {
    const bytes = sizeOf(row);
    if (rows.length > 0 && size + bytes > partBytes) {
      yield await toPart([], rows);
      [rows, size] = [[], 0];
    }
    rows.push(row);
    size += bytes;
  }
  if (rows.length > 0) yield await toPart([], rows);
}

/**
 * Returns the change of a part, after checking its hash.
 *
 * @throws PinnaceError `internal` with the reason `damaged_part` when the hash differs.
 */
export async function checkPart(value: unknown): Promise<LogChange> {
  const { removed, items, vectors, sum } = value as LogPart; // the hash is checked next
  if (!Array.isArray(items) || sum !== await sumOf({ removed, items, ...(vectors && { vectors }) })) {
    throw new PinnaceError(
      'internal',
      'Cannot read the data source: a stored part is damaged; ingest its items again',
      {
        details: { reason: 'damaged_part' },
      },
    );
  }
  const length = vectors ? vectors.byteLength / 4 / items.length : 0;
  return {
    removed,
    put: items.map((item, at) => ({ item, ...(vectors && { vector: floatsAt(vectors, at * length, length) }) })),
  };
}

async function toPart(removed: readonly string[], rows: readonly StoredRow[]): Promise<LogPart> {
  const vectors = bytesOf(rows);
  const part = { removed, items: rows.map(({ item }) => item), ...(vectors && { vectors }) };
  return { ...part, sum: await sumOf(part) };
}

async function sumOf({ removed, items, vectors }: Omit<LogPart, 'sum'>): Promise<string> {
  const text = new TextEncoder().encode(canonicalJson([removed, items]));
  const all = new Uint8Array(text.length + (vectors?.length ?? 0));
  all.set(text);
  if (vectors) all.set(vectors, text.length);
  return await sha256(all);
}

function sizeOf({ item, vector }: StoredRow): number {
  const text = item.text.length + JSON.stringify(item.metadata).length + item.uri.length + (item.title?.length ?? 0);
  return text * 2 + 200 + (vector?.byteLength ?? 0);
}

function bytesOf(rows: readonly StoredRow[]): Uint8Array<ArrayBuffer> | undefined {
  const length = rows[0]?.vector?.length;
  if (length === undefined) return undefined;
  const view = new DataView(new ArrayBuffer(rows.length * length * 4));
  rows.forEach(({ vector }, row) => {
    for (let i = 0; i < length; i++) view.setFloat32((row * length + i) * 4, vector?.[i] ?? 0, true);
  });
  return new Uint8Array(view.buffer);
}

function floatsAt(bytes: Uint8Array, from: number, length: number): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const floats = new Float32Array(length);
  for (let i = 0; i < length; i++) floats[i] = view.getFloat32((from + i) * 4, true);
  return floats;
}
