import { describe, expect, it } from 'vitest';
import type { Change, Storage } from '../../src/contracts/storage.ts';
import { createTestClock } from '../contracts/storage.ts';
import { counted, freshPath, type KvCalls, large, open, openRaw, rawKeys } from './deno-kv-fixture.ts';

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);
const oneWrite: KvCalls = { reads: 0, operations: 1 };
const readAndWrite: KvCalls = { reads: 1, operations: 1 };

/** Opens a storage whose calls are counted from here on, and another one on the same file. */
async function countedStorage() {
  const path = freshPath();
  const clock = createTestClock();
  const { openKv, take } = counted();
  const [storage, other] = [open({ path, openKv, now: clock.now }), open({ path, now: clock.now })];
  await storage.get(['opened']);
  await other.get(['opened']);
  take();
  return { storage, other, take, clock, path };
}

async function put(storage: Storage, ...changes: Change[]): Promise<string> {
  const result = await storage.commit(changes);
  if (!result.ok) throw new Error('A commit without rivals conflicts');
  return result.version;
}

describe('denoKvStorage and its round trips', () => {
  it('reads a value with one read', async () => {
    const { storage, other, take } = await countedStorage();
    await put(other, { key: ['a'], value: 1 });
    expect((await storage.get(['a']))?.value).toBe(1);
    expect(take()).toEqual({ reads: 1, operations: 0 });
  });

  it.each([1, 20, 100])('creates %i keys with one operation and no read', async (count) => {
    const { storage, take } = await countedStorage();
    await put(storage, ...numbers(count).map((i) => ({ key: ['k', i], value: i, ifVersion: null })));
    expect(take()).toEqual(oneWrite);
  });

  it.each([1, 20, 100])('replaces, deletes and checks %i keys of a known version with one operation', async (count) => {
    const { storage, take } = await countedStorage();
    const created = await put(storage, ...numbers(count).map((i) => ({ key: ['k', i], value: i, ttlMs: 1000 })));
    take();
    const keys = numbers(count).map((i) => ({ key: ['k', i], ifVersion: created }));
    await put(storage, ...keys.map((one) => ({ ...one, keep: true as const })));
    expect(take()).toEqual(oneWrite);
    const version = await put(storage, ...keys.map((one) => ({ ...one, value: 'after' })));
    expect(take()).toEqual(oneWrite);
    await put(storage, ...keys.map(({ key }) => ({ key, ifVersion: version })));
    expect(take()).toEqual(oneWrite);
    expect(await storage.list({ prefix: ['k'], limit: 1 })).toEqual([]);
  });

  it('needs no read for a version that it has read', async () => {
    const { storage, other, take } = await countedStorage();
    await put(other, { key: ['a'], value: 1, ttlMs: 1000 });
    const { version } = (await storage.list({ prefix: ['a'], limit: 1 }))[0] ?? {};
    take();
    await put(storage, { key: ['a'], value: 2, ifVersion: version ?? null });
    expect(take()).toEqual(oneWrite);
  });

  it('reads after a conflict, and names the keys that differ', async () => {
    const { storage, other, take } = await countedStorage();
    const version = await put(storage, { key: ['a'], value: 1 }, { key: ['b'], value: 1 });
    await put(other, { key: ['b'], value: 2 });
    take();
    const changes = ['a', 'b', 'c'].map((name) => ({
      key: [name],
      value: 3,
      ifVersion: name === 'c' ? null : version,
    }));
    expect(await storage.commit(changes)).toEqual({ ok: false, conflicts: [['b']] });
    expect(take()).toEqual(readAndWrite);
  });

  it('reads a version of its own when the value may have expired, and reports the conflict', async () => {
    const { storage, take, clock } = await countedStorage();
    const version = await put(storage, { key: ['a'], value: 1, ttlMs: 1000 }, { key: ['b'], value: 1 });
    clock.advance(1000);
    take();
    const replaced = await storage.commit([{ key: ['a'], value: 2, ifVersion: version }]);
    expect(replaced).toEqual({ ok: false, conflicts: [['a']] });
    expect(take()).toEqual({ reads: 1, operations: 0 });
    const checked = await storage.commit([{ key: ['a'], ifVersion: version, keep: true }, { key: ['c'], value: 2 }]);
    expect(checked).toEqual({ ok: false, conflicts: [['a']] });
    await put(storage, { key: ['b'], value: 2, ifVersion: version });
  });

  it('takes a version that is none for a conflict', async () => {
    const { storage } = await countedStorage();
    const version = await put(storage, { key: ['a'], value: 1 });
    for (const wrong of ['', 'none', version.toUpperCase(), `${version}-x`, `${version}0`]) {
      const result = await storage.commit([{ key: ['a'], value: 2, ifVersion: wrong }]);
      expect([wrong, result.ok]).toEqual([wrong, wrong === version]);
    }
  });

  it('writes without a version what is new with one operation, and reads what it replaces', async () => {
    const { storage, take } = await countedStorage();
    await put(storage, { key: ['a'], value: 'first', ttlMs: 1000 });
    expect(take()).toEqual(oneWrite);
    await put(storage, { key: ['a'], value: 'second', ttlMs: 1000 });
    expect(take()).toEqual({ reads: 1, operations: 2 });
    expect((await storage.get(['a']))?.value).toBe('second');
  });

  it('writes without a version over what another instance wrote', async () => {
    const { storage, other, take } = await countedStorage();
    for (const value of ['first', 'second']) {
      await put(storage, { key: ['a'], value });
      await put(other, { key: ['a'], value: large });
    }
    take();
    await put(storage, { key: ['a'], value: 'last' });
    const { reads } = take();
    expect(reads).toBe(1);
    expect((await other.get(['a']))?.value).toBe('last');
  });

  it('removes the parts of replaced values, from any writer, with a version and without', async () => {
    const { storage, other, path } = await countedStorage();
    const raw = await openRaw(path);
    const own = await put(storage, { key: ['a'], value: large, ifVersion: null });
    await put(storage, { key: ['a'], value: 'small', ifVersion: own });
    const theirs = await put(other, { key: ['b'], value: large }, { key: ['c'], value: 1 });
    await put(storage, { key: ['b'], value: 'small', ifVersion: theirs }, { key: ['c'], ifVersion: theirs });
    await put(other, { key: ['d'], value: large });
    await put(storage, { key: ['d'] });
    expect([...await rawKeys(raw, 'part'), ...await rawKeys(raw, 'unnamed')]).toEqual([]);
    expect((await storage.list({ prefix: [], limit: 10 })).map(({ value }) => value)).toEqual(['small', 'small']);
  });

  it('writes commits that come at once without a read, and reads once where one of them does not know', async () => {
    const { storage, other, take } = await countedStorage();
    const at = numbers(40);
    const versions = await Promise.all(at.map((i) => put(storage, { key: ['k', i], value: i, ifVersion: null })));
    const { reads, operations } = take();
    expect(reads).toBe(0);
    expect(operations).toBeLessThanOrEqual(3);
    await put(other, { key: ['k', 7], value: 'theirs' });
    const results = await Promise.all(at.map((i) => storage.commit([{ key: ['k', i], ifVersion: versions[i] ?? '' }])));
    expect(results.flatMap(({ ok }, i) => ok ? [] : [i])).toEqual([7]);
    const after = take();
    expect(after.reads).toBeLessThanOrEqual(5); // ten keys each, of the group with the conflict
    expect(after.operations).toBeLessThanOrEqual(4);
  });
});
