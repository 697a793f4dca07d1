import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { crashEverywhere, expectSame } from '../../fixtures/plans/plan-crash-matrix.ts';
import { runWithDeath } from '../../fixtures/plans/plan-crash.ts';

describe('a plan whose process dies at a commit', () => {
  for (const parallelism of [1, 2, 4, 64]) {
    it(`comes to the same end in another process, dead beside any commit, ${parallelism} at once`, async () => {
      const deaths = await crashEverywhere({ open: async () => memoryStorage(), parallelism });
      expect(deaths).toBeGreaterThan(20);
    }, 60_000);
  }

  for (const [parallelism, snapshotEvents] of [[1, 1], [4, 3], [64, 10]] as const) {
    it(`goes on from a snapshot all the same, one every ${snapshotEvents} events, ${parallelism} at once`, async () => {
      const limits = { snapshotEvents };
      const deaths = await crashEverywhere({ open: async () => memoryStorage(), parallelism, limits });
      expect(deaths).toBeGreaterThan(20);
    }, 60_000);
  }

  it('comes to the same end without a death', async () => {
    const whole = await runWithDeath(memoryStorage(), { death: undefined, parallelism: 4 });
    if (typeof whole === 'string') throw new Error(whole);
    expectSame(whole, whole);
    expect([...whole.effects.values()]).toEqual([1, 1, 1, 1, 1, 1]);
  });
});
