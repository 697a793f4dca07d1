import { describe, expect, it } from 'vitest';
import { company, editor, fails, ok } from '../../tool-fixtures.ts';

/** Two agents at a tree in which only nodes conflict, and the version that both have seen. */
async function start() {
  const tree = company({ conflictScope: 'node' });
  const [ada, bo] = [editor(tree, { agentId: 'ada' }), editor(tree, { agentId: 'bo' })];
  const { version: versionToken } = await ok(ada, 'get_node', { nodeId: 'root' });
  return { tree, ada, bo, versionToken };
}

const rename = (nodeId: string, newValue = 'New') => ({ nodeId, propertyName: 'name', newValue });
const add = (parentNodeId: string) => ({ parentNodeId, payloadType: 'unit', payloadProps: { name: 'More' } });

describe('conflictScope: node', () => {
  it('lets agents on separate branches change the tree from the same version', async () => {
    const { tree, ada, bo, versionToken } = await start();
    await ok(ada, 'update_payload_property', { ...rename('sales'), versionToken });
    await ok(bo, 'update_payload_property', { ...rename('dev'), versionToken });
    await ok(ada, 'add_child', { ...add('it'), versionToken });
    await ok(bo, 'move_node', { nodeId: 'ben', newParentId: 'ops', versionToken });
    await ok(ada, 'remove_node', { nodeId: 'ann', versionToken });
    await ok(bo, 'expand_node', { nodeId: 'root', versionToken });
    expect([...tree.rows()].map(({ payload }) => payload['name'])).toEqual(
      ['Company', 'New', 'IT', 'New', 'Eve', 'Operations', 'Ben', 'More'],
    );
  });

  it.each([
    ['the payload that both set', ['update_payload_property', rename('dev', 'A')], [
      'update_payload_property',
      rename('dev', 'B'),
    ]],
    ['a removal of a node that another caller changes', ['update_payload_property', rename('eve')], [
      'remove_node',
      { nodeId: 'it' },
    ]],
    ['a removal of a node that another caller adds to', ['add_child', add('dev')], ['remove_node', { nodeId: 'it' }]],
    ['two moves of one node', ['move_node', { nodeId: 'ann', newParentId: 'dev' }], [
      'move_node',
      { nodeId: 'ann', newParentId: 'ops' },
    ]],
    ['a place among siblings that have changed', ['remove_node', { nodeId: 'ann' }], [
      'add_child',
      { ...add('sales'), index: 1 },
    ]],
    ['a batch of which one part has changed', ['update_payload_property', rename('ops', 'A')], ['batch', {
      operations: [{ tool: 'add_child', ...add('sales') }, {
        tool: 'update_payload_property',
        ...rename('ops', 'B'),
      }],
    }]],
  ])('refuses %s', async (_what, first, second) => {
    const { tree, ada, bo, versionToken } = await start();
    await ok(ada, first[0] as string, { ...first[1] as object, versionToken });
    const before = [...tree.rows()];
    const error = await fails(bo, second[0] as string, { ...second[1] as object, versionToken });
    expect(error).toMatchObject({ code: 'conflict', details: { reason: 'version_stale' } });
    expect(error.changes).not.toEqual([]);
    expect([...tree.rows()]).toEqual(before);
    await ok(bo, second[0] as string, { ...second[1] as object, versionToken: error.version });
  });

  it('refuses a node that was replaced together with what is above it', async () => {
    const { ada, bo, versionToken } = await start();
    const { view } = await ok(ada, 'export_view', { rootNodeId: 'it', format: 'flat', versionToken });
    const viewJson = { ...(view as object) };
    await ok(ada, 'import_view', {
      viewJson,
      rootNodeId: 'it',
      rootLookupStrategy: 'replaceSubtree',
      versionToken,
    });
    expect(await fails(bo, 'update_payload_property', { ...rename('eve'), versionToken }))
      .toMatchObject({ code: 'conflict' });
    await ok(bo, 'update_payload_property', { ...rename('ann'), versionToken });
  });

  it("refuses an agent's second look at its own view from before the first", async () => {
    const { ada, versionToken } = await start();
    await ok(ada, 'expand_node', { nodeId: 'root', versionToken });
    const error = await fails(ada, 'collapse_node', { nodeId: 'root', versionToken });
    expect(error).toMatchObject({ code: 'conflict', changes: [{ nodeId: 'root', kind: 'view' }] });
    await ok(ada, 'update_payload_property', { ...rename('root'), versionToken });
  });

  it('still asks for a token, and takes none of another tree', async () => {
    const { bo } = await start();
    const { version } = await ok(editor(company()), 'get_node', { nodeId: 'root' });
    expect(await fails(bo, 'update_payload_property', rename('dev'))).toMatchObject({ code: 'conflict' });
    expect(await fails(bo, 'update_payload_property', { ...rename('dev'), versionToken: version }))
      .toMatchObject({ code: 'conflict' });
  });

  it('undoes a change whatever happened elsewhere, and none that later ones build on', async () => {
    const { tree, ada, bo, versionToken } = await start();
    const first = await ok(ada, 'update_payload_property', { ...rename('dev', 'A'), versionToken });
    const second = await ok(ada, 'update_payload_property', { ...rename('sales', 'A'), versionToken });
    await ok(bo, 'update_payload_property', { ...rename('sales', 'B'), versionToken: second.version });
    await ok(ada, 'undo', { version: first.version, versionToken: first.version });
    expect(tree.get('dev')?.payload).toMatchObject({ name: 'Development' });
    await fails(ada, 'undo', { version: second.version, versionToken: second.version });
  });
});
