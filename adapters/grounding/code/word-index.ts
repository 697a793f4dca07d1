/** Finds parts of files by the words in them: what a symbol is named, its comments and its code, and the path of its file. */

import { textThesaurus } from '../../../src/search/thesaurus.ts';
import { confidencesOf } from '../text/confidence.ts';
import { readQuery } from '../text/query.ts';
import { answersOf, rankItems } from '../text/rank.ts';
import { addItem, createTextIndex } from '../text/text-index.ts';
import type { Turns } from '../../../src/base/turns.ts';

/** A part of a file, by numbers from 0 in their order. */
export interface IndexedChunk {
  readonly id: number;
  readonly path: string;
  /** The name of the symbol, with that of the symbol that contains it. */
  readonly symbol: string;
  readonly body: string;
}

/** A chunk that was found. */
export interface FoundChunk {
  readonly id: number;
  readonly score: number;
  readonly confidence: number;
  /** The probability that the repository answers the query at all, judged by this chunk. */
  readonly answered: number;
  /** The stems that matched. */
  readonly terms: readonly string[];
}

/** Words of chunks. */
export interface WordIndex {
  add(chunk: IndexedChunk): void;
  search(query: string, options: WordSearch): Promise<FoundChunk[]>;
}

/** The limits of a search. */
export interface WordSearch {
  readonly passes: (id: number) => boolean;
  readonly most: number;
  readonly turns: Turns;
}

/** Words of minified files are not indexed. */
const longestBody = 20_000;

/** Creates an index without chunks. */
export function createWordIndex(): WordIndex {
  const index = createTextIndex();
  return {
    add({ id, path, symbol, body }) {
      const text = body.slice(0, longestBody);
      const title = `${symbol} ${path}`;
      addItem(index, { id: String(id), title, text, path, uri: path, metadata: {}, updatedAt: 0 });
    },
    async search(text, { passes, most, turns }) {
      const query = await readQuery(text, index, { thesaurus: await textThesaurus(), turns });
      const allowed = Uint32Array.from(index.ids.keys().filter(passes));
      const ranked = await rankItems(index, query, { allowed, topK: most, turns });
      const found = ranked.slice(0, most);
      const answers = found.map(({ slot }) => answersOf(index, query, slot));
      const confidences = confidencesOf(query, ranked, answers);
      return found.map(({ slot, score }, at) => {
        const terms = answers[at]!.flatMap((answer) => answer ? [index.vocabulary.terms[answer.term]!] : []);
        return { id: slot, score, ...confidences[at]!, terms };
      });
    },
  };
}
