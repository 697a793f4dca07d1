/** Full text in any script: words by their rarity, their stems and what else says the same. */

import { createTurns, requireRunning, type Turns } from '../../src/base/turns.ts';
import { filterOps, type GroundingRequest, type SourceHit } from '../../src/contracts/grounding-source.ts';
import { stopMaskOf } from '../../src/search/languages.ts';
import type { SearchIndex } from '../../src/search/search-index.ts';
import { Vocabulary } from '../../src/search/vocabulary.ts';
import { visitWords } from '../../src/search/words.ts';
import { excerptOf, type MarkedRange } from './excerpt.ts';
import { createAllowedRows, type ItemEngine, plainHit, type SearchContext } from './item-engine.ts';
import { createItemSource, type ItemSource, type ItemSourceOptions } from './item-source.ts';
import type { StoredItem } from './item.ts';
import { addText, createTextIndex } from './text/text-query.ts';
import { type FoundText, searchTexts } from './text/text-ranking.ts';

export type { ItemSource } from './item-source.ts';

/**
 * Returns a source that finds items by their words. Stop words of English, German, French and Spanish are dropped, English words are
 * stemmed, and a word that no item has is tried as a longer word, a typing slip or a compound.
 *
 * @example
 * const handbook = textSource({ id: 'handbook', storage });
 * await handbook.remember({ tenant: 'local', items: [{ text: 'Trips are booked by the office.' }] }, signal);
 */
export function textSource(options: ItemSourceOptions): ItemSource {
  return createItemSource(options, {
    kind: 'search',
    capabilities: { query: true, embedding: false, filters: filterOps, records: false },
    createEngine: createTextEngine,
  });
}

