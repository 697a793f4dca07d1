import { describe, expect, it } from 'vitest';
import { createTree, treeTools } from '../../../src/index.ts';
import type { Payload } from '../../../src/tree/index.ts';
import { isLargerThan } from '../../../src/tree/answer-pages.ts';
import { payloadTypes } from './fixtures.ts';
import { company, editor, fails, type Loose, ok, version } from './tool-fixtures.ts';

const bytesOf = (data: unknown) => new TextEncoder().encode(JSON.stringify(data)).length;
const responseBytes = 64 * 1024;
const valueBytes = 64 * 1024;

/** Payloads of which each is larger than an answer may be, or makes it so. */
const large: readonly ((i: number) => Payload)[] = [
  () => ({ name: 'n', note: 'x'.repeat(400_000) }),
  () => ({ name: '\u0001"\\'.repeat(5000), list: Array.from({ length: 50_000 }, () => 'text') }),
  () => ({ name: 'n', ...Object.fromEntries(Array.from({ length: 2500 }, (_, i) => [`${'key'.repeat(15)} ${i}`, i])) }),
  (i) => ({ name: 'n', ...Object.fromEntries(Array.from({ length: 300 }, (_, k) => [`${i} ${k}`, 'ü'])) }),
];

function hostileTree(payload: (i: number) => Payload) {
  const id = (i: number) => `${'\u0001'.repeat(120)}${i}`;
  const rows = Array.from({ length: 12 }, (_, i) => ({
    nodeId: i === 0 ? 'root' : id(i),
    parentId: i === 0 ? null : 'root',
    payloadType: 'item',
    payload: payload(i),
  }));
  return createTree({ payloadTypes, rows, source: 'trusted' });
}

const reads: readonly (readonly [string, Loose])[] = [
  ...['rows', 'columns', 'outline', 'nested'].flatMap((shape): [string, Loose][] => [
    ['get_view', { rootNodeId: 'root', defaultExpanded: true, includeViewRoot: true, shape, pageSize: 1000 }],
    ['list_children', { nodeId: 'root', shape, limit: 1000 }],
  ]),
  ['search', { rootNodeId: 'root', filters: [{ path: '$type', op: 'eq', value: 'item' }], limit: 1000 }],
  ['search', {
    rootNodeId: 'root',
    filters: Array.from({ length: 100 }, (_, i) => ({ path: `$id`, op: 'contains', value: i < 0 ? '' : 'o' })),
  }],
  ['search', {
    rootNodeId: 'root',
    filters: [{ path: '$type', op: 'eq', value: 'item' }],
    includedProperties: ['name', 'note', 'list', '0 1'],
    limit: 1000,
  }],
  ['search', {
    rootNodeId: 'root',
    filters: [{ path: '$type', op: 'eq', value: 'item' }],
    excludedProperties: ['none'],
    limit: 1000,
  }],
];

function idsIn(page: Loose): string[] {
  if (page.hits) return page.hits.map(({ nodeId }: Loose) => nodeId);
  if (page.columns) return page.rows.map((row: unknown[]) => row[page.columns.indexOf('nodeId')]);
  if (page.rows) return page.rows.map(({ nodeId }: Loose) => nodeId);
  if (page.outline !== undefined) return page.outline.split('\n');
  return page.nested.flatMap(function flat(node: Loose): string[] {
    return [node.nodeId, ...(node.children ?? []).flatMap(flat)];
  });
}

