/** Checks of closing: every later call rejects as `unavailable`. */

import type { ClosableStorage } from '../../../src/contracts/storage.ts';
import { assertEqual, assertRejects } from '../assert.ts';
import { put, type StorageCheck } from './check.ts';

const closed = { code: 'unavailable', reason: 'storage_closed' };

/** The checks of `close`. */
export const closingChecks: readonly StorageCheck<ClosableStorage>[] = [
  {
    name: 'is unavailable after it was closed, to every call',
    async run({ open }) {
      const store = await open();
      await put(store, { key: ['a'], value: 1 });
      await store.close();
      await assertRejects(() => store.get(['a']), closed);
      await assertRejects(() => store.list({ prefix: [], limit: 1 }), closed);
      await assertRejects(() => store.commit([{ key: ['a'], value: 2 }]), closed);
    },
  },
  {
    name: 'may be closed twice, and before it was ever used',
    async run({ open, openOther }) {
      const [store, other] = [await open(), await openOther()];
      await put(store, { key: ['a'], value: 1 });
      await Promise.all([store.close(), store.close(), other.close()]);
      await store.close();
      await assertRejects(() => other.get(['a']), closed);
    },
  },
  {
    name: 'finishes what was called before it was closed',
    async run({ open }) {
      const store = await open();
      await put(store, { key: ['a'], value: 1 });
      const commits = Array.from(
        { length: 10 },
        (_, at) => store.commit([{ key: ['n', at], value: 'x'.repeat(100_000) }]),
      );
      await store.close();
      assertEqual((await Promise.all(commits)).map(({ ok }) => ok), commits.map(() => true));
    },
  },
];
