/** Checks of keys: any two texts and numbers are different keys, and invalid keys are rejected. */

import { encodeKey, type Key, maxKeyBytes } from '../../../src/base/key.ts';
import { assertEqual, assertRejects } from '../assert.ts';
import { listAll, mustGet, put, type StorageCheck } from './check.ts';

const odd: readonly Key[] = [
  ...['', ' ', '/', '//', '.', '..', '\\', '\0', '\0\0', '\u0001', '\u0002', 'ÿ', '\u00FE', '\u007F'].map((
    part,
  ) => [part]),
  ...['\uFFFF', '\uFFFE', '\uFEFF', '\u{10FFFF}', '😀', '👩‍👩‍👧', 'é', 'e\u0301', '漢字', 'ا', '\r\n'].map((
    part,
  ) => [part]),
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', 'null', 'undefined', '%00', '*', '?'].map((
    part,
  ) => [
    part,
  ]),
  ...[0, 1, -1, 0.5, 255, 256, 2 ** 53, 5e-324, Number.MAX_VALUE].map((part) => [part]),
  ...['0', '1', '-1'].map((part) => [part]),
  ['a', 'b'],
  ['a/b'],
  ['a', '', 'b'],
  ['', ''],
  ['', 0],
  [0, ''],
  [0, 0],
];

const longest: readonly Key[] = [
  ['x'.repeat(maxKeyBytes - 2)],
  ['漢'.repeat(Math.floor((maxKeyBytes - 2) / 3))],
  ['\0'.repeat((maxKeyBytes - 2) / 2)],
  ['\u0001'.repeat(maxKeyBytes - 2)],
  Array.from({ length: maxKeyBytes / 2 }, () => ''),
  Array.from({ length: Math.floor(maxKeyBytes / 9) }, () => 0),
  Array.from({ length: Math.floor(maxKeyBytes / 9) }, (_, at) => -1 - at / 3),
];

const invalid: readonly unknown[] = [
  ['\uD83D'],
  ['a\uDE00b'],
  [Number.NaN],
  [Infinity],
  [-Infinity],
  [true],
  [null],
  [undefined],
  [1n],
  [['a']],
  ['x'.repeat(maxKeyBytes - 1)],
  Array.from({ length: 171 }, () => 1),
];

export const keyChecks: readonly StorageCheck[] = [
  {
    name: 'separates keys with any content',
    async run({ open }) {
      const store = await open();
      await put(store, ...odd.map((key, at) => ({ key, value: at, ifVersion: null })));
      for (const [at, key] of odd.entries()) {
        const entry = await mustGet(store, key);
        assertEqual([entry.key, entry.value], [key, at]);
      }
      assertEqual((await listAll(store)).length, odd.length);
    },
  },
  {
    name: 'takes every key up to the longest, whatever is in it',
    async run({ open }) {
      const store = await open();
      for (const key of longest) {
        assertEqual(encodeKey(key).length > maxKeyBytes - 9, true, 'The key of this check is too short');
        const version = await put(store, { key, value: 'kept', ifVersion: null });
        assertEqual(await store.get(key), { key, value: 'kept', version });
        assertEqual((await store.list({ prefix: key, limit: 2 })).length, 1);
        assertEqual((await store.list({ prefix: key, after: key, limit: 2 })).length, 0);
      }
    },
  },
  {
    name: 'takes negative zero for zero',
    async run({ open }) {
      const store = await open();
      await put(store, { key: [-0, 'a'], value: 1 });
      assertEqual((await mustGet(store, [0, 'a'])).key, [0, 'a']);
      assertEqual((await store.list({ prefix: [-0], limit: 2 })).map(({ key }) => key), [[0, 'a']]);
    },
  },
  {
    name: 'refuses what is no key, and writes nothing',
    async run({ open }) {
      const store = await open();
      for (const parts of invalid) {
        const key = parts as Key; // safe: what follows is that it is refused
        const refusal = { code: 'invalid_argument', reason: 'invalid_key' };
        await assertRejects(() => store.get(key), refusal);
        await assertRejects(() => store.commit([{ key: ['good'], value: 1 }, { key, value: 1 }]), refusal);
        await assertRejects(() => store.list({ prefix: key, limit: 1 }), refusal);
        await assertRejects(() => store.list({ prefix: [], after: key, limit: 1 }), refusal);
      }
      assertEqual(await listAll(store), []);
    },
  },
  {
    name: 'refuses a key without parts, but lists under such a prefix',
    async run({ open }) {
      const store = await open();
      await assertRejects(() => store.get([]), { code: 'invalid_argument', reason: 'invalid_key' });
      await assertRejects(() => store.commit([{ key: [], value: 1 }]), {
        code: 'invalid_argument',
        reason: 'invalid_key',
      });
      assertEqual(await store.list({ prefix: [], limit: 1 }), []);
    },
  },
];
