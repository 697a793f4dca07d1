import { describe, expect, it } from 'vitest';
import { orphanedAfterMs } from '../../adapters/storage/deno-kv-parts.ts';
import { createTestClock } from '../contracts/storage.ts';
import { blocked, freshPath, interrupted, large, open, openRaw, rawKeys } from './deno-kv-fixture.ts';

/** A writer that stops before its values become visible, as if its process had ended there. */
async function crash(
  path: string,
  { now, key, value }: { now?: () => number; key: string; value: unknown },
): Promise<void> {
  const openKv = interrupted(() => {
    throw new Error('crashed');
  });
  const writer = open({ path, openKv, ...(now && { now }) });
  await expect(writer.commit([{ key: [key], value }])).rejects.toMatchObject(blocked);
}

describe('denoKvStorage and crashes', () => {
  it('shows nothing of a value whose writer crashed before the commit', async () => {
    const path = freshPath();
    const storage = open({ path });
    await storage.commit([{ key: ['a'], value: 'before' }]);
    await crash(path, { key: 'a', value: large });
    await crash(path, { key: 'b', value: large });
    expect(await rawKeys(await openRaw(path), 'part')).toHaveLength(8);
    expect(await storage.list({ prefix: [], limit: 10 })).toMatchObject([{ key: ['a'], value: 'before' }]);
    expect(await storage.get(['b'])).toBeUndefined();
  });

  it('removes the parts of a crashed writer when it is opened later', async () => {
    const path = freshPath();
    const clock = createTestClock();
    await crash(path, { now: clock.now, key: 'a', value: large });
    const raw = await openRaw(path);
    await open({ path, now: clock.now }).get(['a']);
    expect(await rawKeys(raw, 'part')).toHaveLength(4);
    clock.advance(orphanedAfterMs + 1);
    await open({ path, now: clock.now }).get(['a']);
    expect([...await rawKeys(raw, 'part'), ...await rawKeys(raw, 'unnamed')]).toEqual([]);
  });

  it('removes the parts of a crashed writer when it writes a large value later', async () => {
    const path = freshPath();
    const clock = createTestClock();
    const storage = open({ path, now: clock.now });
    await storage.get(['a']);
    await crash(path, { now: clock.now, key: 'a', value: large + large });
    clock.advance(orphanedAfterMs + 1);
    await storage.commit([{ key: ['b'], value: large }]);
    const raw = await openRaw(path);
    expect(await rawKeys(raw, 'part')).toHaveLength(4);
    expect(await rawKeys(raw, 'unnamed')).toEqual([]);
    expect((await storage.get(['b']))?.value).toBe(large);
  });

  it('removes replaced parts that a writer did not come to remove', async () => {
    const path = freshPath();
    const clock = createTestClock();
    const raw = await openRaw(path);
    const openKv = interrupted(() => {
      throw new Error('crashed');
    }, 'delete');
    await open({ path, now: clock.now }).commit([{ key: ['a'], value: large }]);
    const writer = open({ path, now: clock.now, openKv });
    expect(await writer.commit([{ key: ['a'], value: large + large }])).toMatchObject({ ok: true });
    expect(await rawKeys(raw, 'part')).toHaveLength(4 + 7);
    clock.advance(orphanedAfterMs + 1);
    const reader = open({ path, now: clock.now });
    expect((await reader.get(['a']))?.value).toBe(large + large);
    expect(await rawKeys(raw, 'part')).toHaveLength(7);
  });

  it('cleans up after a bounded number of crashed writers at a time', async () => {
    const path = freshPath();
    const clock = createTestClock();
    const raw = await openRaw(path);
    for (let at = 0; at < 25; at++) {
      await raw.set(['pinnace', 'unnamed', clock.now(), at], [{ id: String(at), count: 1 }]);
    }
    clock.advance(orphanedAfterMs + 1);
    for (const left of [15, 5, 0]) {
      await open({ path, now: clock.now }).get(['a']);
      expect(await rawKeys(raw, 'unnamed')).toHaveLength(left);
    }
  });

  it('refuses the commit of a writer whose parts were swept meanwhile', async () => {
    const path = freshPath();
    const clock = createTestClock();
    const openKv = interrupted(async () => {
      clock.advance(orphanedAfterMs + 1);
      await open({ path, now: clock.now }).get(['a']);
    });
    const slow = open({ path, now: clock.now, openKv });
    await expect(slow.commit([{ key: ['a'], value: large }])).rejects.toMatchObject({ ...blocked, retryable: true });
    expect(await open({ path, now: clock.now }).list({ prefix: [], limit: 1 })).toEqual([]);
    expect(await rawKeys(await openRaw(path), 'part')).toEqual([]);
  });

  it('leaves the parts of a slow writer that commits while it is being swept', async () => {
    const path = freshPath();
    const found = Promise.withResolvers<void>();
    const slow = open({ path, now: () => 0, openKv: interrupted(() => found.promise) });
    const commit = slow.commit([{ key: ['a'], value: large }]);
    const openKv = interrupted(async () => {
      found.resolve();
      await commit;
    });
    const raw = await openRaw(path);
    while ((await rawKeys(raw, 'part')).length < 4) await rawKeys(raw, 'part');
    await open({ path, now: () => orphanedAfterMs + 1, openKv }).get(['other']);
    expect(await commit).toMatchObject({ ok: true });
    expect((await open({ path }).get(['a']))?.value).toBe(large);
  });

  it.each([1, 100])('gives up when writing %i large values took too long', async (count) => {
    const path = freshPath();
    const clock = createTestClock();
    const openKv = interrupted(() => clock.advance(orphanedAfterMs), 'set');
    const values = Array.from({ length: count }, (_, at) => ({ key: [at], value: large, ifVersion: null }));
    const commit = open({ path, now: clock.now, openKv }).commit(values);
    await expect(commit).rejects.toMatchObject({ ...blocked, retryable: true });
    expect(await open({ path }).list({ prefix: [], limit: 1 })).toEqual([]);
  });

  it('reads the value that has replaced the one whose parts are missing', async () => {
    const path = freshPath();
    const raw = await openRaw(path);
    const [storage, other] = [open({ path }), open({ path })];
    await storage.commit([{ key: ['a'], value: large }]);
    const getMany: Deno.Kv['getMany'] = raw.getMany.bind(raw);
    const replaceFirst: typeof getMany = async (keys, options) => {
      if (keys[0]?.[1] === 'part') await other.commit([{ key: ['a'], value: 'after' }]);
      return await getMany(keys, options);
    };
    const openKv = async () => Object.assign(await Deno.openKv(path), { getMany: replaceFirst });
    const reader = open({ openKv });
    expect((await reader.get(['a']))?.value).toBe('after');
  });

  it('is unavailable, and not wrong, when a part stays missing', async () => {
    const path = freshPath();
    const storage = open({ path });
    await storage.commit([{ key: ['a'], value: large }, { key: ['b'], value: 1 }]);
    const raw = await openRaw(path);
    await raw.delete((await rawKeys(raw, 'part'))[2] ?? []);
    await expect(storage.get(['a'])).rejects.toMatchObject(blocked);
    await expect(storage.list({ prefix: [], limit: 2 })).rejects.toMatchObject(blocked);
    expect((await storage.get(['b']))?.value).toBe(1);
    await storage.commit([{ key: ['a'], value: 'anew' }]);
    expect((await storage.get(['a']))?.value).toBe('anew');
  });

  it('removes the parts of what lost a race, and of what is replaced or deleted', async () => {
    const path = freshPath();
    const raw = await openRaw(path);
    const other = open({ path });
    let isFirst = true;
    const openKv = interrupted(async () => {
      if (isFirst) await other.commit([{ key: ['a'], value: 'first' }]);
      isFirst = false;
    });
    const storage = open({ path, openKv });
    const lost = await storage.commit([{ key: ['a'], value: large, ifVersion: null }]);
    expect(lost).toEqual({ ok: false, conflicts: [['a']] });
    expect(await rawKeys(raw, 'part')).toEqual([]);
    await storage.commit([{ key: ['a'], value: large }]);
    await storage.commit([{ key: ['a'], value: large + large }]);
    expect(await rawKeys(raw, 'part')).toHaveLength(7);
    await storage.commit([{ key: ['a'] }]);
    expect([...await rawKeys(raw, 'part'), ...await rawKeys(raw, 'unnamed')]).toEqual([]);
  });
});
