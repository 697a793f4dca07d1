import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { faultOfRuns } from '../fixtures/hostile/canary-run.ts';

const seed = Number(process.env['CANARY_SEED'] ?? Date.now() % 2 ** 31);

describe('a thousand runs with twenty planted secrets each', () => {
  it('let not one of the 20,000 out', { timeout: 900_000 }, async () => {
    expect(await faultOfRuns({ seed, runs: 1000, placements: 20 })).toBeUndefined();
  });
});
