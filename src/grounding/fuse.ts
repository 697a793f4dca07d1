/** Puts the hits of several sources into one order, by their ranks alone, and says what agreement is worth. */

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

interface Entry {
  readonly list: SourceHits;
  readonly hit: SourceHit;
  readonly points: number;
}

/** What several sources gave of one thing, the best first. */
interface Group {
  readonly entries: readonly Entry[];
  readonly best: Entry;
  readonly points: number;
}

/**
 * Returns one list. Order: the sum of `weight / (60 + rank)` over the sources, then source and id; one source keeps its own. Several
 * sources that give the same lines of a uri, or the same content, count as one hit of more confidence. Confidence never rises
 * down the list. Neither the order of the sources nor one without hits changes anything.
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
    let rank = 0;
    for (const hit of list.hits) entries.push({ list, hit, points: list.weight / (rankConstant + ++rank) });
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
  for (const [at, { hit: { source: { uri, lines }, content } }] of entries.entries()) {
    join(content.trim(), at);
    if (lines) join(`\n${lines[0]} ${lines[1]} ${uri}`, at); // no trimmed content starts so
  }
  const members = new Map<number, Entry[]>();
  for (const [at, entry] of entries.entries()) {
    const root = rootOf(at);
    const group = members.get(root);
    if (group) group.push(entry);
    else members.set(root, [entry]);
  }
  return [...members.values()].flatMap(splitGroup);
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
  if (entries.length === 1) return { entries, best: entries[0]!, points: entries[0]!.points };
  const sorted = entries.toSorted(byPoints);
  let points = 0;
  for (const entry of sorted) points += entry.points; // in this order, whatever the order of the sources
  return { entries: sorted, best: sorted[0]!, points };
}

function confidenceOf({ entries, best }: Group): number {
  if (entries.length === 1) return best.hit.confidence;
  const doubt = entries.reduce(
    (product, { list, hit }) => product * (1 - Math.min(1, list.weight) * hit.confidence),
    1,
  );
  return Math.min(0.99, 1 - doubt);
}

function byPoints(a: Entry, b: Entry): number {
  return b.points - a.points || compare(a.list.dataSourceId, b.list.dataSourceId) || compare(a.hit.id, b.hit.id);
}

function inOrder(a: Group, b: Group): number {
  return b.points - a.points || byPoints(a.best, b.best);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
