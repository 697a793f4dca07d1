import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { PinnaceError, type Storage } from '../../../src/index.ts';
import { createReadiness, type ReadinessOptions } from '../../../src/runtime/readiness.ts';
import { virtualTime } from '../../../src/simulation/virtual-time.ts';

const never = (): Promise<never> => new Promise(() => undefined);

function setUp(options: Partial<ReadinessOptions> = {}) {
  const storage = memoryStorage();
  let commits = 0;
  const counted: Storage = { ...storage, commit: (changes) => (commits++, storage.commit(changes)) };
  const { ready } = createReadiness({
    storage: counted,
    catalog: { listTools: async () => [] },
    isClosed: () => false,
    now: () => 0,
    ...options,
  });
  return { storage, ready, commits: () => commits };
}

describe('createReadiness', () => {
  it('is ready when the storage takes a write and the catalog answers, and leaves nothing behind', async () => {
    const { ready, storage } = setUp();
    expect(await ready()).toEqual({ storage: 'ok', catalog: 'ok' });
    expect(await storage.list({ prefix: [], limit: 10 })).toEqual([]);
  });

  it('aborts the catalog that it does not wait for any longer', async () => {
    using time = virtualTime();
    let aborted = false;
    const listTools: ReadinessOptions['catalog']['listTools'] = (_, signal) => {
      signal?.addEventListener('abort', () => void (aborted = true));
      return never();
    };
    await time.passUntil(setUp({ catalog: { listTools } }).ready(), 3_000);
    expect(aborted).toBe(true);
  });

  it('is not ready when the disk is full, although reads still answer', async () => {
    const full = (): Promise<never> =>
      Promise.reject(new PinnaceError('unavailable', 'Full', { details: { reason: 'storage_full' } }));
    const { ready } = setUp({ storage: { ...memoryStorage(), commit: full } });
    expect(await ready()).toEqual({ storage: 'failed', catalog: 'ok' });
    expect(await setUp({ storage: memoryStorage({ maxEntries: 0 }) }).ready()).toMatchObject({ storage: 'failed' });
  });

  it('is not ready while the runtime closes', async () => {
    expect(await setUp({ isClosed: () => true }).ready()).toMatchObject({ runtime: 'failed' });
  });
});
