import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import type { Storage } from '../../../src/index.ts';
import { takeToken } from '../../../src/log/rate-limit.ts';

const limit = { key: ['rate', 'tenant', 'agent'], perMinute: 60 };

/** Takes tokens from instances with these clocks in turn until one is refused, and returns how many there were. */
async function takeAll(storage: Storage, clocks: readonly (() => number)[]): Promise<number> {
  for (let taken = 0; taken < 1_000; taken++) {
    const now = clocks[taken % clocks.length]!; // there is one
    try {
      await takeToken(limit, { storage, now });
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate_limited' });
      return taken;
    }
  }
  return Infinity;
}

describe('the calls per minute of an agent', () => {
  it('are exact over several instances', async () => {
    let time = 1_000_000;
    const now = () => time;
    const storage = memoryStorage({ now });
    expect(await takeAll(storage, [now, now, now])).toBe(60);
    time += 10_000;
    expect(await takeAll(storage, [now, now, now])).toBe(10);
  });

  it('are at most those of the difference more where the clocks of instances differ', async () => {
    const storage = memoryStorage();
    const ahead = () => 1_005_000;
    const behind = () => 1_000_000;
    expect(await takeAll(storage, [behind, ahead])).toBeLessThanOrEqual(65);
  });

  it('are counted once for each of many calls at the same time', async () => {
    const now = () => 1_000_000;
    const storage = memoryStorage({ now });
    const taken = Array.from({ length: 15 }, () => takeToken({ ...limit, perMinute: 10 }, { storage, now }));
    const results = await Promise.allSettled(taken);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  });
});
