/** Vectors whose dimensions count features: rare features say more. */

import { sigmoid } from '../../../src/grounding/confidence.ts';

/** How many items have each feature. */
export interface FeatureCounts {
  add(vector: ArrayLike<number>, by: 1 | -1): void;
  /** Returns a query in which rare features weigh more. */
  weighted(query: ArrayLike<number>, items: number): Float64Array;
}

/** Parts of words are in nearly every item: less than this share of the largest value is not a feature of its own. */
const leastShare = 0.3;

/** Counts no features. */
export function createFeatureCounts(): FeatureCounts {
  let counts = new Uint32Array(0);
  return {
    add(vector, by) {
      if (counts.length === 0) counts = new Uint32Array(vector.length);
      for (const i of featuresOf(vector)) counts[i]! += by;
    },
    weighted: (query, items) =>
      Float64Array.from(query, (value, i) => value * Math.log(1 + (items + 1) / ((counts[i] ?? 0) + 0.5))),
  };
}

/** Returns the dimensions that are features of a vector. */
export function featuresOf(vector: ArrayLike<number>): number[] {
  let largest = 0;
  for (let i = 0; i < vector.length; i++) largest = Math.max(largest, Math.abs(vector[i]!));
  const found: number[] = [];
  for (let i = 0; i < vector.length; i++) if (Math.abs(vector[i]!) >= leastShare * largest) found.push(i);
  return found;
}

/** A query of more features asks for several things at once, one for so many. */
const featuresOfOne = 4;
/** A hit of a query with more features says no larger part of them. */
const mostFeatures = 24;

/**
 * The probability that a hit by counted features is relevant: a logistic regression, fitted to the judged development questions. Words
 * alone, without their order and meaning, are seldom sure. A query of many features has a lower cosine with what answers it.
 */
export function featureConfidence(
  cosine: number,
  { gap, at, features }: { readonly gap: number; readonly at: number; readonly features: number },
): number {
  const evidence = 2.24 * cosine * Math.sqrt(Math.min(features, mostFeatures)) + 1.39 * gap;
  return sigmoid(-3.48 + evidence - 0.65 * Math.log(1 + at / Math.max(1, features / featuresOfOne)));
}
