/** Trees for tests. */

import * as v from 'valibot';
import type { TreeRow } from '../../../src/tree/index.ts';

export const payloadTypes = { item: v.looseObject({ name: v.string() }) };

export function row(nodeId: string, parentId: string | null): TreeRow {
  return { nodeId, parentId, payloadType: 'item', payload: { name: nodeId } };
}

/** A random tree in pre-order: every node's parent is one of those above the last. */
export function randomRows(count: number, random: () => number): TreeRow[] {
  const rows: TreeRow[] = [row('n0', null)];
  const path = ['n0'];
  for (let i = 1; i < count; i++) {
    path.length = 1 + Math.floor(random() * path.length);
    rows.push(row(`n${i}`, path.at(-1)!));
    path.push(`n${i}`);
  }
  return rows;
}

/** Numbers from 0 to 1 that are the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

export function chain(count: number): TreeRow[] {
  return Array.from({ length: count }, (_, i) => row(`n${i}`, i === 0 ? null : `n${i - 1}`));
}

export function wide(count: number): TreeRow[] {
  return Array.from({ length: count }, (_, i) => row(`n${i}`, i === 0 ? null : 'n0'));
}
