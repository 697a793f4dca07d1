import * as fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { createTree, type Tree } from '../../../src/index.ts';
import type { TreeOp, TreeRow, TreeView } from '../../../src/tree/index.ts';
import { chain, payloadTypes, randomFrom, randomRows, row } from './fixtures.ts';
import { Oracle, OracleView } from './oracle.ts';

interface Pair {
  readonly view: TreeView;
  readonly oracle: OracleView;
}

/** One random step on both; ids that do not exist, cycles and the root come up too, and must then change nothing. */
function step(tree: Tree, oracle: Oracle, pairs: readonly Pair[], random: () => number): void {
  const ids = [...oracle.nodes.keys()];
  const pick = (): string => ids[Math.floor(random() * ids.length)]!;
  const [nodeId, parentId] = [pick(), pick()];
  const siblings = oracle.nodes.get(parentId)!.children;
  const beforeId = siblings[Math.floor(random() * (siblings.length + 1))]?.nodeId ?? null;
  const pair = pairs[Math.floor(random() * pairs.length)]!;
  const choice = Math.floor(random() * 7);
  if (choice === 0) {
    const added = `a${tree.rev}`;
    tree.apply([{ kind: 'insert', rows: [row(added, null)], place: { parentId, beforeId } }]);
    oracle.insert(added, parentId, beforeId);
  } else if (choice === 1) {
    if (oracle.list(oracle.nodes.get(nodeId)).length * 8 > ids.length) return;
    tree.apply([{ kind: 'remove', nodeId }]);
    oracle.remove(nodeId);
  } else if (choice <= 3) {
    moveBoth(tree, oracle, { kind: 'move', nodeId, place: { parentId, beforeId } });
  } else if (choice <= 5) {
    pair.view.toggle(nodeId);
    pair.oracle.flags.set(nodeId, !pair.oracle.isExpanded(oracle.nodes.get(nodeId)!));
  } else {
    const expanded = random() < 0.6;
    pair.view.setAll(nodeId, expanded);
    pair.oracle.setAll(oracle.nodes.get(nodeId)!, expanded);
  }
}

function moveBoth(tree: Tree, oracle: Oracle, op: Extract<TreeOp, { kind: 'move' }>): void {
  const { nodeId, place: { parentId, beforeId } } = op;
  const node = oracle.nodes.get(nodeId)!;
  if (node === oracle.root || oracle.isInside(oracle.nodes.get(parentId!)!, node)) {
    expect(() => tree.apply([op])).toThrow('Cannot move');
  } else {
    tree.apply([op]);
    if (beforeId !== nodeId) oracle.move(nodeId, parentId!, beforeId);
  }
}

function expectSame(tree: Tree, oracle: Oracle, pairs: readonly Pair[]): void {
  const rows = [...tree.rows()].map(({ nodeId, parentId, payload }) => ({ nodeId, parentId, payload }));
  expect(rows).toEqual(oracle.rows());
  expect(tree.size).toBe(rows.length);
  for (const { view, oracle: model } of pairs) {
    const visible = model.visible();
    expect(view.rowCount()).toBe(visible.length);
    const offset = visible.length >> 1;
    expect(
      view.rows({ offset, limit: 20 }).map(({ nodeId, depth, isExpanded, childrenCount }) => ({
        nodeId,
        depth,
        isExpanded,
        childrenCount,
      })),
    ).toEqual(
      visible.slice(offset, offset + 20).map((node) => ({
        nodeId: node.nodeId,
        depth: oracle.depth(node),
        isExpanded: model.isExpanded(node),
        childrenCount: node.children.length,
      })),
    );
    const last = visible.at(-1)!.nodeId;
    expect(view.rankOf(last)).toBe(visible.length - 1);
  }
}

function play({ seed, size, steps }: { seed: number; size: number; steps: number }): void {
  const random = randomFrom(seed);
  const rows = randomRows(size, random);
  const tree = createTree({ payloadTypes, rows });
  const oracle = new Oracle(rows);
  const pairs = [false, true, false].map((defaultExpanded) => ({
    view: tree.view({ defaultExpanded }),
    oracle: new OracleView(oracle, defaultExpanded),
  }));
  for (let i = 0; i < steps; i++) {
    step(tree, oracle, pairs, random);
    if (i % 16 === 0) expectSame(tree, oracle, pairs);
  }
  expectSame(tree, oracle, pairs);
}

function make(...rows: [string, string | null][]): () => Tree {
  return () => createTree({ payloadTypes, rows: rows.map(([nodeId, parentId]) => row(nodeId, parentId)) });
}

function item(payload: object): TreeRow {
  return { nodeId: 'a', parentId: null, payloadType: 'item', payload: { ...payload } };
}

