/** Puts the hits of several sources into one order, by how probable each is, and says what agreement is worth. */

import type { GroundingKind, SourceHit } from '../contracts/grounding-source.ts';
import { monotone } from './monotone.ts';
import type { GroundingHit } from './request.ts';

/** The hits of one source, the best first. */
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

/** What several sources gave of one thing, the best first. */
interface Group {
  readonly entries: readonly Entry[];
  readonly best: Entry;
  readonly points: number;
}

/**
 * Returns one list. Order: by the confidence that the hits of all sources together give, each by the weight of its source and by
 * `60 / (60 + rank)`; then by source and id. One source keeps its own order. The same item found by
 * several sources, whatever part of it each shows, is one hit of more confidence. Confidence never rises down the list. Neither the
 * order of the sources nor one without hits changes anything.
 */
export function fuse(lists: readonly SourceHits[]): GroundingHit[] {
  const found = lists.filter(({ hits }) => hits.length > 0);
  const fused = found.length > 1;
  const groups = fused
    ? groupAlike(entriesOf(found)).toSorted(inOrder)
    : entriesOf(found).map((entry) => groupOf([entry]));
  const confidences = monotone(groups.map(confidenceOf));
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
    for (const [at, hit] of list.hits.entries()) {
      const confidence = falling[at] ?? 0;
      entries.push({ list, hit, confidence, points: (confidence * rankConstant) / (rankConstant + at) });
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
  const firstWith = new Map<string, number>();
  const join = (key: string, at: number): void => {
    const first = firstWith.get(key);
    if (first === undefined) firstWith.set(key, at);
    else parents[rootOf(at)] = rootOf(first);
  };
  for (const [at, { hit }] of entries.entries()) for (const key of keysOf(hit)) join(key, at);
  const members = new Map<number, Entry[]>();
  for (const [at, entry] of entries.entries()) {
    const root = rootOf(at);
    const group = members.get(root);
    if (group) group.push(entry);
    else members.set(root, [entry]);
  }
  return [...members.values()].flatMap(splitGroup);
}

/** An id that is a hash of the content. */
const hashId = /^[0-9a-f]{32}$/;

/** Hits that share one of these are of the same item: their content, their lines, or their id within one uri. */
function keysOf({ id, content, source: { uri, lines } }: SourceHit): string[] {
  const keys = [content.trim(), `\nid ${hashId.test(id) ? '' : uri} ${id}`]; // no trimmed content starts with an empty line
  return lines ? [...keys, `\nlines ${lines[0]} ${lines[1]} ${uri}`] : keys;
}

/** Agreement is between sources: hits that are alike within one source stay hits of their own. */
function splitGroup(entries: readonly Entry[]): Group[] {
  if (entries.length === 1) return [groupOf(entries)];
  const bestOf = new Map<SourceHits, Entry>();
  for (const entry of entries) {
    const best = bestOf.get(entry.list);
    if (!best || byPoints(entry, best) < 0) bestOf.set(entry.list, entry);
  }
  return bestOf.size === 1 ? entries.map((entry) => groupOf([entry])) : [groupOf([...bestOf.values()])];
}

function groupOf(entries: readonly Entry[]): Group {
  const sorted = entries.length === 1 ? entries : entries.toSorted(byPoints);
  return { entries: sorted, best: sorted[0]!, points: togetherOf(sorted, 'points') };
}

/** What hits of several sources give together, each by the weight of its source. */
function togetherOf(entries: readonly Entry[], by: 'confidence' | 'points'): number {
  return 1 - entries.reduce((doubt, entry) => doubt * (1 - entry[by]) ** entry.list.weight, 1);
}

function confidenceOf({ entries, best }: Group): number {
  return entries.length === 1 ? best.confidence : Math.min(mostConfident, togetherOf(entries, 'confidence'));
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
