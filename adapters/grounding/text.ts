/** Full text over MiniSearch: words by their rarity (BM25+), in any script, stored and updated item by item. */

import MiniSearch, { type Options, type SearchResult } from 'minisearch';
import { wordConfidence } from '../../src/grounding/confidence.ts';
import { compileFilters, filterOps } from '../../src/contracts/filter.ts';
import type { GroundingRequest, SourceHit } from '../../src/contracts/grounding-source.ts';
import { excerptOf } from './excerpt.ts';
import type { StoredItem } from './item.ts';
import { readItem } from './item.ts';
import { createItemSource, type ItemSource, type ItemSourceOptions } from './item-source.ts';
import { type ItemEngine, plainHit, type SearchContext } from './item-engine.ts';
import { documentFrequencies, readIndex, writeIndex } from './text-snapshot.ts';
import { createTurns, requireRunning } from './turns.ts';
import { normalizeWord, tokenize, wordsOf } from './words.ts';

/**
 * Returns a source that finds items by their words.
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

/** BM25+ as MiniSearch reckons it: an ideal document gets, for each word, its rarity times this. */
const bestPerWord = 1.2 + 1 + 0.5;
/** The weight of a word that is only similar to a word of the query. */
const likenessWorth = 0.5;

interface Indexed {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

const indexOptions: Options<Indexed> = {
  fields: ['title', 'text'],
  tokenize,
  processTerm: normalizeWord,
  searchOptions: { boost: { title: 2 } },
};

/** Returns an engine without items. */
function createTextEngine(): ItemEngine {
  let frequencies = new Map<string, number>();
  let index = new MiniSearch<Indexed>(indexOptions);
  const count = (item: StoredItem, by: 1 | -1): void => {
    for (const word of new Set(tokenize(`${item.title ?? ''}\n${item.text}`).map(normalizeWord))) {
      const left = (frequencies.get(word) ?? 0) + by;
      if (left > 0) frequencies.set(word, left);
      else frequencies.delete(word);
    }
  };
  const rarity = (word: string): number => {
    const having = frequencies.get(word) ?? 0;
    return Math.log(1 + (index.documentCount - having + 0.5) / (having + 0.5));
  };
  return {
    add({ item }) {
      index.add(toIndexed(item));
      count(item, 1);
    },
    remove(item) {
      index.remove(toIndexed(item));
      count(item, -1);
    },
    has: (id) => index.has(id),
    snapshot: () => writeIndex(index, createTurns()),
    async restore(bytes) {
      const read = await readIndex(bytes, { options: indexOptions, turns: createTurns() });
      if (!read) return false;
      [index, frequencies] = [read, await documentFrequencies(read, createTurns())];
      return true;
    },
    search(request, context) {
      requireRunning(context.signal);
      const query = request.query ?? '';
      const words = [...new Set(tokenize(query).map(normalizeWord))];
      const exact = find(index, request, context);
      const results = exact.length > 0 ? exact : find(index, request, { ...context, like: true });
      const worth = exact.length > 0 ? 1 : likenessWorth;
      const total = words.reduce((sum, word) => sum + rarity(word), 0);
      return Promise.resolve(results.map((result) => {
        const raw = result.score / Math.max(1, result.queryTerms.length); // MiniSearch multiplies by the number of words
        const matchedShare = result.queryTerms.reduce((sum, word) => sum + rarity(word), 0) / total;
        return {
          ...toHit(result, context),
          score: result.score,
          scoreKind: 'bm25',
          confidence: wordConfidence((worth * raw) / (total * bestPerWord), worth * matchedShare),
        };
      }));
    },
  };
}

/** The best results, equals by id, whatever the order in which they came. */
function find(
  index: MiniSearch<Indexed>,
  { query = '', filters, topK }: GroundingRequest,
  { items, like = false }: SearchContext & { readonly like?: boolean },
): SearchResult[] {
  const passes = compileFilters<StoredItem>(filters, readItem);
  const results = index.search(query, {
    ...(like && { prefix: true, fuzzy: 0.2 }),
    ...(filters.length > 0 && { filter: ({ id }) => passes(items.get(String(id))!) }), // every indexed item is there
  });
  const lowest = results[topK - 1]?.score ?? -Infinity;
  const end = results.findIndex(({ score }) => score < lowest);
  return (end < 0 ? results : results.slice(0, end))
    .toSorted((a, b) => b.score - a.score || (String(a.id) < String(b.id) ? -1 : 1))
    .slice(0, topK);
}

function toHit(
  { id, terms }: SearchResult,
  { items, version }: SearchContext,
): Omit<SourceHit, 'score' | 'scoreKind' | 'confidence'> {
  const item = items.get(String(id))!;
  const found = new Set(terms);
  const excerpt = excerptOf(item.text, rangesOf(item.text, found));
  const titleRanges = rangesOf(item.title ?? '', found);
  return {
    ...plainHit(item, version),
    content: excerpt.content,
    ...(excerpt.contentRange && { contentRange: excerpt.contentRange }),
    matched: [
      { field: 'content', ranges: excerpt.ranges },
      ...(titleRanges.length > 0 ? [{ field: 'title', ranges: titleRanges }] : []),
    ],
  };
}

function rangesOf(text: string, found: ReadonlySet<string>): (readonly [number, number])[] {
  return wordsOf(text)
    .filter((word) => found.has(normalizeWord(word.text)))
    .map((word) => [word.at, word.at + word.text.length] as const);
}

function toIndexed({ id, title = '', text }: StoredItem): Indexed {
  return { id, title, text };
}
