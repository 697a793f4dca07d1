import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../src/tree/index.ts';
import { createTree, errorCodes, treeTools } from '../../src/index.ts';
import { change, company, companyTypes, editor, fails, idsOf, ok, version } from '../src/tree/tool-fixtures.ts';

const mutations = [
  ['expand_node', { nodeId: 'sales' }],
  ['collapse_node', { nodeId: 'sales' }],
  ['toggle_node', { nodeId: 'sales' }],
  ['expand_all', { rootNodeId: 'root' }],
  ['collapse_all', { rootNodeId: 'root' }],
  ['add_child', { parentNodeId: 'root', payloadType: 'unit', payloadProps: { name: 'HR' } }],
  ['update_payload_property', { nodeId: 'sales', propertyName: 'name', newValue: 'Trade' }],
  ['move_node', { nodeId: 'ann', newParentId: 'it' }],
  ['remove_node', { nodeId: 'sales' }],
  ['export_view', { rootNodeId: 'root', includeViewRoot: true }],
  ['import_view', {
    viewJson: { NodeId: 'root', PayloadType: 'unit' },
    payloadTypes: ['unit'],
    rootLookupStrategy: 'byNodeId',
  }],
] as const;

describe('Agent tools surface (in-process API)', () => {
  it('Read-only tools', async () => {
    const tools = editor();
    const only = { includedProperties: ['meta'], excludedProperties: ['meta.tags'] };
    const node = await ok(tools, 'get_node', { nodeId: 'root', ...only });
    expect(node.payload).toEqual({ meta: { owner: 'Ada' } });
    const view = await ok(tools, 'get_view', { rootNodeId: 'root', defaultExpanded: true, ...only });
    expect(view.rows[1]).toEqual({
      nodeId: 'sales',
      parentId: 'root',
      payloadType: 'unit',
      depth: 1,
      isExpanded: true,
      childrenCount: 2,
      payload: { meta: { owner: 'Bo', budget: 10 } },
    });
    const children = await ok(tools, 'list_children', { nodeId: 'it', includedProperties: ['name'] });
    expect(children.rows.map((row: { payload: object }) => row.payload)).toEqual([{ name: 'Development' }, {
      name: 'Operations',
    }]);
    const filters = [{ path: 'name', op: 'contains', value: 'oper' }];
    const found = await ok(tools, 'search', { rootNodeId: 'root', filters, includedProperties: ['name'] });
    expect(found.hits).toMatchObject([{ nodeId: 'ops', payload: { name: 'Operations' } }]);
  });

  it('Mutation tools', async () => {
    for (const [name, input] of mutations) {
      const tools = editor();
      const before = await version(tools);
      const output = await ok(tools, name, { ...input, versionToken: before });
      expect(output.version).toEqual(expect.any(String));
      expect(output.version !== before).toBe(output.changed === true);
      expect(output).toMatchObject('nodeId' in input ? { nodeId: input.nodeId } : {});
    }
  });
});

