/** Makes each vector once: texts go to the embedder in batches, and what it gave is kept by the hash of the text. */

import { PinnaceError } from '../../src/errors.ts';
import type { Embedder, Storage } from '../../src/ports.ts';
import { sha256 } from '../../src/hash.ts';
import { requireRunning } from './turns.ts';

/** Gives the vectors of texts, in their order. */
export type Embed = (
  texts: readonly string[],
  options: { readonly tenant: string; readonly signal: AbortSignal },
) => Promise<readonly Float32Array[]>;

/** Texts in one call of the embedder; providers take about a hundred. */
const perBatch = 64;
/** Vectors in memory, the latest. */
const mostInMemory = 2_000;
const weekMs = 7 * 86_400_000;

/**
 * Gives an `Embed` over the embedder. Without a storage the latest vectors are remembered for as long as the process lives. The
 * tenant is part of the key: how quick an answer is tells nobody what others have asked.
 */
export function cacheEmbeddings(embedder: Embedder, storage?: Storage): Embed {
  const memory = new Map<string, Float32Array>();
  const keep = (name: string, vector: Float32Array): void => {
    memory.set(name, vector);
    if (memory.size > mostInMemory) memory.delete(memory.keys().next().value ?? name);
  };
  return async (texts, { tenant, signal }) => {
    const names = await Promise.all(texts.map(sha256));
    const known = new Map<string, Float32Array>();
    for (const name of new Set(names)) {
      const own = memory.get(`${tenant} ${name}`) ?? await read(storage, keyOf(embedder, tenant, name));
      if (own) known.set(name, own);
    }
    const missing = new Map(names.flatMap((name, at) => known.has(name) ? [] : [[name, texts[at]!] as const]));
    for (const batch of batches([...missing])) {
      requireRunning(signal);
      const vectors = await embedder.embed(batch.map(([, text]) => text), signal);
      if (vectors.length !== batch.length) throw wrongCount(batch.length, vectors.length);
      const made = batch.map(([name], at) => [name, Float32Array.from(vectors[at]!)] as const);
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

async function read(storage: Storage | undefined, key: readonly string[]): Promise<Float32Array | undefined> {
  const value = (await storage?.get(key))?.value;
  return value instanceof Float32Array ? value : undefined;
}

function batches<Item>(items: readonly Item[]): Item[][] {
  return Array.from(
    { length: Math.ceil(items.length / perBatch) },
    (_, at) => items.slice(at * perBatch, (at + 1) * perBatch),
  );
}

function wrongCount(wanted: number, got: number): PinnaceError {
  return new PinnaceError('unavailable', `Cannot use the embedder: it gave ${got} vectors for ${wanted} texts`, {
    retryable: false,
    details: { reason: 'invalid_embeddings' },
  });
}
