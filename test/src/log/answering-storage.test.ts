import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { answeringStorage } from '../../../src/log/answering-storage.ts';
import { virtualTime } from '../../../src/simulation/virtual-time.ts';

describe('answeringStorage', () => {
  it('returns what the storage returns, and sets no timer for one that answers at once', async () => {
    using time = virtualTime();
    const storage = answeringStorage(memoryStorage());
    await storage.commit([{ key: ['a'], value: 1 }]);
    expect(await storage.get(['a'])).toMatchObject({ value: 1 });
    expect(await storage.list({ prefix: [], limit: 1 })).toHaveLength(1);
    expect(time.timers).toBe(0);
  });
});
