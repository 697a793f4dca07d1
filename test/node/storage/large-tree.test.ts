import { describe, expect, it } from 'vitest';
import { createTree, type Tree } from '../../../src/index.ts';
import { chain, payloadTypes, wide } from '../../src/tree/fixtures.ts';
import { editor, type Loose, ok } from '../../src/tree/tool-fixtures.ts';

/** Every tool once, on a tree too large for recursion or for work that grows with it. */
async function useAllTools(
  tree: Tree,
  { near, far, moved }: { near: string; far: string; moved: string },
): Promise<void> {
  const tools = editor(tree, { limits: { searchMs: 60_000 } });
  let version = (await ok(tools, 'get_node', { nodeId: far })).version;
  const change = async (name: string, input: object): Promise<Loose> => {
    const outcome = await tools.call(name, { ...input, versionToken: version });
    if (!outcome.ok) throw new Error(`${name}: ${outcome.error.message}`);
    version = outcome.output.version;
    return outcome.output;
  };
  expect(await change('expand_all', { rootNodeId: 'n0' })).toMatchObject({ changed: true });
  expect((await ok(tools, 'get_view', { rootNodeId: near, pageSize: 3 })).rows.length).toBeGreaterThan(0);
  expect((await ok(tools, 'list_children', { nodeId: 'n0', limit: 2 })).rows.length).toBeGreaterThan(0);
  const { hits } = await ok(tools, 'search', { rootNodeId: 'n0', filters: [{ path: 'name', op: 'eq', value: far }] });
  expect(hits).toMatchObject([{ nodeId: far }]);
  await change('toggle_node', { nodeId: near });
  await change('collapse_node', { nodeId: 'n0' });
  await change('expand_node', { nodeId: 'n0' });
  expect(await change('move_node', { nodeId: moved, newParentId: 'n0', index: 0 })).toMatchObject({ changed: true });
  await change('add_child', { parentNodeId: far, payloadType: 'item', payloadProps: { name: 'new' } });
  await change('update_payload_property', { nodeId: far, propertyName: 'size', newValue: 1 });
  const exported = await change('export_view', { rootNodeId: 'n0', format: 'flat' });
  const { size } = tree;
  const removed = await change('remove_node', { nodeId: near });
  expect(removed.removedCount).toBe(size - tree.size);
  await change('undo', { version: removed.version });
  expect(tree.size).toBe(size);
  await change('import_view', { viewJson: exported.view, rootLookupStrategy: 'replaceSubtree' });
  expect(tree.size).toBe(size);
  await change('collapse_all', { rootNodeId: 'n0' });
}

describe('a large tree', () => {
  it('is a chain of 100,000', async () => {
    const tree = createTree({ payloadTypes, rows: chain(100_000), source: 'trusted' });
    expect.hasAssertions();
    await useAllTools(tree, { near: 'n50000', far: 'n99999', moved: 'n70000' });
  });

  it('is one parent with 1,000,000 children', async () => {
    const tree = createTree({ payloadTypes, rows: wide(1_000_000), source: 'trusted' });
    const tools = editor(tree);
    let walked = 0;
    let pageToken: string | undefined;
    for (let i = 0; i < 3; i++) {
      const page: Loose = await ok(tools, 'list_children', {
        nodeId: 'n0',
        limit: 200,
        ...(pageToken && { pageToken }),
      });
      walked += page.rows.length;
      pageToken = page.pageToken;
    }
    expect(walked).toBe(600);
    expect(tree.children('n0', { offset: 999_990, limit: 50 }).map(({ nodeId }) => nodeId)).toEqual(
      Array.from({ length: 9 }, (_, i) => `n${999_991 + i}`),
    );
    const view = tree.view();
    view.setExpanded('n0', true);
    expect([view.rowCount(), view.rankOf('n765432')]).toEqual([1_000_000, 765_432]);
    tree.apply([{ kind: 'move', nodeId: 'n999999', place: { parentId: 'n0', beforeId: 'n1' } }]);
    expect(view.rankOf('n765432')).toBe(765_433);
  });
});
