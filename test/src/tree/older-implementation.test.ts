import { describe, expect, it } from 'vitest';
import { createTree } from '../../../src/index.ts';
import { chain, payloadTypes, wide } from './fixtures.ts';
import { change, company, editor, fails, idsOf, ok, version } from './tool-fixtures.ts';

/** What the older implementation got wrong, as its sources show. */
describe('a defect of the older implementation', () => {
  it('is fixed: a node is found without walking the tree', () => {
    const tree = createTree({ payloadTypes, rows: wide(20_000), source: 'trusted' });
    for (let i = 0; i < 20_000; i++) if (!tree.get(`n${i}`)) throw new Error(`n${i}`); // 200 million steps, were it a walk
    expect(tree.get('n20000')).toBeUndefined();
  });

  it('is fixed: a node cannot be moved below itself or its own descendant', async () => {
    const tree = company();
    const tools = editor(tree);
    for (const newParentId of ['it', 'dev', 'eve']) {
      const error = await fails(tools, 'move_node', { nodeId: 'it', newParentId, versionToken: await version(tools) });
      expect(error).toMatchObject({ code: 'invalid_argument', details: { reason: 'cycle' } });
    }
    expect(tree.size).toBe(8);
    expect(await fails(tools, 'move_node', { nodeId: 'root', newParentId: 'it', versionToken: await version(tools) }))
      .toMatchObject({
        details: { reason: 'is_root' },
      });
  });

  it('is fixed: a missing node is an error and not silence', async () => {
    const tools = editor();
    const versionToken = await version(tools);
    for (const name of ['expand_node', 'collapse_node', 'toggle_node', 'remove_node']) {
      expect(await fails(tools, name, { nodeId: 'nobody', versionToken })).toMatchObject({ code: 'not_found' });
    }
    expect(await fails(tools, 'get_view', { rootNodeId: 'nobody' })).toMatchObject({ code: 'not_found' });
  });

  it('is fixed: what lies below a listed property is included', async () => {
    const { payload } = await ok(editor(), 'get_node', { nodeId: 'sales', includedProperties: ['meta'] });
    expect(payload).toEqual({ meta: { owner: 'Bo', budget: 10 } });
  });

  it('is fixed: an import brings back what was expanded', async () => {
    const tools = editor();
    await change(tools, 'expand_node', { nodeId: 'root' });
    await change(tools, 'expand_node', { nodeId: 'it' });
    const { view } = await ok(tools, 'export_view', { rootNodeId: 'root' });
    await change(tools, 'collapse_all', { rootNodeId: 'root' });
    await change(tools, 'import_view', { viewJson: view });
    expect(idsOf(await ok(tools, 'get_view', { rootNodeId: 'root' }))).toEqual(['root', 'sales', 'it', 'dev', 'ops']);
  });

  it('is evicted: a collapse does not project the whole tree again', () => {
    const tree = createTree({ payloadTypes, rows: chain(20_000), source: 'trusted' });
    const view = tree.view({ defaultExpanded: true });
    for (let i = 0; i < 4000; i++) view.toggle(`n${5 * i}`); // 80 million rows, were each projected
    expect(view.rowCount()).toBe(1);
  });
});
