/** Vectors in plain JavaScript: exact while they are few, by one-bit codes and exact scores beyond, stored in parts. */

import { PinnaceError } from '../../src/base/errors.ts';
import { filterOps } from '../../src/contracts/filter.ts';
import type { Embedder } from '../../src/contracts/embedder.ts';
import type { GroundingRequest } from '../../src/contracts/grounding-source.ts';
import { cacheEmbeddings } from './embedding-cache.ts';
import type { StoredItem } from './item.ts';
import { createItemSource, type ItemSource, type ItemSourceOptions, type Preparing } from './item-source.ts';
import type { StoredRow } from './log-part.ts';
import { createTurns } from '../../src/base/turns.ts';
import { createVectorEngine } from './vector/engine.ts';
import { toUnitRow } from './vector/unit.ts';

/** What a source of vectors is made of. */
export interface VectorSourceOptions extends ItemSourceOptions {
  /** Creates vectors of texts and queries; without one, items and questions must bring their own. */
  readonly embedder?: Embedder;
  /** `int8` takes a quarter of the memory, and its scores are near the cosine; `float32` when absent. */
  readonly keep?: 'float32' | 'int8';
  /** Whether the embedder's vectors are cached by text, so that no text is embedded twice; true when absent. */
  readonly keepEmbeddings?: boolean;
  /** The length of all vectors; that of a tenant's first one when absent. */
  readonly dimensions?: number;
}

/** Counted words beside the same words ranked by rarity: with more than this, the fused list is worse than that of the text source. */
const featureQuality = 0.005;

/**
 * Returns a source that finds items by the cosine of their vectors.
 *
 * @example
 * const memory = vectorSource({ id: 'memory', storage, embedder: createEmbedder(model) });
 * await memory.remember({ tenant: 'local', items: [{ text: 'Mia likes green tea' }] }, signal);
 */
export function vectorSource(options: VectorSourceOptions): ItemSource {
  const { embedder, storage, keep = 'float32', keepEmbeddings = true, dimensions } = options;
  const embed = embedder && cacheEmbeddings(embedder, { storage: keepEmbeddings ? storage : undefined, dimensions });
  return createItemSource(options, {
    kind: 'vector',
    capabilities: { query: embedder !== undefined, embedding: true, filters: filterOps, records: false },
    ...(embedder?.countsFeatures && { quality: featureQuality }),
    createEngine: () =>
      createVectorEngine(keep, {
        countsFeatures: embedder?.countsFeatures === true,
        ...(embedder?.embedNow && { refresh: refreshWith(embedder) }),
      }),
    async toRows(items, given) {
      const vectors = await vectorsOf(items, given);
      const turns = createTurns(given.signal);
      const rows: StoredRow[] = [];
      const length = vectors[0]?.length ?? 0;
      const room = new Float32Array(items.length * length); // a buffer for each row would be work for the collection of garbage
      for (const [at, item] of items.entries()) {
        await turns.next();
        const vector = vectors[at] ?? [];
        const into = room.subarray(at * length, at * length + vector.length);
        rows.push({ item, vector: toUnitRow(vector, { dimensions: dimensions ?? length, into }) });
      }
      return rows;
    },
    async toRequest(request, signal) {
      const embedding = request.embedding ?? await vectorOfQuery(request, signal);
      return embedding ? { ...request, embedding } : request;
    },
  });

  async function vectorsOf(items: readonly StoredItem[], { tenant, embeddings, signal }: Preparing) {
    const missing = items.filter(({ id }) => !embeddings.has(id));
    if (missing.length > 0 && !embed) {
      throw new PinnaceError(
        'invalid_argument',
        'Cannot keep an item: it has no embedding, and the source makes none',
        {
          details: { reason: 'no_embedding' },
        },
      );
    }
    const texts = missing.map(textOf);
    const made = await embed?.(texts, { tenant, signal }) ?? [];
    const byId = new Map(missing.map(({ id }, at) => [id, made[at]!]));
    return items.map(({ id }) => embeddings.get(id) ?? byId.get(id)!);
  }

  async function vectorOfQuery({ query = '', tenant }: GroundingRequest, signal: AbortSignal) {
    return query.trim() === '' ? undefined : (await embed?.([query], { tenant, signal }))?.[0];
  }
}

/** What of an item is embedded. */
function textOf({ title, text }: StoredItem): string {
  return title === undefined ? text : `${title}\n${text}`;
}

/** Returns the current vector of an item whose stored one has another length. */
function refreshWith(embedder: Embedder) {
  const embedNow = (text: string): ArrayLike<number> => embedder.embedNow?.(text) ?? [];
  const { length } = embedNow('');
  return (item: StoredItem, vector: Float32Array): Float32Array =>
    vector.length === length ? vector : toUnitRow(embedNow(textOf(item)));
}
