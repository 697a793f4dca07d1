/** The port for reordering search results by a model: off unless the host passes one. */

import type { IndexedTool } from './tool-fields.ts';
import type { ToolHit } from './tool-index.ts';

/** A hit with its tool. */
export interface FoundTool extends ToolHit {
  readonly tool: IndexedTool;
}

/**
 * Returns the hits in another order, with scores of its own, as by embeddings. Names that were not among the hits are dropped, and
 * hits that it leaves out come last. When it fails, the order stays as it was; it must honour the signal.
 */
export type Rerank = (
  query: string,
  hits: readonly FoundTool[],
  options: { readonly signal: AbortSignal },
) => Promise<readonly ToolHit[]>;

/** How many hits a re-ranker gets to see. */
export const rerankedHits = 50;

/** Asks the re-ranker, and keeps to its rules. */
export async function applyRerank(
  rerank: Rerank,
  { query, hits, signal }: { query: string; hits: readonly FoundTool[]; signal: AbortSignal },
): Promise<readonly FoundTool[]> {
  const left = new Map(hits.map((hit) => [hit.name, hit]));
  try {
    const ordered = await rerank(query, hits, { signal });
    const first = ordered.flatMap(({ name, score }) => {
      const hit = left.get(name);
      left.delete(name);
      return hit ? [{ ...hit, score }] : [];
    });
    return [...first, ...left.values()];
  } catch {
    signal.throwIfAborted();
    return hits;
  }
}
