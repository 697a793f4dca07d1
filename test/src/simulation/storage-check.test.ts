import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import type { Change, CommitResult, Entry, Key, Storage } from '../../../src/contracts/index.ts';
import { createStorageCheck } from '../../../src/simulation/storage-check.ts';

const key: Key = ['a', 1];

/** A storage behind the check, with answers of our own in place of its own. */
function checkedStorage(inner: Storage = memoryStorage()) {
  const check = createStorageCheck('storage', () => 0);
  return {
    inner,
    check,
    problems: () => [...check.problems],
    get: (at: Key, answer?: (real: Entry | undefined) => Entry | undefined) =>
      check.get(at, async () => answer ? answer(await inner.get(at)) : await inner.get(at)),
    list: (options: Parameters<Storage['list']>[0], answer = (real: Entry[]) => real) =>
      check.list(options, async () => answer(await inner.list(options))),
    commit: (changes: readonly Change[], work = (): Promise<CommitResult> => inner.commit(changes)) =>
      check.commit(changes, work),
  };
}

const three = [['a', 1], ['a', 2], ['b', 1]].map((at): Change => ({ key: at, value: at[1] }));
const all = { prefix: [], limit: 10 };

describe('the check of a storage', () => {
  it('finds nothing in what a right storage answers', async () => {
    const { get, list, commit, problems, check, inner } = checkedStorage();
    await commit(three);
    const first = await get(key);
    await commit([{ key, value: 'new', ifVersion: first?.version ?? null }, { key: ['b', 1] }]);
    expect((await commit([{ key, value: 'no', ifVersion: null }])).ok).toBe(false);
    await commit([{ key, ifVersion: (await get(key))?.version ?? null, keep: true }, {
      key: ['c', 1],
      value: new Map(),
    }]);
    await list(all);
    await list({ prefix: ['a'], after: key, limit: 1 });
    await get(['b', 1]);
    await check.checkUnknown(inner);
    expect(problems()).toEqual([]);
  });

  it.each([
    ['misses what was written', (): Entry | undefined => undefined, /get misses \["a", 1\]/],
    [
      'returns what was never written',
      (real?: Entry) => real && { ...real, value: 'x' },
      /value that was not written to/,
    ],
    ['returns it under another version', (real?: Entry) => real && { ...real, version: 'x' }, /was not written to/],
  ])('finds a read that %s', async (_, answer, problem) => {
    const { get, commit, problems } = checkedStorage();
    await commit(three);
    await get(key, answer);
    expect(problems()).toEqual([expect.stringMatching(problem)]);
  });

  it('finds a read that returns an old value', async () => {
    const { get, commit, problems } = checkedStorage();
    await commit(three);
    const old = await get(key);
    await commit([{ key, value: 'new' }]);
    await get(key, () => old);
    expect(problems()).toEqual(['storage get returns an old value of ["a", 1]']);
  });

  it('allows both values while a commit is under way or has no answer', async () => {
    const { get, commit, problems, inner } = checkedStorage();
    await commit(three);
    const old = await get(key);
    const { promise, resolve } = Promise.withResolvers<CommitResult>();
    const open = commit([{ key, value: 'new' }], () => promise);
    await get(key, () => old);
    resolve(await inner.commit([{ key, value: 'new' }]));
    await open;
    await commit([{ key, value: 'lost' }], () => Promise.reject(new Error('No'))).catch(() => undefined);
    await get(key);
    expect(problems()).toEqual([]);
  });

  it.each([
    ['entries out of order', (real: Entry[]) => real.toReversed(), /out of order/],
    ['no last entry', (real: Entry[]) => real.slice(0, -1), /leaves out an entry/],
    [
      'more than the limit',
      (real: Entry[]) => [...real, { key: ['z'], value: 1, version: 'x' }],
      /more entries than the limit/,
    ],
  ])('finds a list that returns %s', async (_, answer, problem) => {
    const { list, commit, problems } = checkedStorage();
    await commit(three);
    await list({ prefix: [], limit: 3 }, answer);
    expect(problems().join()).toMatch(problem);
  });

  it('finds a commit that ignores a version, and one that reports a conflict without one', async () => {
    const { commit, get, problems, inner } = checkedStorage();
    await commit(three);
    await commit([{ key, value: 'x', ifVersion: null }], () => inner.commit([{ key, value: 'x' }]));
    const version = (await get(key))?.version ?? null;
    await commit([{ key, value: 'y', ifVersion: version }], async () => ({ ok: false, conflicts: [key] }));
    expect(problems()).toEqual([
      'storage commit ignores that the version of ["a", 1] has changed',
      'storage commit reports a conflict, though every version is as expected',
    ]);
  });

  it.each([[0, []], [1, [expect.stringMatching(/without an answer is written in part/)]], [3, []]] as const)(
    'knows whether a commit without an answer of which %i changes are written is a whole',
    async (written, expected) => {
      const { commit, problems, check, inner } = checkedStorage();
      await commit([{ key: ['other'], value: 1 }]);
      void commit(three.map((change) => ({ ...change, ifVersion: null })), () => new Promise(() => undefined));
      if (written > 0) await inner.commit(three.slice(0, written));
      await check.checkUnknown(inner);
      expect(problems()).toEqual(expected);
    },
  );
});