describe('Tool catalog and minimal set', () => {
  it('Core read tools', async () => {
    const tools = editor();
    const filter = { includedProperties: ['name'], excludedProperties: ['meta'] };
    const node = await ok(tools, 'get_node', { nodeId: 'ann', ...filter });
    expect(node).toMatchObject({ nodeId: 'ann', parentId: 'sales', payload: { name: 'Ann' } });
    const asked = {
      rootNodeId: 'root',
      includeViewRoot: true,
      defaultExpanded: true,
      depthLimit: 1,
      pageSize: 2,
      ...filter,
    };
    const first = await ok(tools, 'get_view', asked);
    expect(idsOf(first)).toEqual(['root', 'sales']);
    expect(first).toMatchObject({ rootNodeId: 'root', defaultExpanded: true });
    expect(idsOf(await ok(tools, 'get_view', { ...asked, pageToken: first.pageToken }))).toEqual(['it']);
    const search = { rootNodeId: 'root', filters: [{ path: 'meta.owner', op: 'eq', value: 'Di' }], limit: 5 };
    expect((await ok(tools, 'search', search)).hits).toMatchObject([{ nodeId: 'dev' }]);
    const children = await ok(tools, 'list_children', { nodeId: 'sales', limit: 1 });
    expect(idsOf(children)).toEqual(['ann']);
    const second = await ok(tools, 'list_children', { nodeId: 'sales', limit: 1, pageToken: children.pageToken });
    expect(idsOf(second)).toEqual(['ben']);
  });

  it('Core mutate tools', async () => {
    const tools = editor();
    expect(tools.definitions.map(({ name }) => name)).toEqual(expect.arrayContaining(mutations.map(([name]) => name)));
    expect(await change(tools, 'expand_node', { nodeId: 'root' })).toMatchObject({ changed: true, isExpanded: true });
    expect(idsOf(await ok(tools, 'get_view', { rootNodeId: 'root' }))).toEqual(['root', 'sales', 'it']);
    expect(await change(tools, 'collapse_node', { nodeId: 'root' })).toMatchObject({
      changed: true,
      isExpanded: false,
    });
    expect(await change(tools, 'toggle_node', { nodeId: 'root' })).toMatchObject({ changed: true, isExpanded: true });
    expect(await change(tools, 'expand_all', { rootNodeId: 'it' })).toMatchObject({ changed: true });
    expect(idsOf(await ok(tools, 'get_view', { rootNodeId: 'it' }))).toEqual(['it', 'dev', 'eve', 'ops']);
    expect(await change(tools, 'collapse_all', { rootNodeId: 'it' })).toMatchObject({ changed: true });
    const payloadProps = { name: 'HR' };
    const { nodeId } = await change(tools, 'add_child', { parentNodeId: 'root', payloadType: 'unit', payloadProps });
    const update = { nodeId, propertyName: 'meta.owner', newValue: 'Fe' };
    expect(await change(tools, 'update_payload_property', update)).toMatchObject({ changed: true });
    const { payload } = await ok(tools, 'get_node', { nodeId });
    expect(payload).toEqual({ open: true, name: 'HR', meta: { owner: 'Fe' } });
    expect(await change(tools, 'move_node', { nodeId: 'ann', newParentId: nodeId })).toMatchObject({
      oldParentId: 'sales',
    });
    const removed = await change(tools, 'remove_node', { nodeId: 'it' });
    expect(removed).toMatchObject({ removedCount: 4, removedIds: ['it', 'dev', 'eve', 'ops'] });
    const whole = { rootNodeId: 'root', includeViewRoot: true };
    const { view } = await change(tools, 'export_view', whole);
    await change(tools, 'collapse_node', { nodeId: 'root' });
    const imported = {
      viewJson: JSON.stringify(view),
      payloadTypes: ['unit', 'person'],
      rootLookupStrategy: 'byNodeId',
    };
    expect(await change(tools, 'import_view', imported)).toMatchObject({ changed: true });
    expect(JSON.stringify((await change(tools, 'export_view', whole)).view)).toBe(JSON.stringify(view));
  });
});

describe('JSON output shaping and limits', () => {
  it('Included/Excluded properties', async () => {
    const tools = editor();
    const payload = async (includedProperties: string[], excludedProperties: string[] = []) =>
      (await ok(tools, 'get_node', { nodeId: 'root', includedProperties, excludedProperties })).payload;
    expect(await payload(['meta'])).toEqual({ meta: { owner: 'Ada', tags: ['top', 'all'] } });
    expect(await payload(['meta.owner'])).toEqual({ meta: { owner: 'Ada' } });
    expect(await payload(['meta', 'name'], ['meta.owner'])).toEqual({
      name: 'Company',
      meta: { tags: ['top', 'all'] },
    });
    expect(await payload([], ['meta'])).toEqual({ name: 'Company' });
    expect(await payload(['met'])).toEqual({});
  });

  it('Depth and pagination', async () => {
    const tools = editor();
    const asked = { rootNodeId: 'root', defaultExpanded: true, depthLimit: 2, pageSize: 3 };
    const ids: string[] = [];
    let pageToken: string | undefined;
    do {
      const page = await ok(tools, 'get_view', { ...asked, ...(pageToken && { pageToken }) });
      expect(page.rows.length).toBeLessThanOrEqual(3);
      for (const { depth } of page.rows) expect(depth).toBeLessThanOrEqual(2);
      ids.push(...idsOf(page));
      pageToken = page.pageToken;
    } while (pageToken !== undefined);
    expect(ids).toEqual(['root', 'sales', 'ann', 'ben', 'it', 'dev', 'ops']);
  });
});

