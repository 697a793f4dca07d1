import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createTestClock, type StorageSubject, watchableStorageContract } from '../../contracts/storage.ts';
import type { ClosableStorage, Watchable } from '../../../src/contracts/storage.ts';

function freshSubject(): StorageSubject<ClosableStorage & Watchable> {
  const clock = createTestClock();
  const open = async () => memoryStorage({ now: clock.now });
  return { clock, open, openOther: open };
}

const full = { code: 'unavailable', retryable: false, details: { reason: 'storage_full' } };

describe('memoryStorage keeps the contract of a closable storage', () => {
  it.each(watchableStorageContract)('$name', async ({ run }) => {
    await expect(run(freshSubject())).resolves.toBeUndefined();
  });
});

describe('memoryStorage', () => {
  it('refuses a commit that would make too many entries, and writes nothing of it', async () => {
    const storage = memoryStorage({ maxEntries: 2 });
    await storage.commit([{ key: ['a'], value: 1 }]);
    await expect(storage.commit([{ key: ['a'], value: 2 }, { key: ['b'], value: 2 }, { key: ['c'], value: 2 }]))
      .rejects.toMatchObject(full);
    expect(await storage.list({ prefix: [], limit: 10 })).toMatchObject([{ key: ['a'], value: 1 }]);
  });

  it('reuses the room of expired entries', async () => {
    const clock = createTestClock();
    const storage = memoryStorage({ now: clock.now, maxEntries: 2 });
    await storage.commit([{ key: ['a'], value: 1, ttlMs: 10 }, { key: ['b'], value: 1, ttlMs: 10 }]);
    clock.advance(10);
    expect(await storage.commit([{ key: ['c'], value: 2 }, { key: ['d'], value: 2 }])).toMatchObject({ ok: true });
  });
});
