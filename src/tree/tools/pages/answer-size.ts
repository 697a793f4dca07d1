/** Keeps answers and inputs within their bytes: one way to measure, one to cut, for every tool. */

import type { TreeLimits } from '../limits.ts';
import type { Payload } from '../../nodes/node-store.ts';
import { byteLength } from '../../views/projection.ts';
import type { Output } from '../output.ts';

/** The bytes that an answer's content may take: what the tools add (version, page token) has room beside it. */
export function roomOf({ responseBytes }: TreeLimits): number {
  return responseBytes - Math.min(1024, Math.floor(responseBytes / 4));
}

/** The bytes of data as JSON text. */
export function bytesOf(data: unknown): number {
  return byteLength(JSON.stringify(data) ?? '');
}

/** Whether data as JSON text takes more bytes. For unchecked data: walks with a stack and ends also in a cycle. */
export function isLargerThan(data: unknown, most: number): boolean {
  let left = most;
  const stack: unknown[] = [data];
  while (stack.length > 0 && left >= 0) {
    const value = stack.pop();
    left -= 1;
    if (typeof value === 'string') left -= value.length > left ? value.length : byteLength(value);
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, item] of Object.entries(value)) {
      left -= Array.isArray(value) ? 1 : name.length + 3;
      stack.push(item);
      if (left < 0) return true;
    }
  }
  return left < 0;
}

/** How the items of an answer are made and written. */
export interface Fitting<Source, Item> {
  readonly room: number;
  readonly make: (source: Source) => Item;
  /** About what the item takes in the answer. */
  readonly sizeOf: (item: Item) => number;
  /** The same item, shortened to about these bytes; for one that is too large alone. */
  readonly shorten: (source: Source, bytes: number) => Item;
  readonly write: (items: readonly Item[]) => Output;
}

/** Writes as many items as fit into the room, but one at least. Returns the answer's content and their number. */
export function fitAnswer<Source, Item>(
  sources: readonly Source[],
  fitting: Fitting<Source, Item>,
): { readonly output: Output; readonly count: number } {
  const { room, shorten, write } = fitting;
  const items = firstItems(sources, fitting);
  let output = write(items);
  for (let bytes = bytesOf(output); bytes > room && items.length > 1; bytes = bytesOf(output)) {
    items.length = Math.max(1, Math.min(items.length - 1, Math.floor((items.length * room) / bytes)));
    output = write(items);
  }
  const [first] = sources;
  if (first === undefined || bytesOf(output) <= room) return { output, count: items.length };
  for (let share = room - bytesOf(write([shorten(first, 0)])); bytesOf(output) > room && share > 16; share /= 2) {
    output = write([shorten(first, share)]);
  }
  return { output, count: items.length };
}

function firstItems<Source, Item>(sources: readonly Source[], { room, make, sizeOf }: Fitting<Source, Item>): Item[] {
  const items: Item[] = [];
  let bytes = 0;
  for (const source of sources) {
    const item = make(source);
    bytes += sizeOf(item);
    if (bytes > room && items.length > 0) break;
    items.push(item);
  }
  return items;
}

/** The first elements of a list that fit into the bytes. */
export function fitList<T>(list: readonly T[], bytes: number): readonly T[] {
  let left = bytes - 2;
  const end = list.findIndex((item) => (left -= bytesOf(item) + 1) < 0);
  return end < 0 ? list : list.slice(0, end);
}

/** The replacement of a value that was cut. */
interface Cut {
  readonly $truncated: true;
  readonly bytes: number;
  /** The beginning of a text. */
  readonly text?: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Shortens a payload to the bytes: what does not fit is replaced by a mark that says how large it is; then properties are left out. */
export function shortened(payload: Payload, bytes: number): Payload {
  const short: Record<string, unknown> = {};
  const names = Object.keys(payload);
  let left = bytes - 40; // for the mark of what is left out
  for (const [i, name] of names.entries()) {
    const value = fitValue(payload[name], left - byteLength(JSON.stringify(name)) - 4);
    if (value === undefined) return { ...short, $truncated: true, $omitted: names.length - i };
    short[name] = value;
    left -= bytesOf({ [name]: value });
  }
  return short;
}

/** The value, or a mark in its place; `undefined` when there is no room for either. */
function fitValue(value: unknown, bytes: number): unknown {
  if (bytes < 0) return undefined;
  const size = bytesOf(value);
  if (size <= bytes) return value;
  const mark: Cut = { $truncated: true, bytes: size };
  if (typeof value === 'string') {
    const text = decoder.decode(encoder.encode(value).subarray(0, bytes / 2)).replace(/\uFFFD+$/, '');
    if (bytesOf({ ...mark, text }) <= bytes) return { ...mark, text };
  }
  return bytesOf(mark) <= bytes ? mark : undefined;
}
