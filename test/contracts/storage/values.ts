/** Checks of values: reads return copies of written values, and values that cannot be copied are rejected. */

import { assert, assertEqual, assertRejects } from '../assert.ts';
import { listAll, mustGet, put, type StorageCheck } from './check.ts';

/** 4,000,000 bytes as UTF-8. */
const longText = '漢字😀'.repeat(400_000);

export const valueChecks: readonly StorageCheck[] = [
  {
    name: 'stores every kind of value',
    async run({ open }) {
      const store = await open();
      const values = kinds();
      await put(store, ...values.map((value, at) => ({ key: ['kind', at], value })));
      for (const [at, value] of values.entries()) assertEqual((await mustGet(store, ['kind', at])).value, value);
      assertEqual((await listAll(store)).map(({ value }) => value), values);
    },
  },
  {
    name: 'stores values with cycles and repeated references',
    async run({ open }) {
      const store = await open();
      const value: Record<string, unknown> = { twice: [{}] };
      value['self'] = value;
      value['again'] = value['twice'];
      await put(store, { key: ['a'], value });
      const read = (await mustGet(store, ['a'])).value as Record<string, unknown>; // safe: as written
      assert(read['self'] === read && read['again'] === read['twice'], 'The references differ');
    },
  },
  {
    name: 'stores text in any script, as a value and inside one',
    async run({ open }) {
      const store = await open();
      const value = { '漢字': ['日本語', '한국어', '👩‍👩‍👧‍👦', 'عربى', '\0', '\uFFFF'], '😀': 'ÿ' };
      await put(store, { key: ['map'], value }, { key: ['text'], value: '漢字😀' });
      assertEqual((await mustGet(store, ['map'])).value, value);
      assertEqual((await mustGet(store, ['text'])).value, '漢字😀');
    },
  },
  {
    name: 'stores a text of 4,000,000 bytes, and replaces it',
    async run({ open }) {
      const store = await open();
      const first = await put(store, { key: ['large'], value: longText, ifVersion: null });
      assert((await mustGet(store, ['large'])).value === longText, 'The text differs');
      const reversed = { text: longText.slice(0, -4) };
      await put(store, { key: ['large'], value: reversed, ifVersion: first });
      const [listed] = await store.list({ prefix: ['large'], limit: 1 });
      assert((listed?.value as typeof reversed | undefined)?.text === reversed.text, 'The second text differs');
      await put(store, { key: ['large'], value: 'small' });
      assertEqual((await mustGet(store, ['large'])).value, 'small');
    },
  },
  {
    name: 'stores 4,000,000 bytes inside an object',
    async run({ open }) {
      const store = await open();
      const bytes = Uint8Array.from({ length: 4_000_000 }, (_, at) => at * 31 % 251);
      await put(store, { key: ['large'], value: { name: '漢字.bin', bytes } });
      const read = (await mustGet(store, ['large'])).value as { bytes: Uint8Array }; // safe: as written
      assert(read.bytes instanceof Uint8Array && read.bytes.buffer.byteLength === 4_000_000, 'The bytes are not alone');
      assert(bytes.every((byte, at) => byte === read.bytes[at]), 'The bytes differ');
    },
  },
  {
    name: 'stores 100 values of 20,000 bytes in one commit, or none',
    async run({ open }) {
      const store = await open();
      const changes = Array.from({ length: 100 }, (_, at) => {
        return { key: ['many', at], value: String(at).padStart(20_000, '.'), ifVersion: null };
      });
      await put(store, ...changes);
      assertEqual((await listAll(store)).map(({ value }) => String(value).length), changes.map(() => 20_000));
      const [first] = changes;
      assert(first !== undefined, 'There are changes');
      const result = await store.commit([...changes.slice(1), { ...first, key: ['many', 'more'] }]);
      assertEqual(result, { ok: false, conflicts: changes.slice(1).map(({ key }) => key) });
      assertEqual(await store.get(['many', 'more']), undefined);
    },
  },
  {
    name: 'stores a copy of the value at the time of the call',
    async run({ open }) {
      const store = await open();
      const value = { list: [1] };
      const key = ['a'];
      const committed = store.commit([{ key, value }]);
      value.list.push(2);
      key.push('b');
      await committed;
      value.list.push(3);
      assertEqual((await mustGet(store, ['a'])).value, { list: [1] });
      assertEqual((await listAll(store)).map((entry) => entry.key), [['a']]);
    },
  },
  {
    name: 'returns a copy of the stored value',
    async run({ open }) {
      const store = await open();
      await put(store, { key: ['a'], value: { list: [1] } });
      const [listed] = await listAll(store);
      for (const { value, key } of [await mustGet(store, ['a']), listed ?? await mustGet(store, ['a'])]) {
        (value as { list: number[] }).list.push(2); // safe: as written
        (key as string[]).push('b'); // safe: only the type forbids it
      }
      assertEqual((await mustGet(store, ['a'])).value, { list: [1] });
      assertEqual((await listAll(store)).map(({ key }) => key), [['a']]);
    },
  },
  {
    name: 'refuses a value that cannot be copied, and writes nothing',
    async run({ open }) {
      const store = await open();
      const refused = [() => 1, { call: () => 1 }, [Symbol('s')], new WeakMap(), new Map([[1, Promise.resolve()]])];
      for (const value of refused) {
        await assertRejects(() => store.commit([{ key: ['good'], value: 1 }, { key: ['bad'], value }]), {
          code: 'invalid_argument',
          reason: 'invalid_value',
        });
      }
      assertEqual(await listAll(store), []);
    },
  },
];

function kinds(): unknown[] {
  const buffer = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]).buffer;
  const plain = [null, true, false, 0, -0, 1.5, Number.NaN, Infinity, '', 'text', 2n ** 70n];
  const nested = [[], {}, [undefined, null], { absent: undefined }, [[[]]], JSON.parse('{"__proto__":{"a":1}}')];
  const builtIn = [new Date(0), new Date(Number.NaN), /a+/giu, new RangeError('too far')];
  const collections = [new Map<unknown, unknown>([['a', 1], [2, new Map([[{}, []]])]]), new Set([1, 'a', null])];
  const bytes = [new Uint8Array([0, 255]), new Uint8Array(), new Float64Array([1.5]), new BigInt64Array([-1n])];
  const views = [buffer, new DataView(buffer, 2, 3), new Uint16Array(buffer, 2, 2)];
  return [...plain, ...nested, ...builtIn, ...collections, ...bytes, ...views];
}
