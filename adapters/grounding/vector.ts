/** Vectors in plain JavaScript: exact while they are few, by one-bit codes and exact scores beyond, stored in parts. */

import { optional, type Wanted } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { createTurns } from '../../src/base/turns.ts';
import { type Embedder, filterOps } from '../../src/contracts/grounding-source.ts';
import { cacheEmbeddings } from './embedding-cache.ts';
import type { StoredItem } from './item.ts';
import { createItemSource, type ItemSource, type ItemSourceOptions, type Preparing } from './item-source.ts';
import type { StoredRow } from './item.ts';
import { embeddedText, VectorEngine } from './vector-engine.ts';
import { requireDimensions, toUnit, type VectorFormat } from './vector-rows.ts';

export type { ItemSource } from './item-source.ts';

/** What a source of vectors is made of. */
export interface VectorSourceOptions extends ItemSourceOptions {
  /** Creates vectors of texts and queries; without one, items and questions must bring their own. */
  readonly embedder?: Embedder;
  /** `int8` takes a quarter of the memory, and its scores are near the cosine; `float32` when absent. */
  readonly keep?: VectorFormat;
  /** Whether the embedder's vectors are cached by text, so that no text is embedded twice; true when absent. */
  readonly keepEmbeddings?: boolean;
  /** The length of all vectors; that of a tenant's first one when absent. */
  readonly dimensions?: number;
}

const vectorOptions: Readonly<Record<Exclude<keyof VectorSourceOptions, keyof ItemSourceOptions>, Wanted>> =
  /* @__PURE__ */ optional('embedder', 'keep', 'keepEmbeddings', 'dimensions');

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

  async function vectorsOf(items: readonly StoredItem[], { tenant, embeddings, signal }: Preparing) {
    const missing = items.filter(({ id }) => !embeddings.has(id));
    if (missing.length > 0 && !embed) {
      const message = 'Cannot keep an item: it has no embedding, and the source makes none';
      throw new PinnaceError('invalid_argument', message, { details: { reason: 'no_embedding' } });
    }
    const made = await embed?.(missing.map(embeddedText), { tenant, signal }) ?? [];
    const byId = new Map(missing.map(({ id }, at) => [id, made[at]!]));
    return items.map(({ id }) => embeddings.get(id) ?? byId.get(id)!);
  }

  return createItemSource(options, {
    options: vectorOptions,
    kind: 'vector',
    capabilities: { query: embedder !== undefined, embedding: true, filters: filterOps, records: false },
    ...(embedder?.countsFeatures && { quality: featureQuality }),
    createEngine: () => new VectorEngine(keep, embedder),
    async toRows(items, context) {
      const vectors = await vectorsOf(items, context);
      const turns = createTurns(context.signal);
      const rows: StoredRow[] = [];
      const length = dimensions ?? vectors[0]?.length ?? 0;
      const room = new Float32Array(items.length * length); // a buffer for each row would be work for the collection of garbage
      for (const [at, item] of items.entries()) {
        await turns.next();
        requireDimensions(vectors[at]!.length, length);
        rows.push({ item, vector: toUnit(vectors[at]!, room.subarray(at * length, (at + 1) * length)) });
      }
      return rows;
    },
    async toRequest(request, signal) {
      const { query = '', tenant, embedding = query.trim() && (await embed?.([query], { tenant, signal }))?.[0] } =
        request;
      return embedding ? { ...request, embedding } : request;
    },
  });
}
