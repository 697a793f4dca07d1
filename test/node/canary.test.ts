import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { budget } from '../fixtures/budget.ts';
import { failedSeeds } from '../fixtures/failed-seeds.ts';
import { faultOfRuns } from '../fixtures/hostile/canary-run.ts';

const seed = Number(process.env['CANARY_SEED'] ?? Date.now() % 2 ** 31);

describe('runs with twenty planted secrets each', () => {
  it.each(failedSeeds.canary)('leak no secret with seed %i', async (failed) => {
    expect(await faultOfRuns({ seed: failed, runs: 1, placements: 20 })).toBeUndefined();
  });

  it('leak none of the secrets', { timeout: 900_000 }, async () => {
    const runs = budget({ short: 30, long: 1000 });
    expect(await faultOfRuns({ seed, runs, placements: 20 })).toBeUndefined();
  });
});