function createTextEngine(): ItemEngine {
  let index = createTextIndex();
  let indexed = 0;
  const allowedRows = createAllowedRows();
  return {
    add({ item }) {
      const { id, uri, title = '', text, path = uri } = item;
      addText(index, { id, group: uri.replace(/#.*/s, ''), title, text, path });
      indexed++;
      allowedRows.clear();
    },
    remove({ id }) {
      index.remove(id);
      allowedRows.clear();
    },
    stats: () => ({ terms: index.vocabulary.terms.length, indexed }),
    has: (id) => index.slots.has(id),
    async settle(signal) {
      if (!index.isWorn) return;
      index = await madeAgain(index, createTurns(signal));
      allowedRows.clear();
    },
    snapshot: () => writeIndex(index, createTurns()),
    async restore(bytes) {
      const read = await readIndex(bytes, createTurns());
      if (!read) return false;
      index = read;
      allowedRows.clear();
      return true;
    },
    async search(request, context) {
      requireRunning(context.signal);
      const now = index; // a later `settle` makes another
      const turns = createTurns(context.signal);
      await turns.next();
      const { items, signal } = context;
      const allowed = await allowedRows.find(request.filters, { ids: now.ids, items, signal });
      const texts = await searchTexts(now, request.query ?? '', { allowed, topK: request.topK, turns });
      return withNamed(now, toHits(now, texts, context), { request, context, allowed });
    },
  };
}

/** Returns the index without removed items. Nothing comes or goes meanwhile. */
async function madeAgain(index: SearchIndex, turns: Turns): Promise<SearchIndex> {
  const fresh = createTextIndex(index.vocabulary);
  for (const item of index.items()) {
    await turns.next();
    fresh.addSequence(item);
  }
  return fresh;
}

/** The confidence of an item whose id is the query. */
const namedConfidence = 0.99;

/** Puts the item first whose id is the query. */
function withNamed(index: SearchIndex, hits: SourceHit[], { request, context, allowed }: Named): SourceHit[] {
  const id = (request.query ?? '').trim();
  const item = context.items.get(id);
  const slot = index.slots.get(id);
  if (!item || slot === undefined || (allowed && !allowed.includes(slot))) return hits;
  const named = hits.find((hit) => hit.id === id) ??
    {
      ...plainHit(item, context.version),
      ...markedPartsOf(item, index.vocabulary, { worths: new Map(), starts: createStarts() }),
      score: 0,
      scoreKind: 'exact' as const,
    };
  const score = Math.max(named.score, hits[0]?.score ?? 0);
  const first = { ...named, score, confidence: namedConfidence, answered: namedConfidence };
  return [first, ...hits.filter((hit) => hit.id !== id)].slice(0, request.topK);
}

interface Named {
  readonly request: GroundingRequest;
  readonly context: SearchContext;
  readonly allowed: Uint32Array | undefined;
}

function toHits(index: SearchIndex, texts: readonly FoundText[], { items, version }: SearchContext): SourceHit[] {
  const starts = createStarts();
  return texts.flatMap(({ slot, score, answers, confidence, answered }): SourceHit[] => {
    const item = items.get(index.ids[slot] ?? '');
    if (!item) return []; // removed during the search
    const worths = new Map(
      answers.flatMap((answer) => answer ? [[answer.alternative.term, answer.value] as const] : []),
    );
    return [{
      ...plainHit(item, version),
      ...markedPartsOf(item, index.vocabulary, { worths, starts }),
      score,
      scoreKind: 'bm25',
      confidence,
      answered,
    }];
  });
}

/** The part of the text where the answer is, and where the words are in it and in the title. */
function markedPartsOf({ text, title = '' }: StoredItem, vocabulary: Vocabulary, wanted: Wanted) {
  setStarts(wanted, vocabulary);
  const { content, contentRange, ranges } = excerptOf(text, rangesOf(text, vocabulary, wanted));
  const titleRanges = rangesOf(title, vocabulary, wanted);
  return {
    content,
    ...(contentRange && { contentRange }),
    matched: [
      { field: 'content', ranges },
      ...(titleRanges.length > 0
        ? [{ field: 'title', ranges: titleRanges.map(([from, to]) => [from, to] as const) }]
        : []),
    ],
  };
}

/** The terms to mark with what each is worth, and how words with them start. */
interface Wanted {
  readonly worths: ReadonlyMap<number, number>;
  readonly starts: Uint8Array;
}

function rangesOf(text: string, vocabulary: Vocabulary, { worths, starts }: Wanted): MarkedRange[] {
  if (worths.size === 0) return [];
  const ranges: MarkedRange[] = [];
  const isWanted = (_: string, from: number): boolean => {
    const [first, second] = [text.charCodeAt(from), text.charCodeAt(from + 1)];
    return first > 127 || second > 127 || starts[startOf(first, second)] === 1;
  };
  visitWords(text, (word, from, to) => {
    const { term } = vocabulary.know(word);
    const worth = worths.get(term);
    if (worth === undefined) return;
    let range: MarkedRange = [from, to, String(term), worth];
    for (let last = ranges.at(-1); last && from < last[1]; last = ranges.at(-1)) {
      range = [Math.min(last[0], range[0]), Math.max(last[1], range[1]), range[2], range[3]]; // a name comes after its parts
      ranges.pop();
    }
    ranges.push(range);
  }, isWanted);
  return ranges;
}

/** Room for the two characters that words start with; the hits of a search share it. */
function createStarts(): Uint8Array {
  return new Uint8Array(128 * 128);
}

/** A stem starts with the same two characters as its words; after a word of one character, any may come. */
function setStarts({ worths, starts }: Wanted, { terms }: Vocabulary): void {
  starts.fill(0);
  for (const term of worths.keys()) {
    const [a, b] = [terms[term]!.charCodeAt(0), terms[term]!.charCodeAt(1)];
    if (b <= 127 && a <= 127) starts[startOf(a, b)] = 1;
    else if (a <= 127) starts.fill(1, startOf(a, 0), startOf(a, 0) + 128);
  }
}

/** The place of two characters of ASCII, in either case. */
function startOf(first: number, second: number): number {
  return small(first) * 128 + small(second);
}

function small(code: number): number {
  return code >= 65 && code <= 90 ? code + 32 : code & 127;
}

/**
 * An index of an earlier format is not read, and all items are indexed again: format 1 was of another engine, format 2 had words
 * by earlier rules and did not store them, format 3 had other stems. A change of the rules of words needs another format.
 */
const format = 4;
/** Terms start here; below are the marks in a sequence. */
const firstTerm = 2;

/** Returns the bytes of an index, which must not change meanwhile: the terms, the words, and the items with their terms in order. */
async function writeIndex(index: SearchIndex, turns: Turns): Promise<Uint8Array<ArrayBuffer>> {
  const out = new ByteWriter();
  const { terms, words } = index.vocabulary;
  out.numbers(format, terms.length, words.size, index.live);
  for (const term of terms) {
    await turns.next();
    out.text(term);
  }
  for (const [word, { term }] of words) {
    await turns.next();
    out.text(word === terms[term] ? '' : word);
    out.numbers(term);
  }
  for (const { id, group, sequence } of index.items()) {
    await turns.next();
    out.text(id);
    out.text(group === id ? '' : group);
    out.numbers(sequence.length);
    for (let at = 0; at < sequence.length; at++) out.numbers(sequence[at]! + firstTerm);
  }
  return out.bytes();
}

/** Returns the index of these bytes; `undefined` for those of another format. */
async function readIndex(bytes: Uint8Array, turns: Turns): Promise<SearchIndex | undefined> {
  const from = new ByteReader(bytes);
  if (from.number() !== format) return undefined;
  const vocabulary = new Vocabulary(stopMaskOf);
  const index = createTextIndex(vocabulary);
  const [terms, words, items] = [from.number(), from.number(), from.number()];
  for (let left = terms; left > 0; left--) {
    await turns.next();
    vocabulary.addTerm(from.text());
    vocabulary.shape();
  }
  for (let left = words; left > 0; left--) {
    await turns.next();
    const [word, term] = [from.text(), from.number()];
    vocabulary.addWord(word === '' ? vocabulary.terms[term]! : word, term);
    vocabulary.shape();
  }
  for (let left = items; left > 0; left--) {
    await turns.next();
    const [id, group] = [from.text(), from.text()];
    const sequence = Array.from({ length: from.number() }, () => from.number() - firstTerm);
    index.addSequence({ id, group: group === '' ? id : group, sequence });
  }
  return index;
}

/** Numbers and texts, one after another, in few bytes. */
export class ByteWriter {
  #bytes = new Uint8Array(65_536);
  #length = 0;

  /** Whole numbers from 0, seven bits a byte. */
  numbers(...values: readonly number[]): void {
    for (let value of values) {
      this.#reserve(8);
      while (value >= 128) {
        this.#bytes[this.#length++] = (value % 128) | 128;
        value = Math.floor(value / 128);
      }
      this.#bytes[this.#length++] = value;
    }
  }

  float(value: number): void {
    this.#reserve(8);
    new DataView(this.#bytes.buffer).setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  text(text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.numbers(bytes.length);
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

/** Reads them in the order in which they were written. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #decoder = new TextDecoder();
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  number(): number {
    let value = 0;
    for (let worth = 1;; worth *= 128) {
      const byte = this.#bytes[this.#at++] ?? 0;
      value += (byte & 127) * worth;
      if (byte < 128) return value;
    }
  }

  float(): number {
    const value = new DataView(this.#bytes.buffer, this.#bytes.byteOffset).getFloat64(this.#at, true);
    this.#at += 8;
    return value;
  }

  text(): string {
    const length = this.number();
    return this.#decoder.decode(this.#bytes.subarray(this.#at, this.#at += length));
  }
}
