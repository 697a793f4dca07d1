/** Vectors of texts without a model: words and their parts, counted into a fixed number of places by their hashes. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { porterStem } from '../../src/search/terms.ts';
import type { Embedder } from '../../src/contracts/grounding-source.ts';
import { stopMaskOf } from '../../src/search/languages.ts';
import { visitWords } from '../../src/search/words.ts';

export type { Embedder } from '../../src/contracts/grounding-source.ts';

/**
 * Creates an embedder in plain code: the default where no model is at hand. Texts with the same words, or words that look alike, are
 * near each other; it knows nothing of meaning. A vector source weights its dimensions by how rare they are among its items.
 *
 * @param options.dimensions The length of the vectors, 1,024 when absent; fewer take less memory and find less.
 * @example
 * const notes = vectorSource({ id: 'notes', embedder: hashedEmbedder() });
 */
export function hashedEmbedder(options: { readonly dimensions?: number } = {}): Embedder {
  checkNames('create the embedder', options, optional('dimensions'));
  const { dimensions = 1_024 } = options;
  const embedNow = (text: string): Float32Array => hashedVector(text, dimensions);
  return {
    id: `hashed-stems-${dimensions}`,
    countsFeatures: true,
    embedNow,
    embed: (texts) => Promise.resolve(texts.map(embedNow)),
  };
}

/** What a run of three characters counts beside its word, and the shortest word that has them. */
const partWeight = 0.15;
const shortestWithParts = 5;

/** Returns the vector of one text. */
export function hashedVector(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  const add = (feature: string, weight: number): void => {
    const hash = hashOf(feature);
    vector[(hash >>> 1) % dimensions]! += hash & 1 ? weight : -weight;
  };
  for (const [term, count] of countsOf(text)) {
    const weight = 1 + Math.log(count);
    add(term, weight);
    const framed = ` ${term} `;
    if (term.length < shortestWithParts) continue;
    for (let at = 0; at + 3 <= framed.length; at++) add(framed.slice(at, at + 3), partWeight * weight);
  }
  if (vector.every((value) => value === 0)) vector[0] = 1; // a text without words points somewhere all the same
  return vector;
}

/** How often a text has each stem; English stop words only where it has nothing else. */
function countsOf(text: string): ReadonlyMap<string, number> {
  const [counts, stopped] = [new Map<string, number>(), new Map<string, number>()];
  visitWords(text, (word) => {
    const into = stopMaskOf(word) & 1 ? stopped : counts;
    const term = porterStem(word);
    into.set(term, (into.get(term) ?? 0) + 1);
  });
  return counts.size > 0 ? counts : stopped;
}

/** FNV-1a, with the bits mixed so that the lowest are as good as the others. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) >>> 0;
}