describe('createTree', () => {
  it('does what the plainest tree does, whatever happens to it', () => {
    const games = fc.record({
      seed: fc.integer(),
      size: fc.integer({ min: 1, max: 40 }),
      steps: fc.integer({ min: 1, max: 120 }),
    });
    expect(() => fc.assert(fc.property(games, play), { numRuns: 60 })).not.toThrow();
  });

  it('does so over many blocks', () => {
    for (const seed of [1, 2, 3]) expect(() => play({ seed, size: 2500, steps: 400 })).not.toThrow();
  });

  it('takes a mutation of several changes as a whole or not at all', () => {
    const tree = createTree({ payloadTypes, rows: randomRows(900, randomFrom(7)) });
    const before = [...tree.rows()];
    const ops: TreeOp[] = [
      { kind: 'remove', nodeId: tree.children('n0', { limit: 1 })[0]!.nodeId },
      { kind: 'insert', rows: [row('x', null), row('y', 'x')], place: { parentId: 'n0', beforeId: null } },
      { kind: 'payload', nodeId: 'n0', payloadType: 'item', payload: { name: 'other' } },
      { kind: 'move', nodeId: 'x', place: { parentId: 'y', beforeId: null } },
    ];
    expect(() => tree.apply(ops)).toThrow('inside it');
    expect([...tree.rows()]).toEqual(before);
    expect(tree.rev).toBe(0);
    tree.apply(ops.slice(0, 3));
    expect(tree.rev).toBe(1);
    expect(tree.get('y')).toMatchObject({ parentId: 'x', depth: 2 });
  });

  it('refuses rows that are no tree in pre-order, with the row to blame', () => {
    expect(make(['a', null], ['b', 'a'], ['b', 'a'])).toThrow('Cannot insert node "b": a node with this id exists');
    expect(make(['a', null], ['b', null])).toThrow('Cannot insert node "b"');
    expect(make(['a', null], ['b', 'a'], ['c', 'a'], ['d', 'b'])).toThrow('its parent "b" is neither');
    expect(make(['a', null], ['', 'a'])).toThrow('rows.1.nodeId');
  });

  it('checks payloads against their schema and stores the parsed payload', () => {
    const types = { item: { schema: v.object({ name: v.string(), size: v.optional(v.number(), 1) }) } };
    const tree = createTree({ payloadTypes: types, rows: [item({ name: 'A' })] });
    expect(tree.get('a')?.payload).toEqual({ name: 'A', size: 1 });
    expect(() => createTree({ payloadTypes: types, rows: [item({ name: 1 })] })).toThrow(
      '"rows.0.payload.name" must be a string',
    );
  });

  it('starts empty and takes a root', () => {
    const tree = createTree({ payloadTypes });
    expect([tree.rootId, tree.size, [...tree.rows()]]).toEqual([undefined, 0, []]);
    tree.apply([{ kind: 'insert', rows: chain(3), place: { parentId: null, beforeId: null } }]);
    expect([tree.rootId, tree.size, tree.sizeOf('n1')]).toEqual(['n0', 3, 2]);
  });

  it('emits each mutation to every listener, and survives one that throws', () => {
    const tree = createTree({ payloadTypes, rows: chain(3) });
    const events: unknown[] = [];
    tree.subscribe(() => {
      throw new Error('mine');
    });
    const stop = tree.subscribe((event) => events.push(event));
    tree.apply([{ kind: 'move', nodeId: 'n2', place: { parentId: 'n0', beforeId: null } }]);
    tree.apply([{ kind: 'move', nodeId: 'n2', place: { parentId: 'n0', beforeId: null } }]);
    stop();
    tree.apply([{ kind: 'remove', nodeId: 'n1' }]);
    const change = { kind: 'move', nodeId: 'n2', parentId: 'n0', oldParentId: 'n1', size: 1 };
    expect(events).toEqual([{ rev: 1, version: expect.any(String), changes: [change] }]);
  });

  it('reuses freed slots for new nodes, also with the ids of removed ones', () => {
    const tree = createTree({ payloadTypes, rows: chain(2), historyLimit: 4 });
    for (let i = 0; i < 200; i++) {
      tree.apply([{ kind: 'insert', rows: [row(`x${i % 3}`, null)], place: { parentId: 'n1', beforeId: null } }]);
      tree.apply([{ kind: 'remove', nodeId: `x${i % 3}` }]);
    }
    expect([...tree.rows()].map(({ nodeId }) => nodeId)).toEqual(['n0', 'n1']);
    expect(tree.get('x0')).toBeUndefined();
  });

  it("returns a node's position among its siblings", () => {
    const rows = randomRows(3000, randomFrom(11));
    const tree = createTree({ payloadTypes, rows });
    const seen = new Map<string | null, number>();
    for (const { nodeId, parentId } of rows) {
      const index = seen.get(parentId) ?? 0;
      seen.set(parentId, index + 1);
      expect(tree.indexOf(nodeId)).toBe(index);
    }
    expect(() => tree.indexOf('nobody')).toThrow('no such node');
  });
});
