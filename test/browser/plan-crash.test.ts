import { describe, expect, it } from 'vitest';
import { indexedDbStorage } from '../../adapters/storage/indexeddb.ts';
import { crashEverywhere } from '../fixtures/plans/plan-crash-matrix.ts';

describe('a plan in a page that is closed', () => {
  for (const [parallelism, stride] of [[4, 1], [1, 3], [64, 2]] as const) {
    it(`comes to the same end in another page over IndexedDB, ${parallelism} at once`, async () => {
      const open = async () => indexedDbStorage({ name: `plan-${crypto.randomUUID()}` });
      expect(await crashEverywhere({ open, parallelism, stride, limits: { snapshotEvents: 10 } })).toBeGreaterThan(10);
    }, 180_000);
  }
});
