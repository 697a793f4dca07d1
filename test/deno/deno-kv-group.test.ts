import { describe, expect, it } from 'vitest';
import type { Storage } from '../../src/contracts/storage.ts';
import { counted, freshPath, large, open } from './deno-kv-fixture.ts';

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);

describe('denoKvStorage and commits that come at once', () => {
  it('writes them in few operations', async () => {
    const { openKv, take } = counted();
    const storage = open({ path: freshPath(), openKv });
    await storage.get(['opened']);
    take();
    const results = await Promise.all(
      numbers(1000).map((i) => storage.commit([{ key: ['k', i], value: i, ifVersion: null }])),
    );
    expect(results.every(({ ok }) => ok)).toBe(true);
    expect(take().operations).toBeLessThan(50);
    expect((await storage.list({ prefix: ['k'], limit: 1000 })).map(({ value }) => value)).toEqual(numbers(1000));
  });

  it('answers each for itself: what conflicts writes nothing, and keeps no other from being written', async () => {
    const storage = open({ path: freshPath() });
    await storage.commit(numbers(50).map((i) => ({ key: ['taken', i], value: 'before' })));
    const results = await Promise.all(
      numbers(200).map((i) =>
        storage.commit([
          { key: ['free', i], value: i, ifVersion: null },
          { key: ['taken', i], value: i, ifVersion: null },
        ])
      ),
    );
    expect(results.map(({ ok }) => ok)).toEqual(numbers(200).map((i) => i >= 50));
    expect(results[7]).toEqual({ ok: false, conflicts: [['taken', 7]] });
    expect(await storage.get(['free', 7])).toBeUndefined();
    expect(await storage.list({ prefix: ['free'], limit: 1000 })).toHaveLength(150);
  });

  it('takes those with large values, also where they replace large ones', async () => {
    const storage = open({ path: freshPath() });
    const write = (value: unknown) =>
      Promise.all(numbers(40).map((i) => storage.commit([{ key: ['k', i], value: i % 4 === 0 ? value : i }])));
    await write(large);
    await write('small');
    await write(large);
    const values = (await storage.list({ prefix: ['k'], limit: 100 })).map(({ value }) => value);
    expect(values).toEqual(numbers(40).map((i) => i % 4 === 0 ? large : i));
  });

  it('counts right where two connections count on the same keys', async () => {
    const path = freshPath();
    const increment = async (storage: Storage, key: number): Promise<void> => {
      for (;;) {
        const entry = await storage.get(['count', key]);
        const value = (entry?.value as number | undefined ?? 0) + 1; // this test's own
        const result = await storage.commit([{ key: ['count', key], value, ifVersion: entry?.version ?? null }]);
        if (result.ok) return;
      }
    };
    const work = (storage: Storage) => Promise.all(numbers(60).map((i) => increment(storage, i % 6)));
    const [one, other] = [open({ path }), open({ path })];
    await Promise.all([work(one), work(other)]);
    expect((await one.list({ prefix: ['count'], limit: 10 })).map(({ value }) => value)).toEqual([
      20,
      20,
      20,
      20,
      20,
      20,
    ]);
  });

  it('fails those that were to go together when Deno KV fails, and no later one', async () => {
    let broken = false;
    const openKv = async (path?: string): Promise<Deno.Kv> => {
      const kv = await Deno.openKv(path);
      const atomic = kv.atomic.bind(kv);
      kv.atomic = () => {
        if (broken) throw new Error('disk is full');
        return atomic();
      };
      return kv;
    };
    const storage = open({ path: freshPath(), openKv });
    await storage.get(['opened']);
    broken = true;
    const failed = await Promise.allSettled(numbers(20).map((i) => storage.commit([{ key: ['k', i], value: i }])));
    for (const one of failed) expect(one).toMatchObject({ reason: { details: { reason: 'storage_full' } } });
    broken = false;
    expect(await storage.commit([{ key: ['k', 1], value: 1 }])).toMatchObject({ ok: true });
  });
});
