/** Puts the hits of several sources into one order, by how probable each is, and says what agreement is worth. */

import type { GroundingKind, SourceHit } from '../contracts/grounding-source.ts';
import type { GroundingHit } from './request.ts';

export interface SourceHits {
  readonly dataSourceId: string;
  readonly kind: GroundingKind;
  readonly weight: number;
  readonly calibrated: boolean;
  readonly hits: readonly SourceHit[];
}

/** The constant of reciprocal rank fusion: how little the first ranks differ. */
const rankConstant = 60;
/** No agreement makes certain. */
const mostConfident = 0.99;

interface Entry {
  readonly list: SourceHits;
  readonly hit: SourceHit;
  /** The confidence of the hit, which does not rise down the list of its source. */
  readonly confidence: number;
  /** The confidence, less for every rank: a weak source does not change the order of equals in a strong one. */
  readonly points: number;
}

interface Group {
  readonly best: Entry;
  readonly points: number;
  readonly confidence: number;
}

/**
 * Returns one list. Order: by the confidence that the hits of all sources together give, each by the weight of its source and by
 * `60 / (60 + rank)`; then by source and id. One source keeps its own order. The same item found by several sources, whatever part of
 * it each shows, is one hit of more confidence. Confidence never rises down the list. Neither the order of the sources nor one without
 * hits changes anything.
 */
export function fuse(lists: readonly SourceHits[]): GroundingHit[] {
  const found = lists.filter(({ hits }) => hits.length > 0);
  const fused = found.length > 1;
  const groups = fused ? groupAlike(entriesOf(found)).toSorted(inOrder) : entriesOf(found).map(aloneOf);
  const confidences = monotone(groups.map(({ confidence }) => confidence));
  return groups.map(({ best: { hit, list }, points }, at) => {
    const { dataSourceId, kind, calibrated } = list;
    const score = fused ? points : hit.score;
    const scoreKind = fused ? 'rrf' : hit.scoreKind;
    return { ...hit, score, scoreKind, dataSourceId, kind, rank: at + 1, confidence: confidences[at] ?? 0, calibrated };
  });
}

function entriesOf(lists: readonly SourceHits[]): Entry[] {
  const entries: Entry[] = [];
  for (const list of lists) {
    const falling = monotone(list.hits.map(({ confidence }) => confidence));
    for (let at = 0; at < falling.length; at++) {
      const confidence = falling[at]!;
      entries.push({
        list,
        hit: list.hits[at]!,
        confidence,
        points: (confidence * rankConstant) / (rankConstant + at),
      });
    }
  }
  return entries;
}

function groupAlike(entries: readonly Entry[]): Group[] {
  const parents = entries.map((_, at) => at);
  const rootOf = (at: number): number => {
    while (parents[at] !== at) at = parents[at]!;
    return at;
  };
  joinAlike(entries, (first, at) => void (parents[rootOf(at)] = rootOf(first)));
  const byRoot: Entry[][] = [];
  const groups: Entry[][] = [];
  for (let at = 0; at < entries.length; at++) {
    const entry = entries[at]!;
    const group = byRoot[rootOf(at)] ??= [];
    if (group.push(entry) === 1) groups.push(group);
  }
  return groups.flatMap(splitGroup);
}

const hashId = /^[0-9a-f]{32}$/;

/**
 * Joins hits of the same item: with the same content, lines, or id within one uri. A key of several fields is a new text, which has to
 * be hashed: it is made only where an earlier hit has a field in common.
 */
function joinAlike(entries: readonly Entry[], join: (first: number, at: number) => void): void {
  const [contents, ids, uris] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  const joinFirst = (firsts: Map<string, number>, key: string, at: number): void => {
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, at);
    else join(first, at);
  };
  for (let at = 0; at < entries.length; at++) {
    const { id, content, source: { uri, lines } } = entries[at]!.hit;
    joinFirst(contents, content.trim(), at);
    const withId = entries[ids.get(id) ?? at]!.hit;
    joinFirst(ids, withId.source.uri === uri || hashId.test(id) ? id : `\n${uri} ${id}`, at);
    if (!lines) continue;
    const [from, to] = entries[uris.get(uri) ?? at]!.hit.source.lines!; // only hits with lines are in it
    joinFirst(uris, from === lines[0] && to === lines[1] ? uri : `\n${lines[0]} ${lines[1]} ${uri}`, at);
  }
}

/** Agreement is between sources: hits that are alike within one source stay hits of their own. */
function splitGroup(entries: readonly Entry[]): Group[] {
  if (entries.length === 1) return entries.map(aloneOf);
  const best: Entry[] = [];
  for (const entry of sortFew(entries)) if (!best.some(({ list }) => list === entry.list)) best.push(entry);
  return best.length === 1 ? entries.map(aloneOf) : [togetherOf(best)];
}

/** Sorts by insertion: a group has few entries, and most groups have two. */
function sortFew(entries: readonly Entry[]): Entry[] {
  const sorted: Entry[] = [];
  for (const entry of entries) {
    let at = sorted.length;
    for (; at > 0 && byPoints(entry, sorted[at - 1]!) < 0; at--) sorted[at] = sorted[at - 1]!;
    sorted[at] = entry;
  }
  return sorted;
}

function aloneOf(best: Entry): Group {
  return { best, points: 1 - (1 - best.points) ** best.list.weight, confidence: best.confidence };
}

/** What entries of several sources give together, each by the weight of its source; the best entry first. */
function togetherOf(entries: readonly Entry[]): Group {
  let [doubt, pointsLeft] = [1, 1];
  for (const { points, confidence, list: { weight } } of entries) {
    doubt *= (1 - confidence) ** weight;
    pointsLeft *= (1 - points) ** weight;
  }
  return { best: entries[0]!, points: 1 - pointsLeft, confidence: Math.min(mostConfident, 1 - doubt) };
}

function byPoints(a: Entry, b: Entry): number {
  return b.list.weight * b.points - a.list.weight * a.points ||
    compare(a.list.dataSourceId, b.list.dataSourceId) || compare(a.hit.id, b.hit.id);
}

function inOrder(a: Group, b: Group): number {
  return b.points - a.points || byPoints(a.best, b.best);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Returns the non-rising values nearest to those given: neighbours out of order take their mean. */
export function monotone(values: readonly number[]): number[] {
  const sums: number[] = [];
  const sizes: number[] = [];
  for (const value of values) {
    let sum = value;
    let size = 1;
    while (sums.length > 0 && sums[sums.length - 1]! / sizes[sizes.length - 1]! < sum / size) {
      sum = sums.pop()! + sum;
      size = sizes.pop()! + size;
    }
    sums.push(sum);
    sizes.push(size);
  }
  const means: number[] = [];
  for (let pool = 0; pool < sums.length; pool++) {
    const mean = sums[pool]! / sizes[pool]!;
    for (let left = sizes[pool]!; left > 0; left--) means.push(mean);
  }
  return means;
}
