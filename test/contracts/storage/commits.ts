/** Checks of commits: their writes, their conflicts, and which racer wins. */

import type { Change, CommitResult } from '../../../src/contracts/storage.ts';
import { assert, assertEqual, assertRejects } from '../assert.ts';
import { listAll, mustGet, put, type StorageCheck } from './check.ts';

const invalidChanges = { code: 'invalid_argument', reason: 'invalid_changes' };

/** The checks of `commit` and `get`. */
export const commitChecks: readonly StorageCheck[] = [
  {
    name: 'returns undefined on a miss',
    async run({ open }) {
      assertEqual(await (await open()).get(['nothing']), undefined);
    },
  },
  {
    name: 'returns what was committed, with the version of the commit',
    async run({ open }) {
      const store = await open();
      const version = await put(store, { key: ['a', 1], value: { text: 'one' } });
      assertEqual(await store.get(['a', 1]), { key: ['a', 1], value: { text: 'one' }, version });
    },
  },
  {
    name: 'replaces a value under a new version',
    async run({ open }) {
      const store = await open();
      const first = await put(store, { key: ['a'], value: 1 });
      const second = await put(store, { key: ['a'], value: 2 });
      assert(first !== second, 'Two writes have one version');
      assertEqual(await store.get(['a']), { key: ['a'], value: 2, version: second });
    },
  },
  {
    name: 'deletes what has no value, and nothing else',
    async run({ open }) {
      const store = await open();
      const neighbours = [['a', 'b'], ['a', 0], ['a\0'], ['a '], ['aa'], ['A'], ['b'], [0]];
      await put(store, { key: ['a'], value: 1 }, ...neighbours.map((key) => ({ key, value: 1 })));
      await put(store, { key: ['a'] });
      assertEqual(await store.get(['a']), undefined);
      for (const key of neighbours) assertEqual((await store.get(key))?.value, 1, 'A neighbor was deleted');
    },
  },
  {
    name: 'deletes what is not there, and takes an undefined value for a delete',
    async run({ open }) {
      const store = await open();
      await put(store, { key: ['a'], ifVersion: null });
      await put(store, { key: ['a'], value: 1 });
      await put(store, { key: ['a'], value: undefined });
      assertEqual(await listAll(store), []);
    },
  },
  {
    name: 'checks a version and keeps the value, where the store can',
    async run({ open }) {
      const store = await open();
      if (!store.checks) return;
      const version = await put(store, { key: ['head'], value: 1 });
      await put(store, { key: ['head'], ifVersion: version, keep: true }, { key: ['a'], value: 1 });
      assertEqual(await store.get(['head']), { key: ['head'], value: 1, version });
      await put(store, { key: ['head'], value: 2 });
      const late = await store.commit([{ key: ['head'], ifVersion: version, keep: true }, { key: ['a'], value: 2 }]);
      assertEqual(late, { ok: false, conflicts: [['head']] });
      assertEqual((await store.get(['a']))?.value, 1, 'A commit was written whose check failed');
    },
  },
  {
    name: 'checks that a key is new, and writes nothing under it',
    async run({ open }) {
      const store = await open();
      if (!store.checks) return;
      await put(store, { key: ['free'], ifVersion: null, keep: true }, { key: ['a'], value: 1 });
      assertEqual(await store.get(['free']), undefined);
      await put(store, { key: ['free'], value: 1 });
      const late = await store.commit([{ key: ['free'], ifVersion: null, keep: true }, { key: ['b'], value: 1 }]);
      assertEqual(late, { ok: false, conflicts: [['free']] });
      assertEqual(await store.get(['b']), undefined);
    },
  },
  {
    name: 'refuses a check without a version, and one with a value',
    async run({ open }) {
      const store = await open();
      if (!store.checks) return;
      await assertRejects(() => store.commit([{ key: ['a'], keep: true }]), invalidChanges);
      await assertRejects(() => store.commit([{ key: ['a'], value: 1, ifVersion: null, keep: true }]), invalidChanges);
    },
  },
  {
    name: 'writes only over the version that was named',
    async run({ open }) {
      const store = await open();
      const first = await put(store, { key: ['a'], value: 1, ifVersion: null });
      assertEqual(await store.commit([{ key: ['a'], value: 2, ifVersion: null }]), { ok: false, conflicts: [['a']] });
      const second = await put(store, { key: ['a'], value: 2, ifVersion: first });
      assertEqual(await store.commit([{ key: ['a'], ifVersion: first }]), { ok: false, conflicts: [['a']] });
      assertEqual((await mustGet(store, ['a'])).value, 2);
      await put(store, { key: ['a'], ifVersion: second });
      assertEqual(await store.commit([{ key: ['a'], value: 3, ifVersion: second }]), { ok: false, conflicts: [['a']] });
    },
  },
  {
    name: 'never uses a version again, also after a delete',
    async run({ open }) {
      const store = await open();
      const versions = new Set<string>();
      for (let round = 0; round < 5; round++) {
        versions.add(await put(store, { key: ['a'], value: 1 }));
        await put(store, { key: ['a'] });
      }
      assertEqual(versions.size, 5);
    },
  },
  {
    name: 'writes nothing of a commit with conflicts, and names exactly the keys that differ',
    async run({ open }) {
      const store = await open();
      const version = await put(store, { key: ['same'], value: 1 }, { key: ['taken'], value: 1 });
      const result = await store.commit([
        { key: ['same'], value: 2, ifVersion: version },
        { key: ['taken'], value: 2, ifVersion: null },
        { key: ['absent'], value: 2, ifVersion: null },
        { key: ['gone'], ifVersion: version },
        { key: ['unconditional'], value: 2 },
      ]);
      assertEqual(result, { ok: false, conflicts: [['taken'], ['gone']] });
      const left = (await listAll(store)).map(({ key, value }) => [key, value]);
      assertEqual(left, [[['same'], 1], [['taken'], 1]]);
    },
  },
  {
    name:
      'has written nothing of a commit that it reports as a conflict, also when it repeats one whose answer was lost',
    async run({ open }) {
      const store = await open();
      for (let round = 0; round < 20; round++) {
        const ifVersion = (await store.get(['a']))?.version ?? null;
        const isDelete = round % 4 === 3;
        const own = { key: ['a'], ifVersion, ...(!isDelete && { value: round }) };
        const beside = round % 2 === 0 ? [] : [{ key: ['b'], value: round }];
        const result = await store.commit([own, ...beside]).catch(() => undefined); // it may be lost
        const isWritten = (await store.get(['a']))?.value === own.value || (await store.get(['b']))?.value === round;
        assert(result?.ok !== false || !isWritten, 'A commit reported a conflict, and was written');
      }
    },
  },
  {
    name: 'equals once when committed twice without versions',
    async run({ open }) {
      const store = await open();
      const changes = [{ key: ['a'], value: [1] }, { key: ['b'] }];
      await put(store, { key: ['b'], value: 1 });
      await put(store, ...changes);
      const once = (await listAll(store)).map(({ key, value }) => [key, value]);
      await put(store, ...changes);
      assertEqual((await listAll(store)).map(({ key, value }) => [key, value]), once);
    },
  },
  {
    name: 'lets exactly one of 50 racers create, and one replace',
    async run({ open }) {
      const store = await open();
      assertEqual(winners(await race(50, (racer) => store.commit([{ key: ['a'], value: racer, ifVersion: null }]))), 1);
      const { version } = await mustGet(store, ['a']);
      const replaced = await race(50, (racer) => store.commit([{ key: ['a'], value: -racer, ifVersion: version }]));
      assertEqual(winners(replaced), 1);
    },
  },
  {
    name: 'loses no update when 20 count together',
    async run({ open }) {
      const store = await open();
      await race(20, async () => {
        for (;;) {
          const entry = await store.get(['count']);
          const value = Number(entry?.value ?? 0) + 1;
          const result = await store.commit([{ key: ['count'], value, ifVersion: entry?.version ?? null }]);
          if (result.ok) return result;
        }
      });
      assertEqual((await mustGet(store, ['count'])).value, 20);
    },
  },
  {
    name: 'takes 50 writers of one key who do not care who is last',
    async run({ open }) {
      const store = await open();
      assertEqual(winners(await race(50, (racer) => store.commit([{ key: ['a'], value: racer }]))), 50);
    },
  },
  {
    name: 'never mixes two commits of the same keys',
    async run({ open }) {
      const store = await open();
      const keys = [['left'], ['right'], ['middle']];
      await race(20, (racer) => store.commit(keys.map((key) => ({ key, value: racer }))));
      const values = new Set((await listAll(store)).map(({ value }) => value));
      assertEqual(values.size, 1);
    },
  },
  {
    name: 'takes 1 to 100 changes of different keys',
    async run({ open }) {
      const store = await open();
      const changes = Array.from({ length: 101 }, (_, at): Change => ({ key: ['n', at], value: at, ifVersion: null }));
      await assertRejects(() => store.commit(changes), invalidChanges);
      await assertRejects(() => store.commit([]), invalidChanges);
      await assertRejects(() => store.commit([{ key: ['a'], value: 1 }, { key: ['a'] }]), invalidChanges);
      await assertRejects(() => store.commit([{ key: [0], value: 1 }, { key: [-0], value: 2 }]), invalidChanges);
      assertEqual(await listAll(store), []);
      await put(store, ...changes.slice(0, 100));
      assertEqual((await listAll(store)).map(({ value }) => value), Array.from({ length: 100 }, (_, at) => at));
    },
  },
];

/** The checks that two namespaces are isolated from each other. */
export const isolationChecks: readonly StorageCheck[] = [
  {
    name: 'shows one namespace nothing of another',
    async run({ open, openOther }) {
      const [store, other] = [await open(), await openOther()];
      await put(store, { key: ['a'], value: 'mine' }, { key: ['b'], value: 'mine' });
      assertEqual(await other.get(['a']), undefined);
      assertEqual(await listAll(other), []);
      await put(other, { key: ['a'], value: 'theirs', ifVersion: null });
      await put(other, { key: ['b'] });
      assertEqual((await listAll(store)).map(({ value }) => value), ['mine', 'mine']);
      assertEqual((await listAll(other)).map(({ value }) => value), ['theirs']);
    },
  },
];

function race(racers: number, run: (racer: number) => Promise<CommitResult>): Promise<CommitResult[]> {
  return Promise.all(Array.from({ length: racers }, (_, racer) => run(racer)));
}

function winners(results: readonly CommitResult[]): number {
  return results.filter(({ ok }) => ok).length;
}
