import { describe, expect, it } from 'vitest';
import { loadOnce } from '../../../src/base/load-once.ts';

describe('loadOnce', () => {
  it('loads once for all calls', async () => {
    let loads = 0;
    const get = loadOnce(async () => ++loads);
    expect(await Promise.all([get(), get()])).toEqual([1, 1]);
    expect(await get()).toBe(1);
  });

  it('loads again after a load that failed, which rejects every call that waited for it', async () => {
    let loads = 0;
    const get = loadOnce(async () => {
      if (++loads === 1) throw new Error('offline');
      return loads;
    });
    const waiting = await Promise.allSettled([get(), get()]);
    expect(waiting.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await get()).toBe(2);
  });
});
