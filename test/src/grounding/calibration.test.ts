import { describe, expect, it } from 'vitest';
import { fitCalibration, type JudgedHit } from '../../../src/grounding/index.ts';
import {
  calibrated,
  calibrationError,
  logit,
  normalQuantile,
  sigmoid,
  wordConfidence,
} from '../../../src/grounding/calibration.ts';
import { randomNumbers } from '../../fixtures/chance/random.ts';

/** Judged hits whose true probability is another monotone function of the confidence. */
function judgedBy(seed: number, count: number): JudgedHit[] {
  const random = randomNumbers(seed);
  return Array.from({ length: count }, () => {
    const confidence = 0.02 + 0.96 * random();
    return { confidence, relevant: random() < sigmoid(0.6 * logit(confidence) - 1) };
  });
}

describe('fitCalibration', () => {
  it('returns an expected calibration error of at most 0.05 on hits that were held back', () => {
    const heldBack = judgedBy(2, 4_000);
    const fit = fitCalibration(judgedBy(1, 1_000));
    expect(calibrationError(heldBack)).toBeGreaterThan(0.1); // before
    const after = heldBack.map(({ confidence, relevant }) => ({ confidence: calibrated(confidence, fit), relevant }));
    expect(calibrationError(after)).toBeLessThanOrEqual(0.05);
    expect(fit.slope).toBeCloseTo(0.6, 0);
    expect(fit.offset).toBeCloseTo(-1, 0);
  });

  it('refuses too few judged hits, and hits that are all alike', () => {
    expect(() => fitCalibration(judgedBy(1, 199))).toThrow('at least 200');
    expect(() => fitCalibration(Array.from({ length: 300 }, () => ({ confidence: 0.5, relevant: true })))).toThrow(
      'others',
    );
  });
});

describe('confidence', () => {
  it('knows the quantiles of the normal distribution', () => {
    for (const [p, z] of [[0.5, 0], [0.975, 1.959964], [0.001, -3.090232], [0.99999, 4.264891]] as const) {
      expect(normalQuantile(p)).toBeCloseTo(z, 5);
    }
    expect([normalQuantile(0), normalQuantile(1)]).toEqual([-Infinity, Infinity]);
  });

  it('takes half of the words for little, and all of them for much', () => {
    expect(wordConfidence(0.28, 0.5)).toBeLessThan(0.2);
    expect(wordConfidence(0.55, 1)).toBeGreaterThan(0.8);
    expect(wordConfidence(3, 1)).toBeLessThanOrEqual(1);
  });
});
