/** Checks of lists: the entries of a prefix, their order, and pages. */

import type { Key } from '../../../src/base/key.ts';
import type { Storage } from '../../../src/contracts/storage.ts';
import { assertEqual, assertRejects } from '../assert.ts';
import { listAll, put, type StorageCheck } from './check.ts';

/** Numbers before text; numbers by size; text by code point, which is not the order of JavaScript's own comparison. */
const inOrder: readonly Key[] = [
  ...[-1e300, -1000, -2.5, -2, -5e-324, 0, 5e-324, 0.1, 0.25, 1, 2, 10, 1e21, 1e300].map((part) => [part]),
  [1e300, 0],
  ...['', '\0', '\0\0', '\u0001', '0', '10', '2', 'A', 'Z', 'a', 'a\0', 'a\u0001', 'aa', 'b', '~', '\u007F', 'é', 'ÿ']
    .map((part) => [part]),
  ...['Ā', '漢', '\uD7FF', '\uE000', '\uFFFD', '\uFFFF', '\u{10000}', '😀', '\u{10FFFF}'].map((part) => [part]),
];

/** The checks of `list`. */
export const listChecks: readonly StorageCheck[] = [
  {
    name: 'lists by key: numbers before text, numbers by size, text by code point',
    async run({ open }) {
      const store = await open();
      await put(store, ...shuffled(inOrder).map((key) => ({ key, value: 1 })));
      assertEqual(await keysOf(store, []), inOrder);
    },
  },
  {
    name: 'lists a key before the keys under it, and those before the next key',
    async run({ open }) {
      const store = await open();
      const keys = [['a'], ['a', -1], ['a', 1], ['a', 1, 'x'], ['a', ''], ['a', 'b'], ['a', '漢'], ['a\0'], ['ab'], [
        'b',
      ]];
      await put(store, ...shuffled(keys).map((key) => ({ key, value: 1 })));
      assertEqual(await keysOf(store, []), keys);
    },
  },
  {
    name: 'matches a prefix by parts, not by characters, and lists the key at the prefix itself',
    async run({ open }) {
      const store = await open();
      const keys = [
        ['a'],
        ['a', 1],
        ['a', '1'],
        ['a', 'b', 'c'],
        ['a\0'],
        ['a\u0001'],
        ['aÿ'],
        ['a\u{10FFFF}'],
        ['ab'],
        [1],
      ];
      await put(store, ...keys.map((key) => ({ key, value: 1 })));
      assertEqual(await keysOf(store, ['a']), [['a'], ['a', 1], ['a', '1'], ['a', 'b', 'c']]);
      assertEqual(await keysOf(store, ['a', 1]), [['a', 1]]);
      assertEqual(await keysOf(store, ['a', '1']), [['a', '1']]);
      assertEqual(await keysOf(store, ['']), []);
      assertEqual((await keysOf(store, [])).length, keys.length);
    },
  },
  {
    name: 'lists only what is behind `after`, at most `limit`',
    async run({ open }) {
      const store = await open();
      await put(store, ...[1, 2, 3, 4, 5].map((part) => ({ key: ['n', part], value: part })), { key: ['o'], value: 0 });
      assertEqual(await keysOf(store, ['n'], { limit: 2 }), [['n', 1], ['n', 2]]);
      assertEqual(await keysOf(store, ['n'], { after: ['n', 2], limit: 2 }), [['n', 3], ['n', 4]]);
      assertEqual(await keysOf(store, ['n'], { after: ['n', 4.5] }), [['n', 5]]);
      assertEqual(await keysOf(store, ['n'], { after: ['n', 5] }), []);
    },
  },
  {
    name: 'accepts an `after` that is not under the prefix',
    async run({ open }) {
      const store = await open();
      await put(store, ...[['a'], ['b'], ['m', 1], ['m', 2], ['n'], ['z']].map((key) => ({ key, value: 1 })));
      assertEqual(await keysOf(store, ['m'], { after: ['a'] }), [['m', 1], ['m', 2]]);
      assertEqual(await keysOf(store, ['m'], { after: ['m'] }), [['m', 1], ['m', 2]]);
      assertEqual(await keysOf(store, ['m'], { after: ['m', 'x'] }), []);
      assertEqual(await keysOf(store, ['m'], { after: ['z'] }), []);
      assertEqual(await keysOf(store, [], { after: ['m', 1] }), [['m', 2], ['n'], ['z']]);
    },
  },
  {
    name: 'rejects a limit that is not a whole number from 1 to 1,000',
    async run({ open }) {
      const store = await open();
      for (const limit of [0, -1, 1.5, 1001, Number.NaN, Infinity]) {
        await assertRejects(() => store.list({ prefix: [], limit }), {
          code: 'invalid_argument',
          reason: 'invalid_limit',
        });
      }
    },
  },
  {
    name: 'lists what can be read, as it is read',
    async run({ open }) {
      const store = await open();
      await put(store, ...inOrder.map((key, at) => ({ key, value: { at } })));
      const entries = await listAll(store);
      for (const entry of entries) assertEqual(await store.get(entry.key), entry);
    },
  },
  {
    name: 'shows each of 2,500 entries exactly once, page by page',
    async run({ open }) {
      const store = await open();
      for (let from = 0; from < 2500; from += 100) {
        await put(store, ...Array.from({ length: 100 }, (_, at) => ({ key: ['n', from + at], value: from + at })));
      }
      const all = Array.from({ length: 2500 }, (_, at) => at);
      for (const limit of [1000, 333]) {
        assertEqual((await listAll(store, ['n'], limit)).map(({ value }) => value), all);
      }
    },
  },
];

async function keysOf(
  store: Storage,
  prefix: Key,
  { after, limit = 1000 }: { readonly after?: Key; readonly limit?: number } = {},
): Promise<Key[]> {
  const entries = await store.list({ prefix, limit, ...(after !== undefined && { after }) });
  return entries.map(({ key }) => key);
}

/** Shuffles in the same way every time. */
function shuffled<Item>(items: readonly Item[]): Item[] {
  return items.map((item, at) => ({ item, at: (at * 7919) % 101 })).toSorted((a, b) => a.at - b.at).map(({ item }) =>
    item
  );
}
