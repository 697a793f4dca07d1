import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createBulletin } from '../../../src/log/bulletin.ts';

describe('createBulletin', () => {
  it('calls every subscriber of the storage with each message once and in order', async () => {
    const storage = memoryStorage();
    const stop = new AbortController();
    const [a, b] = [createBulletin<number>(storage, 'n'), createBulletin<number>(storage, 'n')];
    const seen: { a: number[]; b: number[] } = { a: [], b: [] };
    const all = new Promise<void>((resolve) => {
      const check = (): void => void (seen.a.length === 30 && seen.b.length === 30 && resolve());
      a.subscribe((n) => (seen.a.push(n), check()), stop.signal);
      b.subscribe((n) => (seen.b.push(n), check()), stop.signal);
    });
    await Promise.all([a.refresh(), b.refresh()]);
    await Promise.all(Array.from({ length: 30 }, (_, n) => (n % 2 ? a : b).publish(n)));
    await all;
    stop.abort();
    expect(seen.a).toEqual(seen.b);
    expect(seen.a.toSorted((x, y) => x - y)).toEqual(Array.from({ length: 30 }, (_, n) => n));
  });
});
