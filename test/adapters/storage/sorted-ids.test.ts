import { describe, expect, it } from 'vitest';
import { createSortedIds } from '../../../adapters/storage/sorted-ids.ts';

describe('sorted ids', () => {
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
