/** The engine of a text source: words by their rarity, in any script, added and removed item by item. */

import type { GroundingRequest, SourceHit } from '../../../src/contracts/grounding-source.ts';
import { textThesaurus } from '../../../src/search/thesaurus.ts';
import { visitWords } from '../../../src/search/words.ts';
import { excerptOf, type MarkedRange } from '../excerpt.ts';
import type { StoredItem } from '../item.ts';
import { type ItemEngine, plainHit, type SearchContext } from '../item-engine.ts';
import { createTurns, requireRunning, type Turns } from '../../../src/base/turns.ts';
import { createAllowedRows } from '../vector/allowed.ts';
import { confidencesOf } from './confidence.ts';
import { readQuery, type TextQuery } from './query.ts';
import { answersOf, type Ranked, rankItems } from './rank.ts';
import { readTextIndex, writeTextIndex } from './snapshot.ts';
import { knownWord, type Vocabulary } from './vocabulary.ts';
import { addItem, addSequence, createTextIndex, itemsOf, removeItem, type TextIndex } from './text-index.ts';

/** The index is made anew when a quarter of its slots is dead, and at least so many. */
const fewestDead = 1_000;

/** Creates an engine without items. */
export function createTextEngine(): ItemEngine {
  let index = createTextIndex();
  let indexed = 0;
  const allowedRows = createAllowedRows();
  return {
    add({ item }) {
      addItem(index, item);
      indexed++;
      allowedRows.clear();
    },
    remove({ id }) {
      removeItem(index, id);
      allowedRows.clear();
    },
    stats: () => ({ terms: index.vocabulary.terms.length, indexed }),
    has: (id) => index.slots.has(id),
    async settle(signal) {
      const fresh = await compacted(index, createTurns(signal));
      if (fresh === index) return;
      index = fresh;
      allowedRows.clear();
    },
    snapshot: () => writeTextIndex(index, createTurns()),
    async restore(bytes) {
      const read = await readTextIndex(bytes, createTurns());
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
      const allowed = await allowedRows.find(request.filters, {
        ids: now.ids,
        items: context.items,
        signal: context.signal,
      });
      const query = await readQuery(request.query ?? '', now, { thesaurus: await textThesaurus(), turns });
      const ranked = await rankItems(now, query, { allowed, topK: request.topK, turns });
      await turns.next();
      return withNamed(now, toHits(now, { request, query, ranked }, context), { request, context, allowed });
    },
  };
}

/** Returns an index without dead slots, or the same where there are few. Nothing comes or goes meanwhile. */
async function compacted(index: TextIndex, turns: Turns): Promise<TextIndex> {
  const dead = index.ids.length - index.live;
  if (dead < Math.max(fewestDead, index.ids.length / 4)) return index;
  const fresh = { ...createTextIndex(), vocabulary: index.vocabulary };
  for (const item of itemsOf(index)) {
    await turns.next();
    addSequence(fresh, item);
  }
  return fresh;
}

/** The confidence of an item whose id is the query. */
const namedConfidence = 0.99;

/** Puts the item first whose id is the query. */
function withNamed(index: TextIndex, hits: SourceHit[], { request, context, allowed }: Named): SourceHit[] {
  const id = (request.query ?? '').trim();
  const item = context.items.get(id);
  const slot = index.slots.get(id);
  if (!item || slot === undefined || (allowed && !allowed.includes(slot))) return hits;
  const named = hits.find((hit) => hit.id === id) ??
    {
      ...plainHit(item, context.version),
      ...markedPartsOf(item, index.vocabulary, { found: new Map(), starts: createStarts() }),
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

interface Found {
  readonly request: GroundingRequest;
  readonly query: TextQuery;
  readonly ranked: readonly Ranked[];
}

function toHits(index: TextIndex, { request, query, ranked }: Found, { items, version }: SearchContext): SourceHit[] {
  const shown = ranked.slice(0, request.topK);
  const answers = shown.map(({ slot }) => answersOf(index, query, slot));
  const confidences = confidencesOf(query, ranked, answers);
  const starts = createStarts();
  return shown.flatMap((one, at): SourceHit[] => {
    const item = items.get(index.ids[one.slot] ?? '');
    if (!item) return []; // removed during the search
    const found = new Map(answers[at]!.flatMap((answer) => answer ? [[answer.term, answer.value] as const] : []));
    return [{
      ...plainHit(item, version),
      ...markedPartsOf(item, index.vocabulary, { found, starts }),
      score: one.score,
      scoreKind: 'bm25',
      ...confidences[at]!,
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
  readonly found: ReadonlyMap<number, number>;
  readonly starts: Uint8Array;
}

function rangesOf(text: string, vocabulary: Vocabulary, { found, starts }: Wanted): MarkedRange[] {
  if (found.size === 0) return [];
  const ranges: MarkedRange[] = [];
  const isWanted = (_: string, from: number): boolean => {
    const [first, second] = [text.charCodeAt(from), text.charCodeAt(from + 1)];
    return first > 127 || second > 127 || starts[startOf(first, second)] === 1;
  };
  visitWords(text, (word, from, to) => {
    const { term } = knownWord(vocabulary, word);
    const worth = found.get(term);
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
function setStarts({ found, starts }: Wanted, { terms }: Vocabulary): void {
  starts.fill(0);
  for (const term of found.keys()) {
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
