/**
 * The inverted index under tool search, text sources and code search: which items say which terms, how much, and in which order.
 *
 * What must hold:
 * - An item is the sequence of its terms, field by field. Lists, frequencies and lengths are counted from it, so an index that is made
 *   again from the sequences finds the same.
 * - A slot is not used again, and lists only grow at their end. A search that takes turns may go on while items are added.
 * - The lists keep a removed item until the owner makes the index again. Its id is `undefined`, and `frequencies` do not count it: a
 *   term without a frequency is unknown, and a slot without an id is never returned.
 * - How much an item says a term depends on that item alone; how rare the term is, on `frequencies` and `live`.
 */

import { createSplitMap } from './split-map.ts';
import { type KnownWord, Vocabulary } from './vocabulary.ts';

/** What a mention in a field counts: `weight / (1 - lengthEffect + lengthEffect * length / usualLength)`. */
export interface FieldRule {
  readonly weight: number;
  /** How many terms the field has in a usual item: with more, each says less. */
  readonly usualLength: number;
  /** How much the length matters, 0 to 1. */
  readonly lengthEffect: number;
}

export interface Reading {
  /** Visits the words of a text in order. */
  readonly visit: (text: string, visit: (word: string) => void) => void;
  /** Returns the languages whose grammar has the word, as bits; 0 for a word with a meaning of its own. */
  readonly maskOf: (word: string) => number;
  /** Returns the bit of the language of an item, by how many of its words have each mask. */
  readonly languageOf: (counts: ArrayLike<number>) => number;
}

export interface IndexRules {
  readonly reading: Reading;
  readonly fields: readonly FieldRule[];
  /** Weights are stored in whole steps of this. */
  readonly step: number;
  /** A power of two: the greatest weight has one step less. Slots times this stay below 2 ** 53. */
  readonly steps: number;
}

export interface IndexedItem {
  readonly id: string;
  /** Items of one group lift each other. */
  readonly group: string;
  readonly sequence: ArrayLike<number>;
}

/** In a sequence of terms: a word that is dropped, and the end of a field. */
export const gap = -1;
export const fieldEnd = -2;

/** A longer item counts as this long in the mean. */
const mostLength = 1_000;
/** There are four languages. */
const mostMasks = 16;
/** Sequences share memory of this length: 100,000 buffers would be work for the collection of garbage. */
const blockLength = 16_000;

/** An index. Its fields are read by the rankings, and written here alone. */
export class SearchIndex {
  readonly rules: IndexRules;
  readonly vocabulary: Vocabulary;
  /** By slot; `undefined` where an item was removed. */
  readonly ids: (string | undefined)[] = [];
  readonly slots = createSplitMap<number>();
  /** By term: slots in ascending order with their weights, `slot * steps + weight`. */
  readonly postings: number[][] = [];
  /** By term: how many items have it. */
  readonly frequencies: number[] = [];
  /** By slot: the terms of the fields; {@link fieldEnd} follows each. */
  readonly sequences: Int32Array[] = [];
  /** By slot: how long the item is, in weighted words. */
  readonly lengths: number[] = [];
  /** By slot: the number of its group. */
  readonly groups: number[] = [];
  readonly groupNames: string[] = [];
  /** By group: how many items it has. */
  readonly groupSizes: number[] = [];
  /** How many items are not the first one of their group. */
  furtherItems = 0;
  live = 0;
  totalLength = 0;
  readonly #groupNumbers = createSplitMap<number>();
  #room = new Int32Array();

  constructor(rules: IndexRules, vocabulary: Vocabulary = new Vocabulary(rules.reading.maskOf)) {
    this.rules = rules;
    this.vocabulary = vocabulary;
  }

