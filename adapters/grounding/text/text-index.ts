/** The index of a text source: which items have a term and how often, and the terms of each item in their order. */

import type { StoredItem } from '../item.ts';
import { createSplitMap, type SplitMap } from '../split-map.ts';
import { createVocabulary, sequencesOf, type Vocabulary } from './vocabulary.ts';

/** The index of the items of one tenant. Items are numbered by slots; a slot is not used again. */
export interface TextIndex {
  readonly vocabulary: Vocabulary;
  /** By slot; `undefined` where an item was removed. */
  readonly ids: (string | undefined)[];
  readonly slots: SplitMap<number>;
  /** By term: slots in ascending order with their counts, `slot << 8 | count`; there is place for 8 million slots. */
  readonly postings: number[][];
  /** By term: how many items have it. */
  readonly frequencies: number[];
  /** By slot: the terms of title, text and path. A {@link fieldEnd} follows each field. */
  readonly sequences: Int32Array[];
  /** Where the next sequence goes. */
  free: Int32Array;
  /** By slot: how long the item is, in weighted words. */
  readonly lengths: number[];
  /** By slot: the number of the file that it is a part of. */
  readonly groups: number[];
  readonly groupNumbers: SplitMap<number>;
  /** By group. */
  readonly groupNames: string[];
  /** By group: how many parts it has. */
  readonly groupSizes: number[];
  /** How many parts are not the first one of their group. */
  furtherParts: number;
  live: number;
  totalLength: number;
}

/** A longer item counts as this long in the mean. */
const mostLength = 1_000;

/** In a sequence of terms: the end of a field. */
export const fieldEnd = -2;
/** How much a word in the title, in the text and in the path counts, in halves. */
const fieldHalves = [3, 2, 1] as const;
const mostHalves = 255;

/** Creates an index without items. */
export function createTextIndex(): TextIndex {
  return {
    vocabulary: createVocabulary(),
    ids: [],
    slots: createSplitMap(),
    postings: [],
    frequencies: [],
    sequences: [],
    free: new Int32Array(),
    lengths: [],
    groups: [],
    groupNumbers: createSplitMap(),
    groupNames: [],
    groupSizes: [],
    furtherParts: 0,
    live: 0,
    totalLength: 0,
  };
}

/** Adds an item, which is not there yet. */
export function addItem(index: TextIndex, item: StoredItem): void {
  const fields = sequencesOf(index.vocabulary, [item.title ?? '', item.text, pathOf(item)]);
  addSequence(index, { id: item.id, group: groupOf(item), sequence: fields.flatMap((field) => [...field, fieldEnd]) });
}

/** An item as it is in the index. */
export interface IndexedItem {
  readonly id: string;
  readonly group: string;
  readonly sequence: ArrayLike<number>;
}

/** Adds the terms of an item. */
export function addSequence(index: TextIndex, { id, group, sequence }: IndexedItem): void {
  const slot = index.ids.push(id) - 1;
  index.slots.set(id, slot);
  const length = countTerms(index, slot, storeSequence(index, sequence));
  index.lengths.push(length);
  index.totalLength += Math.min(length, mostLength);
  index.live++;
  const number = index.groupNumbers.get(group) ?? addGroup(index, group);
  index.groups.push(number);
  if (index.groupSizes[number]!++ > 0) index.furtherParts++;
}

/** Sequences share memory of this length: 100,000 buffers would be work for the collection of garbage. */
const blockLength = 16_000;

function storeSequence(index: TextIndex, values: ArrayLike<number>): Int32Array {
  const { length } = values;
  if (length > index.free.length) index.free = new Int32Array(Math.max(length, blockLength));
  const stored = index.free.subarray(0, length);
  index.free = index.free.subarray(length);
  index.sequences.push(stored);
  stored.set(values);
  return stored;
}

function addGroup({ groupNames, groupNumbers, groupSizes }: TextIndex, name: string): number {
  const number = groupNames.push(name) - 1;
  groupNumbers.set(name, number);
  groupSizes.push(0);
  return number;
}

/** Adds to the postings and returns the length of the item. An item is the last one in the postings of its terms. */
function countTerms({ postings, frequencies }: TextIndex, slot: number, sequence: Int32Array): number {
  let [field, length] = [0, 0];
  for (const term of sequence) {
    if (term === fieldEnd) field++;
    if (term < 0) continue;
    const halves = fieldHalves[field] ?? 0;
    length += halves / 2;
    const list = postings[term] ??= [];
    const last = list.length - 1;
    const known = last >= 0 && list[last]! >> 8 === slot ? list[last]! : -1;
    if (known >= 0) list[last] = Math.min(known + halves, slot << 8 | mostHalves);
    else {
      list.push(slot << 8 | halves);
      frequencies[term] = (frequencies[term] ?? 0) + 1;
    }
  }
  return length;
}

/** Removes an item. Its postings stay until the index is made anew, and count no more. */
export function removeItem(index: TextIndex, id: string): void {
  const slot = index.slots.get(id);
  if (slot === undefined) return;
  index.slots.delete(id);
  index.ids[slot] = undefined;
  for (const term of new Set(index.sequences[slot])) if (term >= 0) index.frequencies[term]!--;
  index.live--;
  index.totalLength -= Math.min(index.lengths[slot]!, mostLength);
  if (--index.groupSizes[index.groups[slot]!]! > 0) index.furtherParts--;
}

/** The items of an index as they are added to another one. */
export function* itemsOf({ ids, groups, groupNames, sequences }: TextIndex): Iterable<IndexedItem> {
  for (const [slot, id] of ids.entries()) {
    if (id !== undefined) yield { id, group: groupNames[groups[slot]!]!, sequence: sequences[slot]! };
  }
}

/** Returns how often an item has a term, in halves; 0 if it does not. */
export function halvesOf({ postings }: TextIndex, term: number, slot: number): number {
  const list = postings[term];
  if (!list) return 0;
  let [low, high] = [0, list.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (list[middle]! >> 8 <= slot) low = middle;
    else high = middle - 1;
  }
  const found = list[low] ?? -1;
  return found >> 8 === slot ? found & 255 : 0;
}

/** Parts of a file lift each other: they have a uri in common, up to its fragment. */
function groupOf({ uri }: StoredItem): string {
  const fragment = uri.indexOf('#');
  return fragment < 0 ? uri : uri.slice(0, fragment);
}

/** The words of a path or a uri; not those of hashes and numbers. */
function pathOf({ path, uri }: StoredItem): string {
  const text = path ?? uri;
  return text.replace(/%[0-9a-f]{2}/gi, ' ').split(/[^\p{L}\p{N}]+/u).filter((part) => /^\p{L}{2,40}$/u.test(part))
    .join(' ');
}
