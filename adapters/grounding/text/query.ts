/** Reads a query against an index: its words, what else says the same, and which words are neighbors. */

import { stem } from '../../../src/search/terms.ts';
import { isEveryday } from '../../../src/search/languages.ts';
import { languageOf, maskCount, stopMaskOf } from '../../../src/search/languages.ts';
import type { TextThesaurus } from '../../../src/search/thesaurus.ts';
import { isSegmented, visitWords } from '../../../src/search/words.ts';
import type { Turns } from '../../../src/base/turns.ts';
import { associationOf } from './cooccurrence.ts';
import type { TextIndex } from './text-index.ts';
import { likeWords } from './like-words.ts';

/** A term of the index that answers a word of the query. */
export interface Alternative {
  readonly term: number;
  /** 1 for the word itself, less for another one. */
  readonly worth: number;
  readonly rarity: number;
}

/** One word of the query. */
export interface Concept {
  readonly stem: string;
  /** How rare the word is; a word that no item has is rarer than all others. */
  readonly rarity: number;
  /** More than 1 for a word that the query repeats, less for one that the items have together with a word near it. */
  readonly weight: number;
  readonly alternatives: readonly Alternative[];
  /** Whether an item has the word itself. */
  readonly isKnown: boolean;
  /** Whether the word is a part of a name that no item has: "word" of "WordPress". */
  readonly isPartOfUnknown: boolean;
}

/** A query as the search sees it. */
export interface TextQuery {
  readonly concepts: readonly Concept[];
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

/** Returns the parts of a query. A long one takes several turns of the event loop. */
export async function readQuery(
  text: string,
  index: TextIndex,
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
  const read = [...counts].slice(0, mostConcepts).map(([one, count]): Concept => {
    const word = words[stems.indexOf(one)]!;
    const own = index.vocabulary.numbers.get(one);
    const frequency = own === undefined ? 0 : index.frequencies[own] ?? 0;
    const rarity = rarityOf(index, frequency) ** (1 - longDamping * length);
    const worths = new Map<string, number>();
    for (const [other, worth] of thesaurus.words.get(one) ?? []) {
      if (!counts.has(other)) worths.set(other, worth * otherShare);
    }
    for (const meant of phrases.get(word) ?? []) worths.set(meant, phraseWorth * otherShare);
    const known = [...worths].flatMap(([other, worth]): Alternative[] => toAlternative(index, other, worth, rarity));
    const like = frequency === 0 ? likeWords(index, word, one) : [];
    return {
      stem: one,
      rarity,
      weight: (1 + Math.log(count)) * (isEveryday(word, one) ? everydayShare * otherShare : 1),
      isKnown: frequency > 0,
      isPartOfUnknown: parts.has(one),
      alternatives: [
        ...(frequency > 0 ? [{ term: own!, worth: 1, rarity }] : []),
        ...known,
        ...like.flatMap(({ term, worth }) => toAlternative(index, term, worth, rarity)),
      ],
    };
  });
  const concepts = await lessAssociated(read, index, turns);
  return { concepts, pairs: pairsOf(stems, concepts), length };
}

/** Words of the query that are this near each other are compared. */
const nearWords = 6;
/** What a word loses that the items never have without another word of the query. */
const associationLoss = 0.5;

/** Words that the items have together, like those of a name, say the same thing: each counts less. */
async function lessAssociated(concepts: readonly Concept[], index: TextIndex, turns: Turns): Promise<Concept[]> {
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

/** What a word counts that a phrase of the query means. */
const phraseWorth = 0.6;
/** A word that so large a share of the items has is no evidence for another word. */
const commonShare = 0.2;

function toAlternative(index: TextIndex, other: string, worth: number, rarity: number): Alternative[] {
  const term = index.vocabulary.numbers.get(other);
  const frequency = term === undefined ? 0 : index.frequencies[term] ?? 0;
  if (term === undefined || frequency === 0 || (index.live > 100 && frequency > commonShare * index.live)) return [];
  return [{ term, worth, rarity: Math.min(rarity, rarityOf(index, frequency)) }];
}

/** So many items without any word of a query count with those of the index: in a small one, another item changes little. */
const usualItems = 200;

/** How rare a term is, as BM25 has it. A word that no item has is as rare as one that one item has. */
export function rarityOf({ live }: TextIndex, frequency: number): number {
  const having = Math.max(1, frequency) + 0.5;
  return Math.log(1 + (live + usualItems - having + 1) / having);
}

/**
 * The words of a query, empty where one is a stop word. A query of nothing but stop words keeps them. A word of `Intl.Segmenter`
 * counts only where an item has it: another platform, which indexed the item, may cut it otherwise.
 */
function contentWords(text: string, { vocabulary, frequencies }: TextIndex): string[] {
  const words: string[] = [];
  const counts = new Uint32Array(maskCount);
  visitWords(text, (word) => {
    if (isSegmented(word) && !frequencies[vocabulary.numbers.get(word) ?? -1]) return;
    words.push(word);
    counts[stopMaskOf(word)]!++;
  });
  const language = languageOf(counts);
  const content = words.map((word) => stopMaskOf(word) & language ? '' : word);
  return content.some((word) => word !== '') ? content : words;
}

/** The stems of the parts of names that no item has. A name comes after its parts, with the place of all of them. */
function partsOfUnknown(text: string, { vocabulary, frequencies }: TextIndex): ReadonlySet<string> {
  const found = new Set<string>();
  const words: { readonly word: string; readonly from: number }[] = [];
  visitWords(text, (word, from) => {
    if (isSegmented(word)) return;
    const parts = words.splice(words.findLastIndex((before) => before.from < from) + 1);
    words.push({ word, from });
    const term = vocabulary.numbers.get(stem(word));
    if (term !== undefined && frequencies[term]) return;
    for (const part of parts) found.add(stem(part.word));
  });
  return found;
}

/** What phrases of the query mean, by their first word that is no stop word. */
function phrasesIn(text: string, thesaurus: TextThesaurus): ReadonlyMap<string, readonly string[]> {
  const words: string[] = [];
  visitWords(text, (word) => void words.push(word));
  const found = new Map<string, readonly string[]>();
  for (let at = 0; at < words.length; at++) {
    for (const length of [3, 2]) {
      const phrase = words.slice(at, at + length);
      const meant = thesaurus.phrases.get(phrase.join(' ')) ?? [];
      const carrier = phrase.find((word) => (stopMaskOf(word) & 1) === 0);
      if (meant.length > 0 && carrier !== undefined) found.set(carrier, meant);
    }
  }
  return found;
}

function pairsOf(stems: readonly string[], concepts: readonly Concept[]): [number, number][] {
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
