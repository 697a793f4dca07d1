/** The index of a text source, and its queries: their words, what else says the same, and which words are neighbors. */

import type { Turns } from '../../../src/base/turns.ts';
import { isEveryday, languageOf, maskCount, stopMaskOf } from '../../../src/search/languages.ts';
import { alternativesOf, type Concept, rarityOf } from '../../../src/search/ranking.ts';
import { type IndexRules, SearchIndex } from '../../../src/search/search-index.ts';
import { stem } from '../../../src/search/terms.ts';
import type { TextThesaurus } from '../../../src/search/thesaurus.ts';
import { longerTerms, repairsOf, type Vocabulary } from '../../../src/search/vocabulary.ts';
import { isHalfPair, isSegmented, visitWords } from '../../../src/search/words.ts';

/** Weights are halves: a mention counts in the title 1.5, in the text 1, in the path 0.5. */
const rules: IndexRules = {
  reading: { visit: visitWords, maskOf: stopMaskOf, languageOf },
  fields: [1.5, 1, 0.5].map((weight) => ({ weight, usualLength: 1, lengthEffect: 0 })),
  step: 0.5,
  steps: 256,
};

export function createTextIndex(vocabulary?: Vocabulary): SearchIndex {
  return new SearchIndex(rules, vocabulary);
}

/** Adds a text, with the words of its path or uri; not those of hashes and numbers. Texts of one group lift each other. */
export function addText(
  index: SearchIndex,
  { id, group, title, text, path }: {
    readonly id: string;
    readonly group: string;
    readonly title: string;
    readonly text: string;
    readonly path: string;
  },
): void {
  const words = path.replace(/%[0-9a-f]{2}/gi, ' ').split(/[^\p{L}\p{N}]+/u)
    .filter((part) => /^\p{L}{2,40}$/u.test(part));
  index.add({ id, group, texts: [title, text, words.join(' ')] });
  index.vocabulary.shape();
}

export interface TextConcept extends Concept {
  readonly isKnown: boolean;
  /** Whether the word is a part of a name that no item has: "word" of "WordPress". */
  readonly isPartOfUnknown: boolean;
}

export interface TextQuery {
  readonly concepts: readonly TextConcept[];
  /** Pairs of concepts, by number, that are near each other in the query. */
  readonly pairs: readonly (readonly [number, number])[];
  /** How long the query is: 0 up to 12 words, toward 1 for a story. */
  readonly length: number;
}

const mostConcepts = 96;
/** A word of everyday talk counts this share of another word. */
const everydayShare = 0.5;
/** A longer query says more itself: everyday words, and other words for its words, count less. */
const usualWords = 12;
/** The rare words of a longer query are often its details, not its topic: the exponent of rarity falls by this. */
const longDamping = 0.4;
/** Content words this near each other belong together. */
const pairDistance = 3;

/** What a word counts that a phrase of the query means, and a word that is only like one that no item has. */
const phraseWorth = 0.6;
const [repairWorth, prefixWorth] = [0.5, 0.4];
/** A word that so large a share of the items has is no evidence for another word. */
const commonShare = 0.2;
/** So many items without any word of a query count with those of the index: in a small one, another item changes little. */
const usualItems = 200;

export async function readTextQuery(
  text: string,
  index: SearchIndex,
  { thesaurus, turns }: { readonly thesaurus: TextThesaurus; readonly turns: Turns },
): Promise<TextQuery> {
  const words = contentWords(text, index);
  const stems = words.map((word) => word && stem(word));
  const counts = new Map<string, number>();
  for (const one of stems) if (one !== '') counts.set(one, (counts.get(one) ?? 0) + 1);
  const phrases = phrasesIn(text, thesaurus);
  const parts = partsOfUnknown(text, index);
  const otherShare = Math.min(1, usualWords / counts.size);
  const length = 1 - otherShare;
  const total = index.live + usualItems;
  const mostFrequent = index.live > 100 ? commonShare * index.live : Infinity;
  const read = [...counts].slice(0, mostConcepts).map(([one, count]): TextConcept => {
    const word = words[stems.indexOf(one)]!;
    const own = index.numberOf(one);
    const rarity = rarityOf(Math.max(1, index.frequencyOf(own)), total) ** (1 - longDamping * length);
    const worths = new Map<string, number>();
    for (const [other, worth] of thesaurus.words.get(one) ?? []) {
      if (!counts.has(other)) worths.set(other, worth * otherShare);
    }
    for (const meaning of phrases.get(word) ?? []) worths.set(meaning, phraseWorth * otherShare);
    const others = [...worths, ...(own === undefined || isHalfPair(one) ? likeWords(index, word, one) : [])];
    return {
      word,
      stem: one,
      rarity,
      // Everyday words count less; lessAssociated lowers the words that the items have together with one near it.
      weight: (1 + Math.log(count)) * (isEveryday(word, one) ? everydayShare * otherShare : 1),
      isKnown: own !== undefined,
      isPartOfUnknown: parts.has(one),
      alternatives: [
        ...(own === undefined ? [] : [{ term: own, worth: 1, rarity }]),
        ...alternativesOf(index, others, { rarity, total, mostFrequent }),
      ],
    };
  });
  const concepts = await lessAssociated(read, index, turns);
  return { concepts, pairs: pairsOf(stems, concepts), length };
}