describe('Safety and permissions', () => {
  it('Read-only mode', async () => {
    const tools = editor(company(), { readOnly: true });
    for (const [name, input] of mutations) {
      expect(await fails(tools, name, { ...input, versionToken: await version(tools) })).toMatchObject({
        code: 'forbidden',
      });
    }
    await ok(tools, 'get_view', { rootNodeId: 'root' });
  });

  it('Role-based permissions', async () => {
    const tree = company();
    const reader = treeTools(tree, { agentId: 'r', role: 'reader' });
    for (const [name, input] of mutations) {
      expect(await fails(reader, name, { ...input, versionToken: await version(reader) })).toMatchObject({
        code: 'forbidden',
      });
    }
    await ok(reader, 'get_node', { nodeId: 'root' });
    await ok(reader, 'get_view', { rootNodeId: 'root' });
    await ok(reader, 'list_children', { nodeId: 'root' });
    await ok(reader, 'search', { rootNodeId: 'root', filters: [{ path: 'name', op: 'eq', value: 'IT' }] });
    await change(editor(tree), 'expand_node', { nodeId: 'root' });
  });

  it('Guard internal properties on self-payload nodes', async () => {
    const tools = editor();
    for (
      const propertyName of [
        'NodeId',
        'Children',
        'Parent',
        'PayloadType',
        'nodeId',
        'children.0',
        'PARENT',
        'payloadType',
      ]
    ) {
      const input = { nodeId: 'ann', propertyName, newValue: 'x' };
      const error = await fails(tools, 'update_payload_property', { ...input, versionToken: await version(tools) });
      expect(error).toMatchObject({ code: 'invalid_argument' });
      expect(await fails(tools, 'update_payload_property', input)).toMatchObject({ code: 'invalid_argument' });
    }
    await change(tools, 'update_payload_property', {
      nodeId: 'sales',
      propertyName: 'Parent',
      newValue: 'allowed here',
    });
  });
});

describe('Concurrency and idempotency', () => {
  it('Version tokens required for mutations', async () => {
    const tools = editor();
    const input = { nodeId: 'sales', propertyName: 'name', newValue: 'Trade' };
    const before = await version(tools);
    const missing = await fails(tools, 'update_payload_property', input);
    expect(missing).toMatchObject({ code: 'conflict', version: before, retryable: true });
    const { version: latest } = await ok(tools, 'update_payload_property', { ...input, versionToken: before });
    const stale = { ...input, newValue: 'Commerce', versionToken: before };
    const error = await fails(tools, 'update_payload_property', stale);
    expect(error).toMatchObject({ code: 'conflict', version: latest, changes: [{ nodeId: 'sales', kind: 'payload' }] });
    expect((await ok(tools, 'get_node', { nodeId: 'sales' })).payload).toMatchObject({ name: 'Trade' });
    await ok(tools, 'update_payload_property', { ...stale, versionToken: error.version });
  });

  it('Idempotency keys', async () => {
    const tools = editor();
    const input = { parentNodeId: 'root', payloadType: 'unit', payloadProps: { name: 'HR' }, idempotencyKey: 'k1' };
    const first = await change(tools, 'add_child', input);
    const again = await ok(tools, 'add_child', { ...input, versionToken: 'any' });
    expect(again).toEqual({ ...first, replayed: true });
    expect(idsOf(await ok(tools, 'list_children', { nodeId: 'root' }))).toHaveLength(3);
    const other = { ...input, payloadProps: { name: 'Other' } };
    expect(await fails(tools, 'add_child', { ...other, versionToken: first.version })).toMatchObject({
      code: 'invalid_argument',
    });
  });
});

describe('Rate limiting and batch limits', () => {
  it('Per-agent rate limit', async () => {
    let now = 0;
    const limits = { reads: { perSecond: 2, burst: 3 } };
    const tree = company();
    const tools = editor(tree, { limits, now: () => now });
    for (let i = 0; i < 3; i++) await ok(tools, 'get_node', { nodeId: 'root' });
    const error = await fails(tools, 'get_node', { nodeId: 'root' });
    expect(error).toMatchObject({ code: 'rate_limited', retryAfterMs: 500, retryable: true });
    await ok(editor(tree, { agentId: 'another', limits, now: () => now }), 'get_node', { nodeId: 'root' });
    now += 499;
    expect(await fails(tools, 'get_node', { nodeId: 'root' })).toMatchObject({ retryAfterMs: 1 });
    now += 1;
    await ok(tools, 'get_node', { nodeId: 'root' });
  });

  it('Batch size limits', async () => {
    const tools = editor();
    const operations = Array.from({ length: 1001 }, () => ({ tool: 'remove_node', nodeId: 'ann' }));
    expect(await fails(tools, 'batch', { operations })).toMatchObject({ code: 'invalid_argument' });
    const includedProperties = Array.from({ length: 101 }, (_, i) => `p${i}`);
    expect(await fails(tools, 'get_node', { nodeId: 'root', includedProperties })).toMatchObject({
      code: 'invalid_argument',
    });
    const filters = includedProperties.map((path) => ({ path, op: 'eq', value: 1 }));
    expect(await fails(tools, 'search', { rootNodeId: 'root', filters })).toMatchObject({ code: 'invalid_argument' });
  });
});

