import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { groupCommits } from '../../../src/log/group-commit.ts';
import type { Change } from '../../../src/contracts/index.ts';
import type { Storage } from '../../../src/index.ts';

function counting(): { storage: Storage; commits: Change[][] } {
  const inner = memoryStorage();
  const commits: Change[][] = [];
  return {
    commits,
    storage: { ...inner, commit: (changes) => (commits.push([...changes]), inner.commit(changes)) },
  };
}

describe('groupCommits', () => {
  it('lets none suffer for another: a conflict and a bad value are their own', async () => {
    const { storage } = counting();
    const grouped = groupCommits(storage);
    const [good, conflict, bad] = await Promise.allSettled([
      grouped.commit([{ key: ['good'], value: 1 }]),
      grouped.commit([{ key: ['conflict'], value: 1, ifVersion: 'none' }]),
      grouped.commit([{ key: ['bad'], value: () => 1 }]),
    ]);
    expect(good).toMatchObject({ status: 'fulfilled', value: { ok: true } });
    expect(conflict).toMatchObject({ status: 'fulfilled', value: { ok: false, conflicts: [['conflict']] } });
    expect(bad).toMatchObject({ status: 'rejected', reason: { code: 'invalid_argument' } });
  });

  it('makes one commit of those that wait and touch different keys', async () => {
    const { storage, commits } = counting();
    const grouped = groupCommits(storage);
    await Promise.all(Array.from({ length: 5 }, (_, i) => grouped.commit([{ key: ['k', i], value: i }])));
    expect(commits.map(({ length }) => length)).toEqual([5]);
  });

  it('keeps the order of commits to one key', async () => {
    const { storage } = counting();
    const grouped = groupCommits(storage);
    await Promise.all(Array.from({ length: 20 }, (_, i) => grouped.commit([{ key: ['k'], value: i }])));
    expect((await storage.get(['k']))?.value).toBe(19);
  });
});