/** What a word may have meant that no item has: a slip, two words written as one, or else a longer word. */
function likeWords(index: SearchIndex, word: string, one: string): (readonly [string, number])[] {
  const repairs = repairsOf(index, word);
  if (repairs.length > 0) return repairs.map((term) => [term, repairWorth]);
  return longerTerms(index, one).map((term) => [term, prefixWorth]);
}

/** Words of the query that are this near each other are compared. */
const nearWords = 6;
/** What a word loses that the items never have without another word of the query. */
const associationLoss = 0.5;

/** Words that the items have together, like those of a name, say the same thing: each counts less. */
async function lessAssociated(
  concepts: readonly TextConcept[],
  index: SearchIndex,
  turns: Turns,
): Promise<TextConcept[]> {
  const closest = concepts.map(() => 0);
  for (const [at, { alternatives: [one] }] of concepts.entries()) {
    await turns.next();
    for (let next = at + 1; next <= at + nearWords; next++) {
      const other = concepts[next]?.alternatives[0];
      if (one?.worth !== 1 || other?.worth !== 1) continue;
      const association = associationOf(index, one.term, other.term);
      for (const place of [at, next]) closest[place] = Math.max(closest[place]!, association);
    }
  }
  return concepts.map((one, at) => ({ ...one, weight: one.weight * (1 - associationLoss * closest[at]!) }));
}

/** Of a more frequent word, this many items are looked into, evenly spread. */
const mostSampled = 100;

/**
 * Returns how much more often than by chance items have both terms: 0 for no more often, 1 for always (normalized pointwise mutual
 * information). A single item with both is no evidence.
 */
function associationOf(index: SearchIndex, one: number, other: number): number {
  const [first, second] = [index.postings[one]!, index.postings[other]!];
  const [fewer, more, term] = first.length <= second.length ? [first, second, other] : [second, first, one];
  const step = Math.ceil(fewer.length / mostSampled);
  let [found, sampled] = [0, 0];
  for (let at = 0; at < fewer.length; at += step, sampled++) {
    if (index.weightOf(term, Math.floor(fewer[at]! / index.rules.steps)) > 0) found++;
  }
  const share = found / sampled;
  const items = index.ids.length + usualItems;
  const usual = more.length / items;
  return found < 2 || share <= usual ? 0 : Math.log(share / usual) / Math.log(items / (share * fewer.length));
}

/**
 * The words of a query, empty where one is a stop word. A query of nothing but stop words keeps them. A word of `Intl.Segmenter`
 * counts only where an item has it: another platform, which indexed the item, may cut it otherwise.
 */
function contentWords(text: string, index: SearchIndex): string[] {
  const words: string[] = [];
  const counts = new Uint32Array(maskCount);
  visitWords(text, (word) => {
    if (isSegmented(word) && index.numberOf(word) === undefined) return;
    words.push(word);
    counts[stopMaskOf(word)]!++;
  });
  const language = languageOf(counts);
  const content = words.map((word) => stopMaskOf(word) & language ? '' : word);
  return content.some((word) => word !== '') ? content : words;
}

/** The stems of the parts of names that no item has. A name comes after its parts, with the place of all of them. */
function partsOfUnknown(text: string, index: SearchIndex): ReadonlySet<string> {
  const found = new Set<string>();
  const words: { readonly word: string; readonly from: number }[] = [];
  visitWords(text, (word, from) => {
    if (isSegmented(word)) return;
    const parts = words.splice(words.findLastIndex((before) => before.from < from) + 1);
    words.push({ word, from });
    if (index.numberOf(stem(word)) !== undefined) return;
    for (const part of parts) found.add(stem(part.word));
  });
  return found;
}

/** What phrases of the query mean, by their first word that is no stop word. */
function phrasesIn(text: string, thesaurus: TextThesaurus): ReadonlyMap<string, readonly string[]> {
  const words: string[] = [];
  visitWords(text, (word) => void words.push(word));
  const meanings = new Map<string, readonly string[]>();
  for (let at = 0; at < words.length; at++) {
    for (const length of [3, 2]) {
      const phrase = words.slice(at, at + length);
      const meaning = thesaurus.phrases.get(phrase.join(' ')) ?? [];
      const carrier = phrase.find((word) => (stopMaskOf(word) & 1) === 0);
      if (meaning.length > 0 && carrier !== undefined) meanings.set(carrier, meaning);
    }
  }
  return meanings;
}

function pairsOf(stems: readonly string[], concepts: readonly TextConcept[]): [number, number][] {
  const numbers = new Map(concepts.map((concept, at) => [concept.stem, at]));
  const pairs: [number, number][] = [];
  let before: { readonly at: number; readonly concept: number } | undefined;
  for (const [at, one] of stems.entries()) {
    const concept = numbers.get(one);
    if (one === '' || concept === undefined) continue;
    if (before && before.concept !== concept && at - before.at <= pairDistance) pairs.push([before.concept, concept]);
    before = { at, concept };
  }
  return pairs;
}
