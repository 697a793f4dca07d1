/** The peers, each filled with the same vectors. */

import { cosineSimilarity } from 'ai';
import { loadPeer, type Search } from './data.ts';

/** Makes a search over the vectors; `undefined` where the peer is not there. */
type CreateSearch = (vectors: readonly Float32Array[]) => Promise<Search | undefined>;

/** LangChain's store: cosine of all, objects for all, sorted. */
export const langchain: CreateSearch = async (vectors) => {
  const loaded = await loadPeer('@langchain/classic/dist/vectorstores/memory.js');
  if (!loaded) return undefined;
  const { MemoryVectorStore } = loaded as { MemoryVectorStore: new (embeddings: unknown) => LangChainStore };
  const store = new MemoryVectorStore({ embedQuery: () => [], embedDocuments: () => [] });
  const documents = vectors.map((_, at) => ({ pageContent: `d${at}`, metadata: { at } }));
  await store.addVectors(vectors.map((vector) => Array.from(vector)), documents);
  return async (query, topK) => {
    const found = await store.similaritySearchVectorWithScore(Array.from(query), topK);
    return found.map(([{ metadata }]) => String(metadata.at));
  };
};

interface LangChainStore {
  addVectors(vectors: number[][], documents: unknown[]): Promise<void>;
  similaritySearchVectorWithScore(query: number[], topK: number): Promise<[{ metadata: { at: number } }, number][]>;
}

/** Orama: cosine of all. */
export const orama: CreateSearch = async (vectors) => {
  const loaded = await loadPeer('@orama/orama/dist/esm/index.js');
  if (!loaded) return undefined;
  const { create, insert, searchVector } = loaded as unknown as Orama;
  const store = create({ schema: { v: `vector[${vectors[0]!.length}]` } });
  for (const [at, vector] of vectors.entries()) await insert(store, { id: `d${at}`, v: Array.from(vector) });
  return async (query, limit) => {
    const vector = { value: Array.from(query), property: 'v' };
    const { hits } = await searchVector(store, { vector, similarity: 0, limit });
    return hits.map(({ id }) => id.slice(1));
  };
};

interface Orama {
  readonly create: (options: unknown) => unknown;
  readonly insert: (store: unknown, document: unknown) => Promise<unknown>;
  readonly searchVector: (
    store: unknown,
    options: unknown,
  ) => Promise<{ readonly hits: readonly { readonly id: string }[] }>;
}

/** What the AI SDK's own guide does: `cosineSimilarity` of all, sorted. */
export const aiSdk: CreateSearch = (vectors) => {
  const arrays = vectors.map((vector) => Array.from(vector));
  return Promise.resolve(async (query, topK) => {
    const vectorArray = Array.from(query);
    return arrays
      .map((vector, at) => ({ at, score: cosineSimilarity(vectorArray, vector) }))
      .toSorted((a, b) => b.score - a.score)
      .slice(0, topK)
      .map(({ at }) => String(at));
  });
};

/** The plainest loop over one array of 32-bit floats. */
export const plainLoop: CreateSearch = (vectors) => {
  const width = vectors[0]!.length;
  const all = new Float32Array(vectors.length * width);
  for (const [at, vector] of vectors.entries()) all.set(vector, at * width);
  return Promise.resolve(async (query, topK) => {
    const best: { at: number; score: number }[] = [];
    for (let at = 0, o = 0; at < vectors.length; at++) {
      let a = 0;
      let b = 0;
      let c = 0;
      let d = 0;
      for (let i = 0; i < width; i += 4, o += 4) {
        a += all[o]! * query[i]!;
        b += all[o + 1]! * query[i + 1]!;
        c += all[o + 2]! * query[i + 2]!;
        d += all[o + 3]! * query[i + 3]!;
      }
      const score = a + b + c + d;
      if (best.length === topK && score <= best[topK - 1]!.score) continue;
      const place = best.findIndex((other) => other.score < score);
      best.splice(place < 0 ? best.length : place, 0, { at, score });
      if (best.length > topK) best.pop();
    }
    return best.map(({ at }) => String(at));
  });
};

/** A graph of neighbors, in plain JavaScript: fast to query, slow to build. */
export const hnsw: CreateSearch = async (vectors) => {
  const loaded = await loadPeer('hnsw/dist/index.js');
  if (!loaded) return undefined;
  const { HNSW } = loaded as unknown as {
    HNSW: new (m: number, ef: number, d: number, metric: string, search: number) => Graph;
  };
  const graph = new HNSW(16, 100, vectors[0]!.length, 'cosine', 100);
  for (const [at, vector] of vectors.entries()) await graph.addPoint(at, vector);
  return async (query, topK) => graph.searchKNN(query, topK).map(({ id }) => String(id));
};

interface Graph {
  addPoint(id: number, vector: Float32Array): Promise<void>;
  searchKNN(query: Float32Array, topK: number): { readonly id: number }[];
}