describe('byte limits', () => {
  it.each(large.map((payload, i) => [i, payload] as const))(
    'keep every page of every reading tool within responseBytes, and page tokens lose no node: payload %i',
    async (_i, payload) => {
      const tools = treeTools(hostileTree(payload), { agentId: 'r', role: 'reader', limits: { searchMs: 60_000 } });
      for (const [name, input] of reads) {
        const ids: string[] = [];
        let pageToken: string | undefined;
        do {
          const page: Loose = await ok(tools, name, { ...input, ...(pageToken !== undefined && { pageToken }) });
          expect(bytesOf(page)).toBeLessThanOrEqual(responseBytes);
          expect(idsIn(page).length).toBeGreaterThan(0);
          ids.push(...idsIn(page));
          pageToken = page.pageToken;
        } while (pageToken !== undefined);
        const isAll = name === 'get_view' || (name === 'search' && input.filters.length === 1);
        expect(ids).toHaveLength(isAll ? 12 : name === 'search' ? 1 : 11);
        expect(new Set(ids).size).toBe(ids.length);
      }
      const node = await ok(tools, 'get_node', { nodeId: 'root' });
      expect(bytesOf(node)).toBeLessThanOrEqual(responseBytes + valueBytes);
      expect(JSON.stringify(node.payload)).toMatch(isSmall(payload) ? /ü/ : /"\$truncated":true/);
    },
  );

  it('return any one value in full that a tool could write', async () => {
    const tools = editor();
    const text = 'x'.repeat(valueBytes - 2);
    for (const propertyName of ['one', 'two']) {
      await ok(tools, 'update_payload_property', {
        nodeId: 'it',
        propertyName,
        newValue: text,
        versionToken: await version(tools),
      });
    }
    const { payload } = await ok(tools, 'get_node', { nodeId: 'it', includedProperties: ['two'] });
    expect(payload.two).toBe(text);
    const whole = await ok(tools, 'get_node', { nodeId: 'it' });
    expect(whole.payload).toMatchObject({ name: 'IT', one: text, two: { $truncated: true, bytes: valueBytes } });
  });

  it('bound what changing tools answer: removed ids, results of a batch, new ids of an import', async () => {
    const long = (i: number) => `${'"'.repeat(120)}${i}`;
    const rows = Array.from({ length: 1500 }, (_, i) => ({
      nodeId: i === 0 ? 'root' : long(i),
      parentId: i === 0 ? null : i < 200 ? 'root' : long((i % 199) + 1),
      payloadType: 'item',
      payload: { name: 'n' },
    }));
    const inOrder = rows.slice(0, 1).concat(
      rows.slice(1, 200).flatMap((top) => [top, ...rows.slice(200).filter(({ parentId }) => parentId === top.nodeId)]),
    );
    const tools = editor(createTree({ payloadTypes, rows: inOrder }), { limits: { responseBytes: 8192 } });
    const flat = await ok(tools, 'export_view', { rootNodeId: 'root', format: 'flat' });
    const operations = Array.from({ length: 150 }, (_, i) => ({ tool: 'remove_node', nodeId: long(i + 1) }));
    const batch = await ok(tools, 'batch', { operations, versionToken: await version(tools) });
    expect(batch).toMatchObject({ truncated: 'bytes', changed: true });
    const removed = await ok(tools, 'remove_node', { nodeId: long(160), versionToken: await version(tools) });
    expect(removed.removedCount).toBeGreaterThan(1);
    const added = { parentNodeId: 'root', payloadType: 'item', payloadProps: { name: 'n' }, nodeId: 'below' };
    await ok(tools, 'add_child', { ...added, versionToken: await version(tools) });
    const imported = await ok(tools, 'import_view', {
      viewJson: {
        rows: flat.view.rows.slice(0, 1).concat(flat.view.rows.filter(({ parentId }: Loose) => parentId === 'root')),
      },
      rootNodeId: 'below',
      rootLookupStrategy: 'replaceSubtree',
      versionToken: await version(tools),
    });
    expect(imported).toMatchObject({ imported: 200, truncated: 'bytes', changed: true });
    for (const answer of [batch, removed, imported]) expect(bytesOf(answer)).toBeLessThanOrEqual(8192);
  });

  it('refuse an export that no import would take', async () => {
    const tools = editor(hostileTree(large[0]!), { limits: { importBytes: 1_000_000 } });
    for (const format of ['nested', 'flat']) {
      await ok(tools, 'expand_all', { rootNodeId: 'root', versionToken: await version(tools) });
      const error = await fails(tools, 'export_view', { rootNodeId: 'root', format });
      expect(error).toMatchObject({ code: 'invalid_argument', details: { reason: 'too_large' } });
    }
  });

  it('refuse inputs that are too large, and answer them within the bytes', async () => {
    const tree = company();
    const tools = editor(tree);
    const text = 'x'.repeat(2_000_000);
    const versionToken = await version(tools);
    const props = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`p${i}`, 'x'.repeat(64_000)]));
    const big = (name: string) => ({ nodeId: name, parentId: name === 'root' ? null : 'root', payloadType: 'unit' });
    const cases: readonly (readonly [string, Loose])[] = [
      ['get_node', { nodeId: 'root', includedProperties: Array.from({ length: 90 }, (_, i) => `${i}`.repeat(400)) }],
      ['search', { rootNodeId: 'root', filters: [{ path: 'name', op: 'eq', value: text }] }],
      ['add_child', { parentNodeId: 'root', payloadType: text, versionToken }],
      ['add_child', { parentNodeId: 'root', payloadType: 'x'.repeat(500_000), versionToken }],
      ['add_child', { parentNodeId: 'root', payloadType: 'unit', payloadProps: { name: 'n', ...props }, versionToken }],
      ['import_view', {
        viewJson: { rows: [{ ...big('root'), payload: { name: text } }] },
        rootLookupStrategy: 'replaceSubtree',
        versionToken,
      }],
      ['import_view', {
        viewJson: { rows: [{ ...big('root'), payload: { name: 'x'.repeat(17_000_000) } }] },
        versionToken,
      }],
      ['get_view', Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`argument ${i}`, i]))],
    ];
    for (const [name, input] of cases) {
      const error = await fails(tools, name, input);
      expect(error.code).toBe('invalid_argument');
      expect(bytesOf(error)).toBeLessThan(8192);
    }
    expect([...tree.rows()]).toEqual([...company().rows()]);
  });

  it('bound a payload that grows update by update', async () => {
    const tools = editor(company(), { limits: { payloadBytes: 200_000 } });
    const grow = async (i: number) =>
      await tools.call('update_payload_property', {
        nodeId: 'it',
        propertyName: `p${i}`,
        newValue: 'x'.repeat(60_000),
        versionToken: await version(tools),
      });
    for (let i = 0; i < 3; i++) expect(await grow(i)).toMatchObject({ ok: true });
    expect(await grow(3)).toMatchObject({ error: { code: 'invalid_argument', details: { reason: 'too_large' } } });
  });
});

describe('isLargerThan', () => {
  it('ends in a cycle', () => {
    const cycle: Loose = {};
    cycle.self = [cycle];
    expect(isLargerThan(cycle, 1_000_000)).toBe(true);
    expect(isLargerThan({ a: 'x' }, 100)).toBe(false);
  });
});

/** Whether the payload fits into the answer of `get_node`. */
function isSmall(payload: (i: number) => Payload): boolean {
  return bytesOf(payload(0)) < responseBytes;
}
