import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { createTree, type TreeRow } from '../../../src/tree/index.ts';

const payloadTypes = { task: v.object({ name: v.string() }) };
const row = (nodeId: string, parentId: string | null): TreeRow => ({
  nodeId,
  parentId,
  payloadType: 'task',
  payload: { name: nodeId },
});
const build = (rows: readonly TreeRow[], source?: 'trusted') =>
  createTree({ payloadTypes, rows, ...(source && { source }) });

describe('createTree', () => {
  it.each<[string, readonly TreeRow[], RegExp]>([
    ['is its own parent', [row('a', 'a')], /circle/],
    ['forms a circle with the next', [row('a', 'b'), row('b', 'a')], /circle/],
    ['forms a circle of three', [row('a', 'c'), row('b', 'a'), row('c', 'b')], /circle/],
    ['stands before its parent', [row('a', 'b'), row('b', null)], /"b" comes after it/],
    ['stands before a circle that it is not in', [row('a', 'b'), row('b', 'c'), row('c', 'b')], /"b" comes after it/],
    ['has a parent that is missing', [row('a', 'gone'), row('b', 'a')], /"gone" is not among the rows/],
  ])('refuses a first row that %s', (_, rows, why) => {
    for (const source of [undefined, 'trusted'] as const) {
      expect(() => build(rows, source)).toThrow(
        expect.objectContaining({
          code: 'invalid_argument',
          details: { reason: 'invalid_rows' },
          message: expect.stringMatching(why) as string,
        }),
      );
    }
  });

  it('takes a root without a parent, and refuses a second one', () => {
    expect(build([row('a', null), row('b', 'a')]).size).toBe(2);
    expect(() => build([row('a', null), row('b', null)])).toThrow(/rows stand in pre-order/);
  });
});
