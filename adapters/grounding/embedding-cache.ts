/** Creates each vector once: texts go to the embedder in batches, and results are cached by the hash of the text. */

import { BoundedMap } from '../../src/base/bounded-map.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import type { Embedder } from '../../src/contracts/grounding-source.ts';
import type { Storage } from '../../src/contracts/storage.ts';
import { sha256 } from '../../src/base/hash.ts';
import { requireRunning } from '../../src/base/turns.ts';

export type Embed = (
  texts: readonly string[],
  options: { readonly tenant: string; readonly signal: AbortSignal },
) => Promise<readonly Float32Array[]>;

/** Texts in one call of the embedder; providers take about a hundred. */
const perBatch = 64;
const mostInMemory = 2_000;
const weekMs = 7 * 86_400_000;

/**
 * Returns an `Embed` over the embedder. Without a storage, the latest vectors are cached in memory. The tenant is part of the
 * key, so response times do not disclose the queries of other tenants. Rejects an invalid vector as `unavailable` with the
 * reason `invalid_embeddings`, and does not cache it.
 */
export function cacheEmbeddings(
  embedder: Embedder,
  { storage, dimensions }: { readonly storage?: Storage | undefined; readonly dimensions?: number | undefined } = {},
): Embed {
  const memory = new BoundedMap<string, Float32Array>(mostInMemory);
  const keep = (name: string, vector: Float32Array): void => {
    memory.set(name, vector);
  };
  return async (texts, { tenant, signal }) => {
    const names = await Promise.all(texts.map(sha256));
    const known = new Map<string, Float32Array>();
    for (const name of new Set(names)) {
      const own = memory.get(`${tenant} ${name}`) ?? await recall(storage, keyOf(embedder, tenant, name));
      if (own) known.set(name, own);
    }
    const missing = new Map(names.flatMap((name, at) => known.has(name) ? [] : [[name, texts[at]!] as const]));
    for (const batch of batches([...missing])) {
      requireRunning(signal);
      const vectors = read(await embedder.embed(batch.map(([, text]) => text), signal), batch.length, dimensions);
      const made = batch.map(([name], at) => [name, vectors[at]!] as const);
      for (const [name, vector] of made) known.set(name, vector);
      const changes = made.map(([name, vector]) => ({
        key: keyOf(embedder, tenant, name),
        value: vector,
        ttlMs: weekMs,
      }));
      if (storage) await storage.commit(changes);
    }
    for (const [name, vector] of known) keep(`${tenant} ${name}`, vector);
    return names.map((name) => known.get(name)!);
  };
}

function keyOf({ id }: Embedder, tenant: string, name: string): readonly string[] {
  return ['embedding', tenant, id, name];
}

async function recall(storage: Storage | undefined, key: readonly string[]): Promise<Float32Array | undefined> {
  const value = (await storage?.get(key))?.value;
  return value instanceof Float32Array ? value : undefined;
}

function batches<Item>(items: readonly Item[]): Item[][] {
  return Array.from(
    { length: Math.ceil(items.length / perBatch) },
    (_, at) => items.slice(at * perBatch, (at + 1) * perBatch),
  );
}

/** An embedder may answer anything: as many vectors as there were texts are wanted, all of one length. */
function read(answer: unknown, count: number, dimensions: number | undefined): readonly Float32Array[] {
  if (!Array.isArray(answer)) throw invalidAnswer('it gave no list of vectors');
  if (answer.length !== count) throw invalidAnswer(`it gave ${answer.length} vectors for ${count} texts`);
  const vectors = answer.map((one: unknown) =>
    Float32Array.from(typeof one === 'object' && one ? one as ArrayLike<number> : [])
  );
  const length = dimensions ?? vectors[0]?.length;
  const isVector = (one: Float32Array): boolean =>
    one.length > 0 && one.length === length && one.every(Number.isFinite);
  if (!vectors.every(isVector)) throw invalidAnswer('one of its vectors is none');
  return vectors;
}

function invalidAnswer(why: string): PinnaceError {
  return new PinnaceError('unavailable', `Cannot use the embedder: ${why}`, {
    retryable: false,
    details: { reason: 'invalid_embeddings' },
  });
}
