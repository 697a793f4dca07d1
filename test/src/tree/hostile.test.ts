import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTree, type TreeTools } from '../../../src/index.ts';
import { sha256Sync } from '../../../src/base/hash.ts';
import { payloadTypes, randomFrom, randomRows, row } from './fixtures.ts';
import { Oracle } from './oracle.ts';
import { company, editor, fails, ok, version as latest } from './tool-fixtures.ts';
import { runs } from '../../fixtures/budget.ts';

const codes = ['invalid_argument', 'not_found', 'forbidden', 'conflict'];
const names = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  '\0',
  'a.b',
  '..',
  '💥',
  'x'.repeat(128),
  '\u202e',
];

describe('hostile input', () => {
  it('never makes a call throw or answer with another code', async () => {
    const tools = editor();
    const tool = fc.constantFrom(...tools.definitions.map(({ name }) => name), ...names);
    const keys = fc.constantFrom(
      'nodeId',
      'rootNodeId',
      'newParentId',
      'filters',
      'pageToken',
      'operations',
      'viewJson',
      ...names,
    );
    const values = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(...names, 'root', undefined, NaN, 10n, () => {}, Symbol('s')),
    );
    const input = fc.oneof(values, fc.dictionary(keys, values));
    expect.hasAssertions();
    await fc.assert(
      fc.asyncProperty(tool, input, async (name, value) => {
        const outcome = await tools.call(name, value);
        expect(['ok', ...codes]).toContain(outcome.ok ? 'ok' : outcome.error.code);
      }),
      { numRuns: runs(400) },
    );
  });

  it('reaches no prototype through a property path', async () => {
    const tools = editor();
    const versionToken = await latest(tools);
    for (
      const propertyName of [
        '__proto__.polluted',
        'constructor.prototype.polluted',
        'meta.__proto__',
        'prototype',
        'a..b',
        '',
      ]
    ) {
      const input = { nodeId: 'sales', propertyName, newValue: true, versionToken };
      expect(await fails(tools, 'update_payload_property', input)).toMatchObject({ code: 'invalid_argument' });
      const asked = { nodeId: 'sales', includedProperties: [propertyName] };
      expect(await fails(tools, 'get_node', asked)).toMatchObject({ code: 'invalid_argument' });
    }
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('treats ids like any text', async () => {
    const ids = names.filter((name) => name !== '');
    const tree = createTree({ payloadTypes, rows: [row('root', null), ...ids.map((id) => row(id, 'root'))] });
    const tools = editor(tree);
    for (const nodeId of ids) {
      expect((await ok(tools, 'get_node', { nodeId })).nodeId).toBe(nodeId);
      await ok(tools, 'update_payload_property', {
        nodeId,
        propertyName: 'a\\.b',
        newValue: 1,
        versionToken: await latest(tools),
      });
      expect(tree.get(nodeId)?.payload).toEqual({ name: nodeId, 'a.b': 1 });
    }
    const page = await ok(tools, 'get_view', { rootNodeId: 'root', defaultExpanded: true, shape: 'outline' });
    expect(page.outline.split('\n')).toHaveLength(ids.length + 1);
  });

  it('refuses values that are not JSON, or too large', async () => {
    const tools = editor();
    const versionToken = await latest(tools);
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    for (
      const newValue of [
        NaN,
        Infinity,
        10n,
        () => {},
        new Date(0),
        new Map(),
        cycle,
        'x'.repeat(65_537),
        '\ud800',
        undefined,
      ]
    ) {
      const input = { nodeId: 'sales', propertyName: 'note', newValue, versionToken };
      expect(await fails(tools, 'update_payload_property', input)).toMatchObject({ code: 'invalid_argument' });
    }
  });

  it('returns copies, so writing to an answer does not change the tree', async () => {
    const tree = company();
    const tools = editor(tree);
    const input = { parentNodeId: 'root', payloadType: 'unit', payloadProps: { name: 'X', list: [{ a: 1 }] } };
    const { nodeId } = await ok(tools, 'add_child', { ...input, versionToken: await latest(tools) });
    input.payloadProps.list[0]!.a = 2;
    const answer = await ok(tools, 'get_node', { nodeId });
    answer.payload.list[0].a = 3;
    expect(tree.get(nodeId)?.payload).toMatchObject({ list: [{ a: 1 }] });
  });
});

describe('sha256Sync', () => {
  it('agrees with the platform', async () => {
    for (const length of [0, 1, 3, 55, 56, 63, 64, 65, 119, 120, 1000]) {
      const text = 'aé💥'.repeat(length).slice(0, length).toWellFormed();
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
      expect(sha256Sync(text)).toBe(
        [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join(''),
      );
    }
  });
});

describe('three agents with different roles', () => {
  it('leave the tree that the plainest tree would be, whatever they call', async () => {
    const game = fc.record({ seed: fc.integer(), size: fc.integer({ min: 2, max: 30 }) });
    await expect(fc.assert(fc.asyncProperty(game, play), { numRuns: 25 })).resolves.toBeUndefined();
  });
});

async function play({ seed, size }: { seed: number; size: number }): Promise<void> {
  const random = randomFrom(seed);
  const rows = randomRows(size, random);
  const tree = createTree({ payloadTypes, rows });
  const oracle = new Oracle(rows);
  const agents = [
    editor(tree, { agentId: 'a' }),
    editor(tree, { agentId: 'b', undo: 'any' }),
    editor(tree, { agentId: 'c', role: 'reader' }),
  ];
  const undoable: { version: string; rows: string }[] = [];
  for (let i = 0; i < 60; i++) {
    const tools = agents[Math.floor(random() * 3)]!;
    const before = JSON.stringify([...tree.rows()]);
    const version = await act(tools, oracle, { random, isReader: tools === agents[2] });
    expect([...tree.rows()].map(({ nodeId, parentId, payload }) => ({ nodeId, parentId, payload }))).toEqual(
      oracle.rows(),
    );
    if (version !== undefined && before !== JSON.stringify([...tree.rows()])) undoable.push({ version, rows: before });
  }
  for (const { version, rows: before } of undoable.toReversed()) {
    const { version: versionToken } = await ok(agents[1]!, 'get_node', { nodeId: tree.rootId! });
    await ok(agents[1]!, 'undo', { version, versionToken });
    expect(JSON.stringify([...tree.rows()])).toBe(before);
  }
}

/** One random call; the oracle follows where it succeeds, and knows whether it must. */
async function act(
  tools: TreeTools,
  oracle: Oracle,
  { random, isReader }: { random: () => number; isReader: boolean },
) {
  const ids = [...oracle.nodes.keys()];
  const pick = (): string => ids[Math.floor(random() * ids.length)]!;
  const [nodeId, parentId] = [pick(), pick()];
  const [node, parent] = [oracle.nodes.get(nodeId)!, oracle.nodes.get(parentId)!];
  const newId = `x${Math.floor(random() * 1e9)}`;
  const payloadProps = { name: newId };
  const isRoot = node === oracle.root;
  const calls = [
    [
      'add_child',
      { parentNodeId: parentId, payloadType: 'item', payloadProps, nodeId: newId },
      true,
      () => oracle.insert(newId, parentId, null),
    ],
    ['remove_node', { nodeId }, !isRoot, () => oracle.remove(nodeId)],
    [
      'move_node',
      { nodeId, newParentId: parentId },
      !isRoot && !oracle.isInside(parent, node),
      () => oracle.move(nodeId, parentId, null),
    ],
    ['update_payload_property', { nodeId, propertyName: 'size', newValue: 5 }, true, () => {
      node.payload = { ...node.payload, size: 5 };
    }],
    ['expand_all', { rootNodeId: nodeId }, true, () => {}],
    ['toggle_node', { nodeId }, true, () => {}],
  ] as const;
  const [name, input, isRight, follow] = calls[Math.floor(random() * calls.length)]!;
  const { version } = await ok(tools, 'get_node', { nodeId: oracle.root.nodeId });
  const isStale = random() < 0.1;
  const outcome = await tools.call(name, { ...input, ...(!isStale && { versionToken: version }) });
  expect(outcome.ok).toBe(!isReader && !isStale && isRight);
  if (outcome.ok) follow();
  return outcome.ok && !name.startsWith('expand') && name !== 'toggle_node' ? outcome.output.version : undefined;
}
