import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import type { Change } from '../../../src/contracts/index.ts';
import { PinnaceError } from '../../../src/index.ts';
import { commitMarked, commitOwn, outlast, steadyStorage } from '../../../src/log/commits.ts';
import { createTestClock, storageContract } from '../../contracts/storage.ts';
import { virtualTime } from '../../../src/simulation/virtual-time.ts';
import { repeatingStorage } from '../../fixtures/repeating-storage.ts';

const blocked = () => new PinnaceError('unavailable', 'No', { details: { reason: 'storage_blocked' } });

/** Fails until so much time has passed. */
function failingFor(ms: number, error: () => Error = blocked): () => Promise<string> {
  let isBack = false;
  setTimeout(() => (isBack = true), ms);
  return () => isBack ? Promise.resolve('done') : Promise.reject(error());
}

describe('outlast', () => {
  it('sets no timer for work that succeeds', async () => {
    using time = virtualTime();
    expect(await outlast(() => Promise.resolve(1), 10_000)).toBe(1);
    expect(time.timers).toBe(0);
  });

  it('repeats work until it succeeds within the grace', async () => {
    using time = virtualTime();
    const work = outlast(failingFor(9_000), 10_000);
    expect(await time.passUntil(work, 9_600)).toBe(true);
    expect(await work).toBe('done');
    expect(time.timers).toBe(0);
  });

  it('does not wait for what does not pass', async () => {
    const error = new PinnaceError('unavailable', 'No', { retryable: false, details: { reason: 'storage_full' } });
    let attempts = 0;
    const work = () => (attempts += 1, Promise.reject(error));
    await expect(outlast(work, 10_000)).rejects.toBe(error);
    await expect(outlast(() => Promise.reject(new PinnaceError('conflict', 'No')), 10_000)).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(attempts).toBe(1);
  });
});

describe('steadyStorage', () => {
  it('repeats reads, lists and commits without versions, and no other commits', async () => {
    using time = virtualTime();
    const memory = memoryStorage({ now: time.now });
    let isAway = true;
    const unlessAway = <A extends readonly unknown[], T>(call: (...given: A) => Promise<T>) => (...given: A) =>
      isAway ? Promise.reject(blocked()) : call(...given);
    const storage = steadyStorage({
      get: unlessAway((given: Parameters<typeof memory.get>[0]) => memory.get(given)),
      list: unlessAway((given: Parameters<typeof memory.list>[0]) => memory.list(given)),
      commit: unlessAway((given: Parameters<typeof memory.commit>[0]) => memory.commit(given)),
    }, 10_000);
    setTimeout(() => (isAway = false), 5_000);
    const work = Promise.all([
      storage.commit([{ key: ['a'], value: 1 }]),
      storage.get(['b']),
      storage.list({ prefix: ['b'], limit: 1 }),
    ]);
    await expect(storage.commit([{ key: ['a'], value: 2, ifVersion: null }])).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(await time.passUntil(work, 6_000)).toBe(true);
    expect(await storage.get(['a'])).toMatchObject({ value: 1 });
  });
});

describe('commitOwn', () => {
  it('knows its own commit where the storage repeats it, and reports the conflict of another', async () => {
    const storage = repeatingStorage(memoryStorage());
    const create = (value: string) =>
      commitOwn(storage, [{ key: ['a'], value, ifVersion: null }], {
        written: async () => {
          const found = await storage.get(['a']);
          return found?.value === value ? found.version : undefined;
        },
      });
    expect(await create('first')).toMatchObject({ ok: true });
    expect(await create('second')).toMatchObject({ ok: false });
  });
});

describe('commitMarked', () => {
  it('knows its own commit also when another has replaced what it wrote', async () => {
    const memory = memoryStorage();
    const between = () => memory.commit([{ key: ['a'], value: 'another' }]);
    const own = repeatingStorage(memory, { between });
    const write = (markKey: string) =>
      commitMarked(own, [{ key: ['a'], value: 'own', ifVersion: null }], { markKey: [markKey] });
    expect(await write('m1')).toMatchObject({ ok: true });
    expect(await memory.get(['a'])).toMatchObject({ value: 'another' });
    expect(await write('m2')).toMatchObject({ ok: false });
    expect(await memory.get(['m2'])).toBeUndefined();
  });
});

describe('the storage contract', () => {
  it.each([
    ['every commit', () => true],
    ['a delete', (changes: readonly Change[]) => changes.some(({ value }) => value === undefined)],
    ['a commit of several keys', (changes: readonly Change[]) => changes.length > 1],
  ])('is broken by a storage that repeats %s whose answer was lost', async (_name, when) => {
    const law = storageContract.find(({ name }) => name.includes('repeats one whose answer was lost'));
    const clock = createTestClock();
    const open = () => Promise.resolve(repeatingStorage(memoryStorage({ now: clock.now }), { when }));
    await expect(law?.run({ clock, open, openOther: open })).rejects.toThrow('reported a conflict, and was written');
  });
});