describe('Audit logging', () => {
  it('Audit record created for mutations', async () => {
    const entries: AuditEntry[] = [];
    const tools = editor(company(), { audit: (entry) => entries.push(entry), now: () => 1000 });
    const before = await version(tools);
    const { version: latest } = await ok(tools, 'expand_node', {
      nodeId: 'sales',
      versionToken: before,
      idempotencyKey: 'k',
    });
    await ok(tools, 'expand_node', { nodeId: 'sales', versionToken: before, idempotencyKey: 'k' });
    await fails(tools, 'remove_node', { nodeId: 'sales', versionToken: before });
    await fails(tools, 'remove_node', { nodeId: 7 });
    const common = { at: 1000, agentId: 'editor', role: 'editor', argsDigest: expect.stringMatching(/^[0-9a-f]{64}$/) };
    expect(entries).toMatchObject([
      {
        ...common,
        seq: 1,
        op: 'expand_node',
        targets: ['sales'],
        outcome: 'ok',
        versionBefore: before,
        versionAfter: latest,
      },
      { ...common, seq: 2, op: 'expand_node', outcome: 'replayed', idempotencyKey: 'k' },
      { ...common, seq: 3, op: 'remove_node', targets: ['sales'], outcome: 'conflict', versionAfter: latest },
      { ...common, seq: 4, op: 'remove_node', outcome: 'invalid_argument' },
    ]);
    expect(tools.auditTrail({ after: 2 })).toEqual(entries.slice(2));
  });
});

describe('Error model', () => {
  it('Standard error codes', async () => {
    const tree = company();
    const tools = editor(tree, { limits: { writes: { perSecond: 1, burst: 2 } }, now: () => 0 });
    const versionToken = await version(tools);
    const bad = {
      ...v.object({}),
      get '~run'(): never {
        throw new Error('secret');
      },
    };
    const root = { nodeId: 'root', parentId: null, payloadType: 'unit', payload: { name: 'R' } };
    const broken = editor(createTree({ payloadTypes: { ...companyTypes, bad }, rows: [root] }));
    const errors = [
      await fails(tools, 'get_node', { nodeId: 5 }),
      await fails(tools, 'get_node', { nodeId: 'nobody' }),
      await fails(editor(tree, { readOnly: true }), 'remove_node', { nodeId: 'ann', versionToken }),
      await fails(tools, 'remove_node', { nodeId: 'ann' }),
      await fails(tools, 'remove_node', { nodeId: 'ann' }).then(() => fails(tools, 'remove_node', { nodeId: 'ann' })),
      await fails(broken, 'add_child', {
        parentNodeId: 'root',
        payloadType: 'bad',
        versionToken: await version(broken),
      }),
    ];
    expect(errors.map(({ code }) => code)).toEqual(errorCodes.slice(0, 6));
    for (const { message } of errors) {
      expect(message).toMatch(/^[A-Z].{15,}[^.]$/);
      expect(message).not.toContain('secret');
    }
  });
});

describe('Transport-agnostic contract with in-process API', () => {
  it('In-process API availability', async () => {
    const rows = [{ nodeId: 'a', parentId: null, payloadType: 'unit', payload: { name: 'A' } }];
    const tools = treeTools(createTree({ payloadTypes: companyTypes, rows }), { agentId: 'page', role: 'editor' });
    const outcome = await tools.call('get_view', { rootNodeId: 'a' });
    expect(outcome).toMatchObject({ ok: true, output: { rows: [{ nodeId: 'a' }] } });
    for (const { name, description, paramsSchema } of tools.definitions) {
      expect([name, description, paramsSchema.type]).toEqual([expect.any(String), expect.any(String), 'object']);
    }
  });
});
