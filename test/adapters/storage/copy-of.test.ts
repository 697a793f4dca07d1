import { describe, expect, it } from 'vitest';
import { copyOf } from '../../../adapters/storage/changes.ts';

const shared = { inner: 1 };
const cycle: Record<string, unknown> = {};
cycle['itself'] = { again: cycle };
const values: Readonly<Record<string, unknown>> = {
  'plain data': { seq: 1, state: { id: 'a', none: null, missing: undefined, big: 1n, at: NaN } },
  'a list of texts': ['a', 'b'],
  'a list in an object': { items: [1, { two: 2 }] },
  'a date and a map': { at: new Date(5), map: new Map([['a', 1]]) },
  'bytes': { bytes: new Uint8Array([1, 2]) },
  'an object without a prototype': Object.assign(Object.create(null) as object, { a: 1 }),
  'a field that is named as the prototype': JSON.parse('{"__proto__":{"isAdmin":true}}') as unknown,
  'data that is used twice': { one: shared, two: shared },
  'deep data': { a: { b: { c: { d: { e: { f: 1 } } } } } },
  'a cycle': cycle,
};

describe('copyOf', () => {
  it.each(Object.keys(values))('copies as structuredClone does: %s', (name) => {
    const copy = copyOf(values[name]);
    expect(copy).toStrictEqual(structuredClone(values[name]));
    expect(copy).not.toBe(values[name]);
  });

  it('copies what objects within hold', () => {
    const value = { state: { id: 'a' } };
    const copy = copyOf(value);
    value.state.id = 'b';
    expect(copy).toEqual({ state: { id: 'a' } });
  });

  it.each([{ run: () => 1 }, { deep: { symbol: Symbol('a') } }])('refuses what cannot be stored', (value) => {
    expect(() => copyOf(value)).toThrow('could not be cloned');
  });
});
