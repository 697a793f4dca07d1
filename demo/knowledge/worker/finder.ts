/** Finds parts, with the rank of each search method. */

import type { Filter, GroundingAnswer, GroundingHit } from '../../../src/grounding/index.ts';
import type { Grounding } from '../../../src/index.ts';
import type { FoundBy, FoundPart, FoundParts, KnowledgeQuery, Way } from '../../control/knowledge-control.ts';
import { sourceIds } from './data-sources.ts';
import { pieceOfLine } from './place.ts';

/** What only looks alike, and less than this, is left out: something always looks alike. */
const leastLikeness = 0.1;

/** Returns what is found; the order and the confidence are those that agents get. */
export async function findParts(
  grounding: Grounding,
  { text, files, limit }: KnowledgeQuery,
  signal: AbortSignal,
): Promise<FoundParts> {
  const start = performance.now();
  const filters: Filter[] = files.length === 0 ? [] : [{
    any: [{ field: 'file', op: 'in', value: [...files] }, { field: 'path', op: 'in', value: [...files] }],
  }];
  const query = (dataSourceIds: readonly string[]): Promise<GroundingAnswer> =>
    grounding.retrieve({
      dataSourceIds: [...dataSourceIds],
      query: text.slice(0, 4_096),
      topK: limit,
      filters,
      budgetMs: 20_000,
    }, { signal });
  const together = await query(Object.values(sourceIds));
  const alone = await Promise.all(
    (Object.keys(sourceIds) as Way[]).map(async (way) => ({ way, ...await query([sourceIds[way]]) })), // safe: its own keys
  );
  const parts = together.hits.map((hit) => toPart(hit, waysOf(alone, hit)));
  return {
    parts: parts.filter(({ foundBy, confidence }) =>
      foundBy.some(({ way }) => way !== 'likeness') || confidence >= leastLikeness
    ),
    answered: together.answered,
    tookMs: performance.now() - start,
    hasMore: alone.some(({ way, hits }) => way !== 'likeness' && hits.length === limit),
    problems: together.sources.flatMap(({ error }) => error ? [error.message] : []),
  };
}

function waysOf(alone: readonly (GroundingAnswer & { readonly way: Way })[], { id }: GroundingHit): FoundBy[] {
  return alone.flatMap(({ way, hits }) => {
    const hit = hits.find((one) => one.id === id);
    return hit ? [{ way, rank: hit.rank, score: hit.score, confidence: hit.confidence }] : [];
  });
}

function toPart(hit: GroundingHit, foundBy: readonly FoundBy[]): FoundPart {
  const { id, title, content, confidence, matched, metadata, source: { lines }, kind } = hit;
  const isCode = kind === 'code';
  const line = isCode && typeof metadata['line'] === 'number' ? metadata['line'] : undefined;
  return {
    id,
    file: String(metadata[isCode ? 'path' : 'file']),
    kind: isCode ? 'code' : 'document',
    piece: isCode ? pieceOfLine(line ?? lines?.[0] ?? 1) : Number(metadata['piece']),
    ...(title !== undefined && { title }),
    ...(lines && { lines }),
    ...(line !== undefined && { line }),
    content,
    ranges: matched.flatMap(({ field, ranges }) => field === 'content' ? ranges : []),
    confidence,
    foundBy,
  };
}
