/** Checks of lifetimes: an expired value is as good as deleted. */

import { assert, assertEqual, assertRejects } from '../assert.ts';
import { listAll, mustGet, put, type StorageCheck } from './check.ts';

/** The checks of `ttlMs`. */
export const lifetimeChecks: readonly StorageCheck[] = [
  {
    name: 'returns a value until it expires',
    async run({ open, clock }) {
      const store = await open();
      await put(store, { key: ['short'], value: 1, ttlMs: 1000 }, { key: ['long'], value: 2, ttlMs: 5000 });
      clock.advance(999);
      assertEqual((await mustGet(store, ['short'])).value, 1);
      clock.advance(1);
      assertEqual(await store.get(['short']), undefined);
      assertEqual((await mustGet(store, ['long'])).value, 2);
    },
  },
  {
    name: 'lists no expired value, and fills the page with living ones',
    async run({ open, clock }) {
      const store = await open();
      const changes = Array.from({ length: 100 }, (_, at) => ({ key: ['n', at], value: at }));
      await put(store, ...changes.map((change) => change.value % 10 === 0 ? change : { ...change, ttlMs: 10 }));
      clock.advance(10);
      const page = await store.list({ prefix: ['n'], limit: 4 });
      assertEqual(page.map(({ value }) => value), [0, 10, 20, 30]);
      const rest = await store.list({ prefix: ['n'], after: ['n', 35], limit: 1000 });
      assertEqual(rest.map(({ value }) => value), [40, 50, 60, 70, 80, 90]);
    },
  },
  {
    name: 'takes an expired value for absent, whatever version is named',
    async run({ open, clock }) {
      const store = await open();
      const stale = await put(store, { key: ['a'], value: 1, ttlMs: 10 }, { key: ['b'], value: 1, ttlMs: 10 });
      clock.advance(10);
      const result = await store.commit([{ key: ['a'], value: 2, ifVersion: stale }, { key: ['b'], ifVersion: stale }]);
      assertEqual(result, { ok: false, conflicts: [['a'], ['b']] });
      const fresh = await put(store, { key: ['a'], value: 2, ifVersion: null }, { key: ['b'], ifVersion: null });
      assert(fresh !== stale, 'The version is used again');
      assertEqual(await listAll(store), [{ key: ['a'], value: 2, version: fresh }]);
    },
  },
  {
    name: 'lets exactly one of 50 racers take the place of an expired value',
    async run({ open, clock }) {
      const store = await open();
      await put(store, { key: ['lock'], value: 'before', ttlMs: 10 });
      clock.advance(10);
      const race = Array.from({ length: 50 }, (_, value) => store.commit([{ key: ['lock'], value, ifVersion: null }]));
      assertEqual((await Promise.all(race)).filter(({ ok }) => ok).length, 1);
    },
  },
  {
    name: 'forgets the lifetime when the value is replaced',
    async run({ open, clock }) {
      const store = await open();
      await put(store, { key: ['a'], value: 1, ttlMs: 10 }, { key: ['b'], value: 1 }, {
        key: ['c'],
        value: 1,
        ttlMs: 10,
      });
      await put(store, { key: ['a'], value: 2 }, { key: ['b'], value: 2, ttlMs: 10 }, {
        key: ['c'],
        value: 2,
        ttlMs: 30,
      });
      clock.advance(20);
      assertEqual((await listAll(store)).map(({ key }) => key), [['a'], ['c']]);
    },
  },
  {
    name: 'ends the lifetime of a large value as well, and takes another in its place',
    async run({ open, clock }) {
      const store = await open();
      const value = '漢'.repeat(100_000);
      await put(store, { key: ['a'], value, ttlMs: 1000 });
      clock.advance(999);
      assert((await mustGet(store, ['a'])).value === value, 'The value differs');
      clock.advance(1);
      assertEqual(await listAll(store), []);
      await put(store, { key: ['a'], value, ifVersion: null, ttlMs: 1000 });
      assert((await mustGet(store, ['a'])).value === value, 'The second value differs');
    },
  },
  {
    name: 'works when many values have expired unread',
    async run({ open, clock }) {
      const store = await open();
      for (let round = 0; round < 30; round++) {
        await put(
          store,
          ...Array.from({ length: 100 }, (_, at) => ({ key: ['nonce', round, at], value: 1, ttlMs: 10 })),
        );
        clock.advance(10);
      }
      await put(store, { key: ['nonce', 30], value: 'living', ttlMs: 10 });
      assertEqual((await listAll(store)).map(({ value }) => value), ['living']);
    },
  },
  {
    name: 'refuses a lifetime that is not positive and finite, and writes nothing',
    async run({ open }) {
      const store = await open();
      for (const ttlMs of [0, -1, Number.NaN, Infinity]) {
        await assertRejects(() => store.commit([{ key: ['good'], value: 1 }, { key: ['a'], value: 1, ttlMs }]), {
          code: 'invalid_argument',
          reason: 'invalid_ttl',
        });
      }
      assertEqual(await listAll(store), []);
      await put(store, { key: ['a'], value: 1, ttlMs: 0.5 }, { key: ['b'], value: 1, ttlMs: Number.MAX_VALUE });
      assertEqual((await listAll(store)).length, 2);
    },
  },
];
