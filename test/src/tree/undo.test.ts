import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { openTree } from '../../../src/index.ts';
import type { TreeEvent } from '../../../src/tree/index.ts';
import { change, company, companyTypes, editor, fails, ok, version } from './tool-fixtures.ts';

const rename = (nodeId: string, newValue: string) => ({ nodeId, propertyName: 'name', newValue });

/** Two agents at one tree; Bo has renamed a node. */
async function start() {
  const tree = company();
  const [ada, bo] = [editor(tree, { agentId: 'ada' }), editor(tree, { agentId: 'bo' })];
  const edit = await change(bo, 'update_payload_property', rename('it', 'Tech'));
  return { tree, ada, bo, edit };
}

describe('undo', () => {
  it("never reverts another agent's edit with the version of a call that changed only the view", async () => {
    const { tree, ada } = await start();
    const expanded = await change(ada, 'expand_node', { nodeId: 'root' });
    const error = await fails(ada, 'undo', { version: expanded.version, versionToken: expanded.version });
    expect(error).toMatchObject({ code: 'invalid_argument', details: { reason: 'nothing_to_undo' } });
    expect(tree.get('it')?.payload).toMatchObject({ name: 'Tech' });
  });

  it("never reverts another agent's edit with the version of an update that changed nothing, or of a read", async () => {
    const { tree, ada } = await start();
    const same = await change(ada, 'update_payload_property', rename('it', 'Tech'));
    expect(same).toMatchObject({ changed: false });
    for (const read of [same.version, await version(ada)]) {
      const error = await fails(ada, 'undo', { version: read, versionToken: read });
      expect(error).toMatchObject({ code: 'invalid_argument', details: { reason: 'nothing_to_undo' } });
    }
    expect(tree.get('it')?.payload).toMatchObject({ name: 'Tech' });
  });

  it("refuses the version of another agent's change, from its answer and from its event", async () => {
    const { tree, ada, bo, edit } = await start();
    const events: TreeEvent[] = [];
    tree.subscribe((event) => events.push(event));
    await change(bo, 'update_payload_property', rename('it', 'Technology'));
    for (const foreign of [edit.version, events[0]!.version]) {
      const error = await fails(ada, 'undo', { version: foreign, versionToken: await version(ada) });
      expect(error).toMatchObject({ details: { reason: 'nothing_to_undo' } });
    }
    await change(bo, 'undo', { version: events[0]!.version });
    expect(tree.get('it')?.payload).toMatchObject({ name: 'Tech' });
  });

  it("takes back the caller's own change after the caller expanded nodes and others worked elsewhere", async () => {
    const { tree, ada, bo } = await start();
    const own = await change(ada, 'update_payload_property', rename('sales', 'Trade'));
    await change(ada, 'expand_all', { rootNodeId: 'root' });
    await change(bo, 'remove_node', { nodeId: 'eve' });
    await change(ada, 'undo', { version: own.version });
    expect(tree.get('sales')?.payload).toMatchObject({ name: 'Sales' });
    expect(tree.get('it')?.payload).toMatchObject({ name: 'Tech' });
  });

  it('answers changed_since where a later change of another agent builds on it', async () => {
    const { tree, ada, bo, edit } = await start();
    await change(ada, 'update_payload_property', rename('it', 'IT again'));
    const error = await fails(bo, 'undo', { version: edit.version, versionToken: await version(bo) });
    expect(error).toMatchObject({ code: 'conflict', details: { reason: 'changed_since' } });
    expect(tree.get('it')?.payload).toMatchObject({ name: 'IT again' });
  });

  it('answers nothing_to_undo for the version of a tree that has not changed', async () => {
    const tools = editor();
    const first = await version(tools);
    expect(await fails(tools, 'undo', { version: first, versionToken: first })).toMatchObject({
      details: { reason: 'nothing_to_undo' },
    });
  });

  it('says epoch_changed of a version, and of an undo, from before a restart', async () => {
    const options = { storage: memoryStorage(), treeId: 't', payloadTypes: companyTypes, rows: [...company().rows()] };
    const before = await change(editor(await openTree(options)), 'update_payload_property', rename('it', 'Tech'));
    const tools = editor(await openTree(options));
    const stale = { ...rename('it', 'IT'), versionToken: before.version };
    expect(await fails(tools, 'update_payload_property', stale)).toMatchObject({
      code: 'conflict',
      version: await version(tools),
      details: { reason: 'epoch_changed' },
    });
    const undo = { version: before.version, versionToken: await version(tools) };
    expect(await fails(tools, 'undo', undo)).toMatchObject({
      code: 'not_found',
      details: { reason: 'epoch_changed' },
    });
    expect((await ok(tools, 'get_node', { nodeId: 'it' })).payload).toMatchObject({ name: 'Tech' });
  });
});
