import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { createTree } from '../../../src/index.ts';
import type { PayloadTypes, TreeRow } from '../../../src/tree/index.ts';
import { change, company, editor, fails, type Loose, ok, version } from './tool-fixtures.ts';

const payloadTypes = {
  task: v.object({
    name: v.string(),
    meta: v.optional(v.object({ owner: v.string() })),
    steps: v.optional(v.array(v.object({ title: v.string() }))),
    pair: v.optional(v.tuple([v.number(), v.number()])),
  }),
  strict: v.strictObject({ name: v.string() }),
  made: v.pipe(v.object({ name: v.string() }), v.transform(({ name }) => ({ name: name.trim(), slug: name.trim() }))),
  self: { schema: v.object({ name: v.string() }), selfPayload: true },
} satisfies PayloadTypes;

const root: TreeRow = { nodeId: 'root', parentId: null, payloadType: 'task', payload: { name: 'All' } };

function start(rows = [root], source: 'checked' | 'trusted' = 'checked') {
  const tree = createTree({ payloadTypes, rows, source });
  return { tree, tools: editor(tree) };
}

describe('unknown fields', () => {
  it.each([
    ['status', 'open', 'status'],
    ['meta', { owner: 'Ada', since: 2020 }, 'meta.since'],
    ['meta.since', 2020, 'meta.since'],
    ['steps', [{ title: 'One' }, { title: 'Two', done: true }], 'steps.1.done'],
    ['pair', [1, 2, 3], 'pair.2'],
  ])('refuses an update that the schema would drop: %s', async (propertyName, newValue, field) => {
    const { tree, tools } = start([{ ...root, payload: { name: 'All', meta: { owner: 'Ada' } } }]);
    const versionToken = await version(tools);
    const error = await fails(tools, 'update_payload_property', {
      nodeId: 'root',
      propertyName,
      newValue,
      versionToken,
    });
    expect(error).toMatchObject({ code: 'invalid_argument', details: { reason: 'unknown_field', field } });
    expect(error.message).toContain(`"${field}"`);
    expect(tree.get('root')?.payload).toEqual({ name: 'All', meta: { owner: 'Ada' } });
    expect(await version(tools)).toBe(versionToken);
  });

  it.each(['task', 'strict', 'self'])(
    'refuses a new node of type "%s" with a field that the type lacks',
    async (type) => {
      const { tree, tools } = start();
      const input = { parentNodeId: 'root', payloadType: type, payloadProps: { name: 'New', status: 'open' } };
      const error = await fails(tools, 'add_child', { ...input, versionToken: await version(tools) });
      expect(error).toMatchObject({ code: 'invalid_argument', details: { reason: 'unknown_field', field: 'status' } });
      expect(tree.size).toBe(1);
    },
  );

  it('retains fields that a stored payload has and the schema of today lacks, and lets them be removed', async () => {
    const stored = { ...root, payload: { name: 'All', old: 1, older: { deep: true } } };
    const { tree, tools } = start([stored], 'trusted');
    await change(tools, 'update_payload_property', { nodeId: 'root', propertyName: 'name', newValue: 'New' });
    expect(tree.get('root')?.payload).toEqual({ name: 'New', old: 1, older: { deep: true } });
    await change(tools, 'update_payload_property', { nodeId: 'root', propertyName: 'older', unset: true });
    expect(tree.get('root')?.payload).toEqual({ name: 'New', old: 1 });
  });

  it('refuses rows and changes of the application as well', () => {
    const payload = { name: 'All', status: 'open' };
    expect(() => start([{ ...root, payload }])).toThrow('"rows.0.payload.status" is not a field');
    const { tree } = start();
    expect(() => tree.apply([{ kind: 'payload', nodeId: 'root', payloadType: 'task', payload }])).toThrow('"status"');
  });

  it.each([
    ['a payload', { rows: [{ ...root, payload: { name: 'All', status: 'open' } }] }, '/rows/0/status'],
    ['a flat row', { rows: [{ ...root, color: 'red' }] }, '/rows/0/color'],
    ['a nested node', { NodeId: 'root', PayloadType: 'task', Payload: { name: 'All' }, Color: 'red' }, '/Color'],
    ['the node that is its payload', { NodeId: 'root', PayloadType: 'self', name: 'All', status: 'open' }, '/status'],
    [
      'the envelope',
      { Filter: [], View: { NodeId: 'root', PayloadType: 'task', Payload: { name: 'All' } } },
      '/Filter',
    ],
  ])('refuses an import with an unknown field in %s', async (_where, viewJson, field) => {
    const { tree, tools } = start();
    const error = await fails(tools, 'import_view', {
      viewJson,
      rootLookupStrategy: 'replaceSubtree',
      versionToken: await version(tools),
    });
    expect(error).toMatchObject({ code: 'invalid_argument', details: { reason: 'unknown_field', field } });
    expect([...tree.rows()]).toEqual([root]);
  });

  it.each([{ DefaultExpanded: 'yes' }, { IncludedProperties: 'name' }])(
    'refuses a value of the envelope that it could not use: %o',
    async (odd) => {
      const tools = editor();
      const viewJson = { ...odd, View: { NodeId: 'root', PayloadType: 'unit' } };
      const error = await fails(tools, 'import_view', { viewJson, versionToken: await version(tools) });
      expect(error).toMatchObject({ code: 'invalid_argument', details: { reason: 'invalid_view' } });
    },
  );
});

describe('import_view of the whole answer of export_view', () => {
  const settings = { RootNodeId: 'root', IncludedProperties: ['name'], ExcludedProperties: ['$depth'] };

  it.each([true, false])('restores view and filters, with includeViewRoot: %s', async (includeViewRoot) => {
    const tools = editor();
    await change(tools, 'expand_node', { nodeId: 'root' });
    await change(tools, 'import_view', {
      viewJson: { ...settings, DefaultExpanded: true, View: { NodeId: 'root', PayloadType: 'unit', IsExpanded: true } },
    });
    const exported = await ok(tools, 'export_view', { rootNodeId: 'root', includeViewRoot });
    await change(tools, 'collapse_all', { rootNodeId: 'root' });
    for (const viewJson of [exported, JSON.stringify(exported)]) await change(tools, 'import_view', { viewJson });
    expect((await ok(tools, 'export_view', { rootNodeId: 'root', includeViewRoot })).view).toEqual(exported.view);
  });

  it.each(['nested', 'flat'])('replaces a subtree by a %s answer, byte by byte', async (format) => {
    const source = editor();
    await change(source, 'expand_all', { rootNodeId: 'root' });
    const exported: Loose = await ok(source, 'export_view', { rootNodeId: 'it', format });
    const target = editor(company());
    await change(target, 'remove_node', { nodeId: 'dev' });
    const done = await change(target, 'import_view', { viewJson: exported, rootLookupStrategy: 'replaceSubtree' });
    expect(done).toMatchObject({ changed: true, imported: 4 });
    const again = await ok(target, 'export_view', { rootNodeId: 'it', format });
    expect(JSON.stringify(again.view)).toBe(JSON.stringify(exported.view));
  });
});
