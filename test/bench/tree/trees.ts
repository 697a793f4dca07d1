/** The trees that all variants are measured on: rows in pre-order, the same every time. */

import type { TreeRow } from '../../../src/tree/index.ts';

/** A tree, and the nodes that the measurements work on. */
export interface BenchTree {
  readonly name: string;
  readonly rows: readonly TreeRow[];
  /** An inner node to expand and collapse; a subtree to move, from and to these parents. */
  readonly toggled: string;
  readonly moved: string;
  readonly from: string;
  readonly to: string;
}

const words = 'amber birch cedar dune ember fjord grove heath inlet jetty knoll ledge marsh nook oasis pond'.split(' ');

function payloadOf(i: number): TreeRow['payload'] {
  const word = (factor: number): string => words[(i * factor) % words.length]!;
  return {
    name: `${word(1)} ${word(7)} ${i}`,
    status: ['open', 'done', 'blocked'][i % 3],
    meta: { owner: `user${i % 97}`, priority: i % 5 },
    note: `entry ${i} about ${word(5)}`,
  };
}

function rowOf(i: number, parent: number): TreeRow {
  const parentId = parent < 0 ? null : `n${parent}`;
  return { nodeId: `n${i}`, parentId, payloadType: 'item', payload: payloadOf(i) };
}

function id(i: number): string {
  return `n${Math.floor(i)}`;
}

/** Every inner node has ten children. */
export function balanced(levels: number): BenchTree {
  const rows = [rowOf(0, -1)];
  const counts = [0];
  const path = [0];
  while (path.length > 0) {
    const depth = path.length - 1;
    if (depth === levels || counts[depth] === 10) {
      path.pop();
      continue;
    }
    counts[depth]!++;
    path.push(rows.length);
    counts[depth + 1] = 0;
    rows.push(rowOf(rows.length, path[depth]!));
  }
  const size = (rows.length - 1) / 10; // of a subtree below the root
  const child = (i: number): number => 1 + i * size;
  const inner = child(4) + 1 + 5 * ((size - 1) / 10);
  return {
    name: `balanced ${rows.length}`,
    rows,
    toggled: id(child(3)),
    moved: id(inner),
    from: id(child(4)),
    to: id(child(8)),
  };
}

/** One root with all the others below it. */
export function wide(count: number): BenchTree {
  const rows = Array.from({ length: count }, (_, i) => rowOf(i, i === 0 ? -1 : 0));
  const at = (share: number): string => `n${Math.floor(count * share)}`;
  return { name: `wide ${count}`, rows, toggled: 'n0', moved: at(0.5), from: 'n0', to: at(0.33) };
}

/** Every node the only child of the one before. */
export function chain(count: number): BenchTree {
  const rows = Array.from({ length: count }, (_, i) => rowOf(i, i - 1));
  return {
    name: `chain ${count}`,
    rows,
    toggled: id(count * 0.95),
    moved: id(count - 2),
    from: id(count - 3),
    to: id(count / 2),
  };
}

/** Every node below a random earlier one. */
export function random(count: number): BenchTree {
  let state = 42;
  const next = (): number => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296;
  const children: number[][] = Array.from({ length: count }, () => []);
  for (let i = 1; i < count; i++) children[Math.floor(next() * i)]!.push(i);
  const rows: TreeRow[] = [];
  const stack = [{ node: 0, parent: -1 }];
  for (let top = stack.pop(); top; top = stack.pop()) {
    const at = rows.length;
    rows.push(rowOf(at, top.parent));
    for (const node of children[top.node]!.toReversed()) stack.push({ node, parent: at });
  }
  const below = rows.filter(({ parentId }) => parentId === 'n0').map(({ nodeId }) => nodeId);
  const middle = below[below.length >> 1]!;
  return { name: `random ${count}`, rows, toggled: below[0]!, moved: middle, from: 'n0', to: below[0]! };
}
