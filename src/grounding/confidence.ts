/** From scores to confidence: monotone maps to the probability that a hit is relevant, so that kinds of scores can be compared. */

/** Returns a number between 0 and 1, and its inverse the log-odds. */
export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** The log-odds of a probability, bounded where it is all but certain. */
export function logit(probability: number): number {
  const p = Math.min(1 - 1e-6, Math.max(1e-6, probability));
  return Math.log(p / (1 - p));
}

/** The quantile of the standard normal distribution (Acklam's rational approximation, relative error under 1.2e-9). */
export function normalQuantile(p: number): number {
  if (p <= 0) return -Infinity;
  if (p >= 1) return Infinity;
  if (p > 0.5) return -normalQuantile(1 - p);
  if (p < 0.02425) {
    const q = Math.sqrt(-2 * Math.log(p));
    return horner(q, tailNumerator) / (q * horner(q, tailDenominator) + 1);
  }
  const q = p - 0.5;
  const r = q * q;
  return (q * horner(r, numerator)) / (r * horner(r, denominator) + 1);
}

/** How cosines of unrelated pairs are spread in one source. */
export interface CosineSpread {
  readonly mean: number;
  readonly deviation: number;
}

/**
 * The confidence of a cosine among `size` documents. A score that the best of so many random documents would reach by chance is
 * worth little: it is the deviations beyond that point, less 2.5, that count.
 */
export function cosineConfidence(cosine: number, { mean, deviation }: CosineSpread, size: number): number {
  const chance = normalQuantile(1 - 1 / Math.max(2, size));
  return sigmoid((cosine - mean) / deviation - 2.5 - chance);
}

/**
 * The confidence of a match of words: the score as a share of what an ideal document would get, times the share of the query's
 * words that are matched, each by its rarity. A usual document with all the words reaches about half of the ideal.
 */
export function wordConfidence(scoreShare: number, matchedShare: number): number {
  return sigmoid(11 * (Math.min(1, scoreShare) * Math.min(1, matchedShare) - 0.33));
}

function horner(x: number, coefficients: readonly number[]): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0);
}

const numerator = [
  -3.969683028665376e1,
  2.209460984245205e2,
  -2.759285104469687e2,
  1.38357751867269e2,
  -3.066479806614716e1,
  2.506628277459239,
];
const denominator = [
  -5.447609879822406e1,
  1.615858368580409e2,
  -1.556989798598866e2,
  6.680131188771972e1,
  -1.328068155288572e1,
];
const tailNumerator = [
  -7.784894002430293e-3,
  -3.223964580411365e-1,
  -2.400758277161838,
  -2.549732539343734,
  4.374664141464968,
  2.938163982698783,
];
const tailDenominator = [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416];
