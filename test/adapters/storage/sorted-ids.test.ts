import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSortedIds } from '../../../adapters/storage/sorted-ids.ts';
import { runs } from '../../fixtures/budget.ts';

const id = fc.string({ maxLength: 3 });
const step = fc.record({ id, adds: fc.boolean() });

describe('sorted ids', () => {
  it('lists what a sorted list would, whatever was added and removed', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 2000, size: 'max' }), id, id, (steps, lower, upper) => {
        const ids = createSortedIds();
        const known = new Set<string>();
        for (const { id: one, adds } of steps) {
          if (adds === known.has(one)) continue;
          if (adds) {
            ids.add(one);
            known.add(one);
          } else {
            ids.remove(one);
            known.delete(one);
          }
        }
        const expected = [...known].filter((one) => one >= lower && one < upper).toSorted(inOrder);
        expect([...ids.between(lower, upper)]).toEqual(expected);
      }),
      { numRuns: runs(100) },
    );
  });

  it('keeps the order of many ids that are added from behind, and is empty when all are removed', () => {
    const ids = createSortedIds();
    const names = Array.from({ length: 2000 }, (_, i) => String(i).padStart(5, '0'));
    for (const name of names.toReversed()) ids.add(name);
    expect([...ids.between('', '9')]).toEqual(names);
    for (const name of names) ids.remove(name);
    expect([...ids.between('', '9')]).toEqual([]);
    ids.add('00001');
    expect([...ids.between('', '9')]).toEqual(['00001']);
  });
});

function inOrder(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