  /** Adds an item with the texts of its fields. There is none of this id. */
  add({ id, group, texts }: { readonly id: string; readonly group: string; readonly texts: readonly string[] }): void {
    this.addSequence({ id, group, sequence: this.#read(texts) });
  }

  /** Adds an item of another index with the same vocabulary. */
  addSequence({ id, group, sequence }: IndexedItem): void {
    const slot = this.ids.push(id) - 1;
    this.slots.set(id, slot);
    const length = this.#count(slot, this.#store(sequence));
    this.lengths.push(length);
    this.totalLength += Math.min(length, mostLength);
    this.live++;
    const number = this.#groupNumbers.get(group) ?? this.#addGroup(group);
    this.groups.push(number);
    if (this.groupSizes[number]!++ > 0) this.furtherItems++;
  }

  remove(id: string): void {
    const slot = this.slots.get(id);
    if (slot === undefined) return;
    this.slots.delete(id);
    this.ids[slot] = undefined;
    for (const term of new Set(this.sequences[slot])) if (term >= 0) this.frequencies[term]!--;
    this.live--;
    this.totalLength -= Math.min(this.lengths[slot]!, mostLength);
    if (--this.groupSizes[this.groups[slot]!]! > 0) this.furtherItems--;
  }

  get isWorn(): boolean {
    return this.ids.length - this.live >= Math.max(1_000, this.ids.length / 4);
  }

  *items(): Iterable<IndexedItem> {
    for (const [slot, id] of this.ids.entries()) {
      if (id !== undefined) yield { id, group: this.groupNames[this.groups[slot]!]!, sequence: this.sequences[slot]! };
    }
  }

  numberOf(term: string): number | undefined {
    const number = this.vocabulary.numbers.get(term);
    return number !== undefined && (this.frequencies[number] ?? 0) > 0 ? number : undefined;
  }

  frequencyOf(term: number | undefined): number {
    return term === undefined ? 0 : this.frequencies[term] ?? 0;
  }

  weightOf(term: number, slot: number): number {
    const { step, steps } = this.rules;
    const list = this.postings[term];
    if (!list) return 0;
    const start = slot * steps;
    let [low, high] = [0, list.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (list[middle]! < start + steps) low = middle;
      else high = middle - 1;
    }
    const posting = list[low] ?? -1;
    return posting >= start && posting < start + steps ? (posting - start) * step : 0;
  }

  /**
   * Returns the terms of the texts in order, with gaps for the stop words of the language of all of them. Where nothing would be left
   * of a text, its stop words are terms too.
   */
  #read(texts: readonly string[]): number[] {
    const { visit, languageOf } = this.rules.reading;
    const counts = new Uint32Array(mostMasks);
    const read = texts.map((text) => {
      const words: KnownWord[] = [];
      if (text !== '') {
        visit(text, (word) => {
          const known = this.vocabulary.know(word);
          counts[known.stopMask]!++;
          words.push(known);
        });
      }
      return words;
    });
    const language = languageOf(counts);
    const sequence: number[] = [];
    for (const words of read) {
      const saysSomething = words.some(({ stopMask }) => (stopMask & language) === 0);
      for (const { term, stopMask } of words) sequence.push(saysSomething && stopMask & language ? gap : term);
      sequence.push(fieldEnd);
    }
    return sequence;
  }

  #store(values: ArrayLike<number>): Int32Array {
    const { length } = values;
    if (length > this.#room.length) this.#room = new Int32Array(Math.max(length, blockLength));
    const stored = this.#room.subarray(0, length);
    this.#room = this.#room.subarray(length);
    this.sequences.push(stored);
    stored.set(values);
    return stored;
  }

  #addGroup(name: string): number {
    const number = this.groupNames.push(name) - 1;
    this.#groupNumbers.set(name, number);
    this.groupSizes.push(0);
    return number;
  }

  /** Adds to the postings and returns the length of the item, which is the last one in the lists of its terms. */
  #count(slot: number, sequence: Int32Array): number {
    const { fields, step, steps } = this.rules;
    const start = slot * steps;
    const most = start + steps - 1;
    let [length, from] = [0, 0];
    for (const field of fields) {
      const end = sequence.indexOf(fieldEnd, from);
      if (end < 0) break;
      const value = valueIn(field, sequence, from, end);
      const weight = Math.max(1, Math.round(value / step));
      for (let at = from; at < end; at++) {
        const term = sequence[at]!;
        if (term < 0) continue;
        length += value;
        this.#post(term, start, weight, most);
      }
      from = end + 1;
    }
    return length;
  }

  // oxlint-disable-next-line max-params -- the innermost loop of a build
  #post(term: number, start: number, weight: number, most: number): void {
    const list = this.postings[term];
    if (!list) {
      this.postings[term] = [start + weight];
      this.frequencies[term] = 1;
      return;
    }
    const last = list.length - 1;
    if (list[last]! >= start) list[last] = Math.min(list[last]! + weight, most);
    else {
      list.push(start + weight);
      this.frequencies[term]!++;
    }
  }
}

/** What one mention counts in the field that is this part of a sequence. */
export function valueIn(
  { weight, usualLength, lengthEffect }: FieldRule,
  sequence: Int32Array,
  from: number,
  end: number,
): number {
  if (lengthEffect === 0) return weight;
  let length = 0;
  for (let at = from; at < end; at++) if (sequence[at]! >= 0) length++;
  return weight / (1 - lengthEffect + (lengthEffect * length) / usualLength);
}
