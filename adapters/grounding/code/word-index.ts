/** Finds parts of files by the words in them: identifiers and what those are made of. */

import MiniSearch from 'minisearch';
import { wordConfidence } from '../../../src/grounding/confidence.ts';
import { identifierTokens } from './identifiers.ts';

/** A part of a file, by numbers. */
export interface IndexedChunk {
  readonly id: number;
  readonly path: string;
  readonly symbol: string;
  readonly body: string;
}

/** A chunk that was found. */
export interface FoundChunk {
  readonly id: number;
  readonly score: number;
  readonly confidence: number;
  /** The words that matched, in small letters. */
  readonly terms: readonly string[];
}

/** Words of chunks. */
export interface WordIndex {
  add(chunk: IndexedChunk): void;
  search(query: string, passes: (id: number) => boolean): FoundChunk[];
}

const bestPerWord = 1.2 + 1 + 0.5; // of BM25+, times the rarity
/** Words of minified files are not indexed. */
const longestBody = 20_000;

/** Creates an index without chunks. */
export function createWordIndex(): WordIndex {
  const frequencies = new Map<string, number>();
  const index = new MiniSearch<IndexedChunk>({
    fields: ['path', 'symbol', 'body'],
    tokenize: identifierTokens,
    processTerm: (term) => term,
    searchOptions: { boost: { symbol: 3, path: 2 } },
  });
  return {
    add(chunk) {
      const body = chunk.body.slice(0, longestBody);
      index.add({ ...chunk, body });
      for (const word of new Set(identifierTokens(`${chunk.path} ${chunk.symbol} ${body}`))) {
        frequencies.set(word, (frequencies.get(word) ?? 0) + 1);
      }
    },
    search(query, passes) {
      const rarity = (word: string): number => {
        const having = frequencies.get(word) ?? 0;
        return Math.log(1 + (index.documentCount - having + 0.5) / (having + 0.5));
      };
      const total = [...new Set(identifierTokens(query))].reduce((sum, word) => sum + rarity(word), 0);
      const results = index.search(query, { filter: ({ id }) => passes(Number(id)) });
      return results.map(({ id, score, queryTerms, terms }) => {
        const share = queryTerms.reduce((sum, word) => sum + rarity(word), 0) / total;
        const raw = score / Math.max(1, queryTerms.length);
        return { id: Number(id), score, confidence: wordConfidence(raw / (total * bestPerWord), share), terms };
      });
    },
  };
}
