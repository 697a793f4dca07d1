/** Vectors of texts without a model: words and their parts, counted into a fixed number of places by their hashes. */

import type { Embedder } from '../../src/contracts/embedder.ts';
import { normalizeWord, tokenize } from './words.ts';

/**
 * Returns an embedder in plain code. Texts with the same words, or words that look alike, are near each other; it knows nothing of
 * meaning. For pages that are offline, and for tests.
 */
export function hashedEmbedder({ dimensions = 256 }: { readonly dimensions?: number } = {}): Embedder {
  return {
    id: `hashed-${dimensions}`,
    embed: (texts) => Promise.resolve(texts.map((text) => hashedVector(text, dimensions))),
  };
}

/** Returns the vector of one text. */
export function hashedVector(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  const add = (feature: string, weight: number): void => {
    const hash = hashOf(feature);
    vector[(hash >>> 1) % dimensions]! += hash & 1 ? weight : -weight;
  };
  for (const word of tokenize(text).map(normalizeWord)) {
    const weight = word.length < 4 ? 0.5 : 1; // most short words are everywhere
    add(word, weight);
    const framed = ` ${word} `;
    for (let i = 0; i + 3 <= framed.length && word.length > 3; i++) add(framed.slice(i, i + 3), 0.3 * weight);
  }
  if (vector.every((value) => value === 0)) vector[0] = 1; // a text without words points somewhere all the same
  return vector;
}

/** FNV-1a, with the bits mixed so that the lowest are as good as the others. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) >>> 0;
}
