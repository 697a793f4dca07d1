import { describe, expect, it } from 'vitest';
import { loadOnce } from '../../../src/base/load-once.ts';

describe('loadOnce', () => {
  it('loads once for all calls', async () => {
    let loads = 0;
    const get = loadOnce(async () => ++loads);
    expect(await Promise.all([get(), get()])).toEqual([1, 1]);
    expect(await get()).toBe(1);
  });
});
