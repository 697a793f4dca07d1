import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTree } from '../../../src/index.ts';
import { chain, payloadTypes, randomFrom, randomRows, row } from './fixtures.ts';
import { change, company, editor, fails, type Loose, ok, version } from './tool-fixtures.ts';

const replace = { rootLookupStrategy: 'replaceSubtree' };

function unit(nodeId: unknown, parentId: unknown, more: object = {}): object {
  return { nodeId, parentId, payloadType: 'unit', payload: { name: 'X' }, ...more };
}

describe('export_view and import_view', () => {
  it('bring a subtree back byte by byte, nested and flat', async () => {
    const property = fc.asyncProperty(fc.integer(), fc.integer({ min: 1, max: 60 }), async (seed, size) => {
      const rows = randomRows(size, randomFrom(seed));
      const tools = editor(createTree({ payloadTypes, rows }));
      await ok(tools, 'expand_all', {
        rootNodeId: 'n0',
        versionToken: (await ok(tools, 'get_node', { nodeId: 'n0' })).version,
      });
      for (const format of ['nested', 'flat']) {
        const exported = JSON.stringify((await ok(tools, 'export_view', { rootNodeId: 'n0', format })).view);
        const other = editor(createTree({ payloadTypes, rows: [row('n0', null), row('old', 'n0')] }));
        const { version: versionToken } = await ok(other, 'get_node', { nodeId: 'n0' });
        await ok(other, 'import_view', { viewJson: exported, payloadTypes: ['item'], ...replace, versionToken });
        expect(JSON.stringify((await ok(other, 'export_view', { rootNodeId: 'n0', format })).view)).toBe(exported);
      }
    });
    await fc.assert(property, { numRuns: 15 });
  });

  it('read a view as editors of Windows store it, with a byte order mark', async () => {
    const tools = editor(company());
    const viewJson = `\uFEFF${JSON.stringify({ rows: [unit('dock', null)] })}`;
    const done = await change(tools, 'import_view', { viewJson, rootNodeId: 'dev', ...replace });
    expect(done).toMatchObject({ imported: 1 });
  });

  it('keep ids where they are free, and name the others', async () => {
    const tree = company();
    const tools = editor(tree);
    await change(tools, 'expand_all', { rootNodeId: 'root' });
    const { view } = await ok(tools, 'export_view', { rootNodeId: 'sales', includeViewRoot: false });
    expect(view).toMatchObject({ NodeId: 'sales', Children: [{ NodeId: 'ann', name: 'Ann', IsExpanded: true }, {}] });
    const done = await change(tools, 'import_view', { viewJson: view, rootNodeId: 'dev', ...replace });
    expect(done).toMatchObject({ changed: true, imported: 3, ids: { sales: 'dev', ann: expect.any(String) } });
    expect(tree.children('dev', { limit: 9 }).map(({ payload }) => payload.name)).toEqual(['Ann', 'Ben']);
    expect(tree.get('eve')).toBeUndefined();
    await change(tools, 'undo', { version: done.version });
    expect(tree.get('eve')?.parentId).toBe('dev');
    expect(tree.get('dev')?.payload.name).toBe('Development');
    expect([...tree.rows()]).toEqual([...company().rows()]);
  });

  it('restore expansion, default and filters by id, and change no content', async () => {
    const tree = company();
    const tools = editor(tree);
    const viewJson = {
      RootNodeId: 'root',
      IncludedProperties: ['name'],
      ExcludedProperties: [],
      DefaultExpanded: true,
      View: {
        NodeId: 'root',
        PayloadType: 'unit',
        IsExpanded: true,
        Children: [{ NodeId: 'it', PayloadType: 'unit', IsExpanded: false }, { NodeId: 'gone', PayloadType: 'unit' }],
      },
    };
    const input = { viewJson, payloadTypes: ['unit'] };
    const versionToken = await version(tools);
    expect(await ok(tools, 'import_view', { ...input, dryRun: true, versionToken })).toMatchObject({
      changed: false,
      restored: 2,
      skipped: 1,
    });
    expect(await ok(tools, 'import_view', { ...input, versionToken })).toMatchObject({
      changed: true,
      restored: 2,
      skipped: 1,
    });
    const { rows } = await ok(tools, 'get_view', { rootNodeId: 'root' });
    expect(rows.map(({ nodeId, payload }: Loose) => [nodeId, payload])).toEqual([
      ['root', { name: 'Company' }],
      ['sales', { name: 'Sales' }],
      ['ann', { name: 'Ann' }],
      ['ben', { name: 'Ben' }],
      ['it', { name: 'IT' }],
    ]);
    expect(tree.rev).toBe(0);
  });

  it('refuse a view whose content is not all there', async () => {
    const tools = editor();
    const { view } = await ok(tools, 'export_view', { rootNodeId: 'root' });
    const versionToken = await version(tools);
    const collapsed = await fails(tools, 'import_view', { viewJson: view, ...replace, versionToken });
    expect(collapsed).toMatchObject({ code: 'invalid_argument', issues: [{ path: '/View', code: 'collapsed' }] });
    const filtered = { ...view, View: { ...view.View, ChildrenCount: 0 }, ExcludedProperties: ['meta'] };
    expect(await fails(tools, 'import_view', { viewJson: filtered, ...replace, versionToken })).toMatchObject({
      issues: [{ code: 'filtered' }],
    });
  });

  it('refuse what is wrong with a list of issues, and change nothing', async () => {
    const tree = company();
    const tools = editor(tree);
    const versionToken = await version(tools);
    const broken: readonly (readonly [unknown, string])[] = [
      [[unit('root', null), unit('a', 'root'), unit('a', 'root')], 'duplicate_id'],
      [[unit('root', null), unit('a', 'b'), unit('b', 'a')], 'unknown_parent'],
      [[unit('root', null), unit('b', null)], 'second_root'],
      [[unit('root', null), unit('a', 'root'), unit('b', 'root'), unit('c', 'a')], 'not_pre_order'],
      [[unit('root', null), unit(7, 'root')], 'invalid_id'],
      [[unit('root', null), unit('a', 'root', { payloadType: 'alien' })], 'payload_type'],
      [[unit('root', null), unit('a', 'root', { payload: { name: 1 } })], 'payload'],
      [[unit('root', null, { payload: JSON.parse('{"name":"x","__proto__":{}}') })], 'payload'],
      [[], 'no_root'],
      ['{"View":', 'unreadable'],
      ['x'.repeat(17 * 1024 * 1024), 'unreadable'],
      [7, 'unreadable'],
      [{ NodeId: 'root', PayloadType: 'unit', Payload: { name: 'X' }, Children: {} }, 'unreadable'],
    ];
    for (const [viewJson, code] of broken) {
      const error = await fails(tools, 'import_view', { viewJson, ...replace, versionToken });
      expect([error.code, (error.issues as Loose[])[0]?.code]).toEqual(['invalid_argument', code]);
    }
    expect([...tree.rows()]).toEqual([...company().rows()]);
  });

  it('refuse bombs of depth without falling over', async () => {
    const tools = editor();
    const versionToken = await version(tools);
    let bomb: object = { NodeId: 'x', PayloadType: 'unit' };
    for (let i = 0; i < 50_000; i++) bomb = { NodeId: `x${i}`, PayloadType: 'unit', Children: [bomb] };
    const cycle: Loose = { NodeId: 'x', PayloadType: 'unit' };
    cycle.Children = [cycle];
    for (const viewJson of [bomb, cycle]) {
      const outcome = await tools.call('import_view', { viewJson, idempotencyKey: 'k', versionToken });
      expect(outcome).toMatchObject({ ok: false, error: { code: 'invalid_argument' } });
      expect(await tools.call('import_view', { viewJson, versionToken })).toMatchObject({
        ok: false,
        error: { code: 'invalid_argument' },
      });
    }
    const propertyName = Array.from({ length: 100_000 }, () => 'a').join('.');
    expect(await fails(tools, 'update_payload_property', { nodeId: 'it', propertyName, newValue: 1, versionToken }))
      .toMatchObject({
        code: 'invalid_argument',
      });
  });

  it('ask for flat rows where a nested view would be too deep or too large', async () => {
    const tools = editor(createTree({ payloadTypes, rows: chain(600) }));
    await ok(tools, 'expand_all', {
      rootNodeId: 'n0',
      versionToken: (await ok(tools, 'get_node', { nodeId: 'n0' })).version,
    });
    expect(await fails(tools, 'export_view', { rootNodeId: 'n0' })).toMatchObject({
      message: expect.stringContaining('"flat"'),
    });
    expect((await ok(tools, 'export_view', { rootNodeId: 'n0', format: 'flat' })).view.rows).toHaveLength(600);
    expect(await ok(tools, 'export_view', { rootNodeId: 'n200' })).toMatchObject({ format: 'nested' });
  });
});
