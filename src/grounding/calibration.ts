/** Fits a source's confidence to hits that were judged, and says how far off it is. */

import { PinnaceError } from '../base/errors.ts';

/** A hit that a person judged, with its confidence. */
export interface JudgedHit {
  readonly confidence: number;
  readonly relevant: boolean;
}

/** The fitted map of one source: confidence becomes `sigmoid(slope * logit(confidence) + offset)`. */
export interface Calibration {
  readonly slope: number;
  readonly offset: number;
  /** The expected calibration error on the judged hits, 0 to 1. */
  readonly error: number;
}

/** The fewest judged hits that a fit is worth something with. */
const fewestJudged = 200;

export function calibrated(confidence: number, { slope, offset }: Pick<Calibration, 'slope' | 'offset'>): number {
  return sigmoid(slope * logit(confidence) + offset);
}

/**
 * Fits by logistic regression (Newton's method with halved steps, a small ridge toward no change). The map never falls.
 *
 * @throws PinnaceError `invalid_argument` for fewer than {@link fewestJudged} judged hits, or when all were judged alike.
 */
export function fitCalibration(judged: readonly JudgedHit[]): Calibration {
  const relevantCount = judged.filter(({ relevant }) => relevant).length;
  if (judged.length < fewestJudged || relevantCount === 0 || relevantCount === judged.length) {
    throw new PinnaceError(
      'invalid_argument',
      `Cannot calibrate: at least ${fewestJudged} judged hits are needed, relevant ones and others`,
      { details: { reason: 'too_few_judged', judged: judged.length } },
    );
  }
  const points = judged.map((hit) => ({ x: logit(hit.confidence), y: Number(hit.relevant) }));
  const { slope, offset } = descend(points);
  const map = { slope: Math.max(0, slope), offset };
  const error = calibrationError(
    judged.map(({ confidence, relevant }) => ({ confidence: calibrated(confidence, map), relevant })),
  );
  return { ...map, error };
}

/** The expected calibration error: over ten bins of confidence, how far the share of relevant hits is from the mean, by size. */
export function calibrationError(judged: readonly JudgedHit[]): number {
  const bins = Map.groupBy(judged, ({ confidence }) => Math.min(9, Math.floor(confidence * 10)));
  let error = 0;
  for (const bin of bins.values()) {
    error += Math.abs(bin.reduce((sum, { confidence, relevant }) => sum + confidence - Number(relevant), 0));
  }
  return error / Math.max(1, judged.length);
}

const ridge = 1e-3;

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Line {
  readonly slope: number;
  readonly offset: number;
}

/** Newton's steps, each halved until it leads down: a whole one may lead far beyond the lowest point, and back, for ever. */
function descend(points: readonly Point[]): Line {
  let line: Line = { slope: 1, offset: 0 };
  let loss = lossOf(points, line);
  for (let round = 0; round < 100; round++) {
    const step = newtonStep(points, line);
    let share = 1;
    let next = moved(line, step, share);
    while (lossOf(points, next) > loss && share > 1e-9) next = moved(line, step, share /= 2);
    const better = lossOf(points, next);
    if (!(loss - better > 1e-10 * Math.max(1, loss))) break;
    [line, loss] = [next, better];
  }
  return line;
}

function moved({ slope, offset }: Line, step: Line, share: number): Line {
  return { slope: slope + share * step.slope, offset: offset + share * step.offset };
}

/** How surprising the judgements are, and a little for every deviation from no change. */
function lossOf(points: readonly Point[], { slope, offset }: Line): number {
  let loss = (ridge / 2) * ((slope - 1) ** 2 + offset ** 2);
  for (const { x, y } of points) {
    const z = slope * x + offset;
    loss += Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z))) - y * z;
  }
  return loss;
}

function newtonStep(points: readonly Point[], { slope, offset }: Line): Line {
  let [a, b] = [-ridge * (slope - 1), -ridge * offset]; // the gradient
  let [aa, ab, bb] = [ridge, 0, ridge]; // the curvature
  for (const { x, y } of points) {
    const p = sigmoid(slope * x + offset);
    const weight = p * (1 - p);
    a += (y - p) * x;
    b += y - p;
    aa += weight * x * x;
    ab += weight * x;
    bb += weight;
  }
  const determinant = aa * bb - ab * ab;
  return { slope: (bb * a - ab * b) / determinant, offset: (aa * b - ab * a) / determinant };
}

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
