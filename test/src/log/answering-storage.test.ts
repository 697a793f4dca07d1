import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { answeringStorage } from '../../../src/log/answering-storage.ts';
import type { Storage } from '../../../src/index.ts';
import { virtualTime } from '../../../src/simulation/virtual-time.ts';

const never = (): Promise<never> => new Promise(() => undefined);

describe('answeringStorage', () => {
  it('returns what the storage returns, and sets no timer for one that answers at once', async () => {
    using time = virtualTime();
    const storage = answeringStorage(memoryStorage());
    await storage.commit([{ key: ['a'], value: 1 }]);
    expect(await storage.get(['a'])).toMatchObject({ value: 1 });
    expect(await storage.list({ prefix: [], limit: 1 })).toHaveLength(1);
    expect(time.timers).toBe(0);
  });

  it('rejects every call of a storage that says nothing, after five seconds', async () => {
    using time = virtualTime();
    const silent: Storage = { get: never, list: never, commit: never };
    const storage = answeringStorage(silent);
    const work = Promise.allSettled([
      storage.get(['a']),
      storage.list({ prefix: [], limit: 1 }),
      storage.commit([{ key: ['a'] }]),
    ]);
    expect(await time.passUntil(work, 4_900)).toBe(false);
    expect(await time.passUntil(work, 200)).toBe(true);
    const reason = { code: 'unavailable', retryable: true, details: { reason: 'storage_blocked' } };
    for (const outcome of await work) expect(outcome).toMatchObject({ status: 'rejected', reason });
    expect(time.timers).toBe(0);
  });
});
