import { describe, expect, it } from 'vitest';
import { createTree, PinnaceError, treeTools } from '../../../../src/index.ts';
import { payloadTypes, randomFrom, randomRows, row } from '../fixtures.ts';
import { change, company, editor, fails, idsOf, type Loose, ok, version } from '../tool-fixtures.ts';

describe('treeTools', () => {
  it('loses no update of writers that take turns as they like', async () => {
    const tree = company();
    const bump = async (agentId: string) => {
      const tools = editor(tree, { agentId });
      let calls = 0;
      for (let done = 0; done < 20;) {
        const { payload, version: versionToken } = await ok(tools, 'get_node', { nodeId: 'sales' });
        await Promise.resolve();
        const newValue = payload.meta.budget + 1;
        const input = { nodeId: 'sales', propertyName: 'meta.budget', newValue, versionToken };
        if ((await tools.call('update_payload_property', input)).ok) done++;
        calls++;
      }
      return calls;
    };
    const calls = await Promise.all(['a', 'b', 'c', 'd'].map(bump));
    expect((await ok(editor(tree), 'get_node', { nodeId: 'sales' })).payload.meta.budget).toBe(10 + 80);
    expect(Math.max(...calls)).toBeGreaterThan(20); // there were conflicts at all
  });

  it('does not advance the version for a change that changes nothing', async () => {
    const tools = editor();
    const versionToken = await version(tools);
    const nothing = [
      ['collapse_node', { nodeId: 'it' }],
      ['collapse_all', { rootNodeId: 'ann' }],
      ['update_payload_property', { nodeId: 'sales', propertyName: 'meta', newValue: { budget: 10, owner: 'Bo' } }],
      ['update_payload_property', { nodeId: 'sales', propertyName: 'none', unset: true }],
      ['move_node', { nodeId: 'ben', newParentId: 'sales' }],
      ['move_node', { nodeId: 'ann', newParentId: 'sales', before: 'ben' }],
      ['move_node', { nodeId: 'ann', newParentId: 'sales', index: 0 }],
    ] as const;
    for (const [name, input] of nothing.slice(0, 1)) {
      expect(await ok(tools, name, { ...input, versionToken })).toMatchObject({
        changed: false,
        version: versionToken,
      });
    }
    for (const [name, input] of nothing.slice(2)) {
      expect(await ok(tools, name, { ...input, versionToken })).toMatchObject({
        changed: false,
        version: versionToken,
      });
    }
  });

  it('keeps the views of agents apart, and their version tokens', async () => {
    const tree = company();
    const [a, b] = [editor(tree, { agentId: 'a' }), editor(tree, { agentId: 'b' })];
    const tokenOfB = await version(b);
    await change(a, 'expand_all', { rootNodeId: 'root' });
    expect(idsOf(await ok(a, 'get_view', { rootNodeId: 'root' }))).toHaveLength(8);
    expect(idsOf(await ok(b, 'get_view', { rootNodeId: 'root' }))).toEqual(['root']);
    await ok(b, 'expand_node', { nodeId: 'root', versionToken: tokenOfB });
    await change(a, 'remove_node', { nodeId: 'ann' });
    expect(await fails(b, 'collapse_node', { nodeId: 'root', versionToken: tokenOfB })).toMatchObject({
      code: 'conflict',
      changes: [{ nodeId: 'root', kind: 'view' }, { nodeId: 'sales', kind: 'children' }, {
        nodeId: 'ann',
        kind: 'removed',
      }],
    });
  });

  it('says when a node was removed, also one inside what was removed', async () => {
    const tools = editor();
    const { version: removedAt } = await change(tools, 'remove_node', { nodeId: 'it' });
    for (const nodeId of ['it', 'eve']) {
      expect(await fails(tools, 'get_node', { nodeId })).toMatchObject({ code: 'not_found', details: { removedAt } });
    }
    expect((await fails(tools, 'get_node', { nodeId: 'nobody' })).details).toEqual({ reason: 'unknown_node' });
  });

  it('makes a batch as one change or not at all', async () => {
    const tree = company();
    const tools = editor(tree);
    const add = {
      tool: 'add_child',
      parentNodeId: 'root',
      payloadType: 'unit',
      payloadProps: { name: 'HR' },
      nodeId: 'hr',
    };
    const move = { tool: 'move_node', nodeId: 'ann', newParentId: 'hr' };
    const before = JSON.stringify([...tree.rows()]);
    const bad = { tool: 'update_payload_property', nodeId: 'sales', propertyName: 'name', newValue: 7 };
    const error = await tools.call('batch', { operations: [add, move, bad], versionToken: await version(tools) });
    expect(error).toMatchObject({ ok: false, error: { code: 'invalid_argument' } });
    expect(JSON.stringify([...tree.rows()])).toBe(before);
    expect(tree.rev).toBe(0);
    const done = await change(tools, 'batch', { operations: [add, move] });
    expect(done.results).toMatchObject([{ nodeId: 'hr' }, { nodeId: 'ann', oldParentId: 'sales' }]);
    expect(tree.rev).toBe(1);
    await change(tools, 'undo', { version: done.version });
    expect(JSON.stringify([...tree.rows()])).toBe(before);
  });

  it('takes back the change of another agent where the setting allows any, and that back again', async () => {
    const tree = company();
    const [a, b] = [editor(tree, { agentId: 'a', undo: 'any' }), editor(tree, { agentId: 'b', undo: 'any' })];
    const removed = await change(a, 'remove_node', { nodeId: 'sales' });
    await change(b, 'update_payload_property', { nodeId: 'it', propertyName: 'name', newValue: 'Tech' });
    const undone = await change(b, 'undo', { version: removed.version });
    expect(idsOf(await ok(b, 'list_children', { nodeId: 'root' }))).toEqual(['sales', 'it']);
    expect(tree.get('it')?.payload).toMatchObject({ name: 'Tech' });
    const versionToken = await version(a);
    const again = await fails(a, 'undo', { version: removed.version, versionToken });
    expect(again).toMatchObject({ code: 'conflict', details: { reason: 'already_undone' } });
    const redone = await change(a, 'undo', { version: undone.version });
    expect(tree.get('sales')).toBeUndefined();
    await change(a, 'undo', { version: redone.version });
    expect(tree.sizeOf('sales')).toBe(3);
  });

  it('refuses to take back what later changes build on', async () => {
    const tools = editor();
    const set = async (newValue: string) =>
      await change(tools, 'update_payload_property', { nodeId: 'it', propertyName: 'name', newValue });
    const [one, two] = [await set('one'), await set('two')];
    const versionToken = await version(tools);
    expect(await fails(tools, 'undo', { version: one.version, versionToken })).toMatchObject({ code: 'conflict' });
    await change(tools, 'undo', { version: two.version });
    await change(tools, 'undo', { version: one.version });
    expect((await ok(tools, 'get_node', { nodeId: 'it' })).payload.name).toBe('IT');
    const error = await fails(tools, 'undo', { version: 'x.1.2.3', versionToken: await version(tools) });
    expect(error).toMatchObject({ code: 'not_found' });
    const moved = await change(tools, 'move_node', { nodeId: 'dev', newParentId: 'sales' });
    await change(tools, 'remove_node', { nodeId: 'it' });
    const gone = await fails(tools, 'undo', { version: moved.version, versionToken: await version(tools) });
    expect(gone).toMatchObject({ code: 'conflict', details: { reason: 'changed_since' } });
  });

  it('inserts a node before, after, or at an index', async () => {
    const tools = editor();
    const order = async () => idsOf(await ok(tools, 'list_children', { nodeId: 'root' }));
    const add = async (nodeId: string, place: object) =>
      await change(tools, 'add_child', {
        parentNodeId: 'root',
        payloadType: 'unit',
        payloadProps: { name: nodeId },
        nodeId,
        ...place,
      });
    await add('first', { before: 'sales' });
    await add('second', { after: 'first' });
    await add('fourth', { index: 3 });
    expect(await order()).toEqual(['first', 'second', 'sales', 'fourth', 'it']);
    await change(tools, 'move_node', { nodeId: 'first', newParentId: 'root', index: 2 });
    expect(await order()).toEqual(['second', 'sales', 'first', 'fourth', 'it']);
    await change(tools, 'move_node', { nodeId: 'it', newParentId: 'root', after: 'second' });
    expect(await order()).toEqual(['second', 'it', 'sales', 'first', 'fourth']);
    const versionToken = await version(tools);
    const wrong = { nodeId: 'it', newParentId: 'root', before: 'ann', versionToken };
    expect(await fails(tools, 'move_node', wrong)).toMatchObject({ code: 'invalid_argument' });
    expect(await fails(tools, 'move_node', { ...wrong, index: 1 })).toMatchObject({ code: 'invalid_argument' });
  });

  it('returns pages as rows, columns, an outline or nested, and ends a page that grows too large', async () => {
    const tools = editor();
    const asked = { rootNodeId: 'it', defaultExpanded: true, includedProperties: ['name'] };
    expect(await ok(tools, 'get_view', { ...asked, shape: 'columns', excludedProperties: ['$isExpanded'] }))
      .toMatchObject({
        columns: ['nodeId', 'payloadType', 'depth', 'childrenCount', 'payload.name'],
        rows: [['it', 'unit', 1, 2, 'IT'], ['dev', 'unit', 2, 1, 'Development'], ['eve', 'person', 3, 0, 'Eve'], [
          'ops',
          'unit',
          2,
          0,
          'Operations',
        ]],
      });
    const { outline } = await ok(tools, 'get_view', { ...asked, shape: 'outline' });
    expect(outline).toBe('- IT [it] 2\n  - Development [dev] 1\n    . Eve [eve]\n  . Operations [ops]');
    const { nested } = await ok(tools, 'get_view', { ...asked, shape: 'nested' });
    expect(nested).toMatchObject([{ nodeId: 'it', children: [{ nodeId: 'dev', children: [{ nodeId: 'eve' }] }, {}] }]);
    const small = editor(company(), { limits: { responseBytes: 500 } });
    const page = await ok(small, 'get_view', asked);
    expect(page).toMatchObject({ truncated: 'bytes', pageToken: expect.any(String) });
    expect(page.rows.length).toBeLessThan(4);
    const rest = await ok(small, 'get_view', { ...asked, pageToken: page.pageToken });
    expect([...idsOf(page), ...idsOf(rest)].slice(0, 3)).toEqual(['it', 'dev', 'eve']);
  });

  it('shows one version to a walk of many pages, whatever is written meanwhile', async () => {
    for (let seed = 1; seed <= 5; seed++) {
      const random = randomFrom(seed);
      const tree = createTree({ payloadTypes, rows: randomRows(1200, random) });
      const [reader, writer] = [treeTools(tree, { agentId: 'r', role: 'reader' }), editor(tree, { agentId: 'w' })];
      const frozen = [...tree.rows()].map(({ nodeId, payload }) => [nodeId, payload.name]);
      const children = tree.children('n0', { limit: 1200 }).map(({ nodeId }) => nodeId);
      const seen: unknown[] = [];
      const seenChildren: string[] = [];
      const seenHits: string[] = [];
      const tokens: Record<string, string | undefined> = {};
      const step = async (name: string, input: object, take: (page: Loose) => void) => {
        if (name in tokens && tokens[name] === undefined) return;
        const pageToken = tokens[name];
        const page = await ok(reader, name, { ...input, ...(pageToken !== undefined && { pageToken }) });
        tokens[name] = page.pageToken;
        take(page);
      };
      do {
        await step('get_view', { rootNodeId: 'n0', defaultExpanded: true, pageSize: 100 }, ({ rows }) => {
          seen.push(...rows.map(({ nodeId, payload }: Loose) => [nodeId, payload.name]));
        });
        await step('list_children', { nodeId: 'n0', limit: 7 }, (page) => void seenChildren.push(...idsOf(page)));
        const filters = [{ path: 'name', op: 'contains', value: 'N' }];
        await step('search', { rootNodeId: 'n0', filters, limit: 150 }, ({ hits }) => {
          seenHits.push(...hits.map(({ nodeId }: Loose) => nodeId));
        });
        await disturb(writer, { size: tree.size, random });
      } while (Object.values(tokens).some((token) => token !== undefined));
      expect(seen).toEqual(frozen);
      expect(seenChildren).toEqual(children);
      expect(seenHits).toEqual(frozen.map(([nodeId]) => nodeId));
    }
  });

  it('refuses page tokens that are garbage, changed, or of another walk', async () => {
    const tools = editor();
    const asked = { rootNodeId: 'root', defaultExpanded: true, pageSize: 2 };
    const { pageToken } = await ok(tools, 'get_view', asked);
    const decoded = JSON.parse(atob(pageToken));
    const forged = btoa(JSON.stringify({ ...decoded, c: [0, 99] }));
    for (const token of ['', 'x', '%%%', btoa('{}'), forged, pageToken.slice(0, -9)]) {
      expect(await fails(tools, 'get_view', { ...asked, pageToken: token })).toMatchObject({
        code: 'invalid_argument',
      });
    }
    expect(await fails(tools, 'get_view', { ...asked, depthLimit: 1, pageToken })).toMatchObject({
      code: 'invalid_argument',
    });
    expect(await fails(tools, 'list_children', { nodeId: 'root', pageToken })).toMatchObject({
      code: 'invalid_argument',
    });
    expect(await ok(tools, 'get_view', { ...asked, pageSize: 5, pageToken })).toMatchObject({
      rows: [{}, {}, {}, {}, {}],
    });
  });

  it('ends a walk whose snapshot was evicted with a conflict that says to start again', async () => {
    let now = 0;
    const tools = editor(company(), { now: () => now });
    const asked = { rootNodeId: 'root', defaultExpanded: true, pageSize: 2 };
    const { pageToken } = await ok(tools, 'get_view', asked);
    now += 5 * 60_000;
    await ok(tools, 'get_view', { ...asked, pageToken });
    now += 5 * 60_000 + 1;
    const error = await fails(tools, 'get_view', { ...asked, pageToken });
    expect(error).toMatchObject({ code: 'conflict', version: expect.any(String), details: { hint: 'restart' } });
  });

  it('searches by text, value, list, id and type', async () => {
    const tools = editor();
    const find = async (path: string, op: string, value: unknown, more: object = {}) => {
      const filters = [{ path, op, value }];
      const { hits } = await ok(tools, 'search', { rootNodeId: 'root', filters, ...more });
      return hits.map(({ nodeId }: Loose) => nodeId);
    };
    expect(await find('name', 'contains', 'AN')).toEqual(['root', 'ann']);
    expect(await find('name', 'contains', 'An', { caseSensitive: true })).toEqual(['ann']);
    expect(await find('name', 'contains', 'a\u00adn')).toEqual(['root', 'ann']);
    expect(await find('meta.tags', 'contains', 'tech')).toEqual(['it']);
    expect(await find('meta.tags', 'contains', 'tec')).toEqual([]);
    expect(await find('meta.tags', 'eq', 'all')).toEqual(['root']);
    expect(await find('meta', 'eq', { budget: 10, owner: 'Bo' })).toEqual(['sales']);
    expect(await find('meta.budget', 'eq', '10')).toEqual([]);
    expect(await find('$id', 'contains', 'e')).toEqual(['sales', 'ben', 'dev', 'eve']);
    expect(await find('$type', 'eq', 'person')).toEqual(['ann', 'ben', 'eve']);
    expect(await find('constructor', 'eq', 1).catch(() => 'refused')).toBe('refused');
    const { hits } = await ok(tools, 'search', {
      rootNodeId: 'it',
      filters: [{ path: 'email', op: 'contains', value: 'eve@' }],
    });
    const breadcrumb = [{ nodeId: 'root', label: 'Company' }, { nodeId: 'it', label: 'IT' }, {
      nodeId: 'dev',
      label: 'Development',
    }];
    expect(hits).toEqual([{
      nodeId: 'eve',
      payloadType: 'person',
      depth: 3,
      label: 'Eve',
      breadcrumb,
      matched: ['email'],
    }]);
  });

  it('answers a search that takes long with a page token, and finds what is changed meanwhile', async () => {
    let now = 0;
    const tree = createTree({ payloadTypes, rows: randomRows(2000, randomFrom(3)) });
    const tools = editor(tree, { now: () => now++, limits: { searchMs: 2 } });
    const asked = { rootNodeId: 'n0', filters: [{ path: 'name', op: 'contains', value: 'n1999' }] };
    let page = await ok(tools, 'search', asked);
    expect(page).toMatchObject({ hits: [], scanned: expect.any(Number), pageToken: expect.any(String) });
    let scanned = page.scanned;
    while (page.pageToken) {
      page = await ok(tools, 'search', { ...asked, pageToken: page.pageToken });
      scanned += page.scanned;
    }
    expect(page.hits).toMatchObject([{ nodeId: 'n1999' }]);
    expect(scanned).toBe(2000);
    const { version: versionToken } = await ok(tools, 'get_node', { nodeId: 'n0' });
    await ok(tools, 'update_payload_property', {
      nodeId: 'n5',
      propertyName: 'name',
      newValue: 'N1999 too',
      versionToken,
    });
    now = -1e9;
    const all = treeTools(tree, { agentId: 'x', role: 'reader', now: () => 0 });
    expect((await ok(all, 'search', asked)).hits.map(({ nodeId }: Loose) => nodeId)).toEqual(['n5', 'n1999']);
  });

  it('refuses a role that does not exist and a thing that is no tree', () => {
    const tree = company();
    // @ts-expect-error a role from outside
    expect(() => treeTools(tree, { agentId: 'a', role: 'admin' })).toThrow('use "reader" or "editor"');
    expect(() => treeTools({ ...tree }, { agentId: 'a', role: 'editor' })).toThrow(PinnaceError);
  });

  it('opens the export to readers where the setting says so', async () => {
    const tools = treeTools(company(), { agentId: 'r', role: 'reader', exportRole: 'reader' });
    expect(await ok(tools, 'export_view', { rootNodeId: 'root' })).toMatchObject({ view: { RootNodeId: 'root' } });
    const stale = await fails(tools, 'export_view', { rootNodeId: 'root', versionToken: 'x.0.0.0' });
    expect(stale).toMatchObject({ code: 'conflict' });
  });
});

/** A few random changes. */
async function disturb(tools: ReturnType<typeof editor>, { size, random }: { size: number; random: () => number }) {
  for (let i = 0; i < 4; i++) {
    const pick = () => `n${Math.floor(random() * size)}`;
    const versionToken = (await ok(tools, 'get_node', { nodeId: 'n0' })).version;
    const choices = [
      ['move_node', { nodeId: pick(), newParentId: pick() }],
      ['add_child', { parentNodeId: pick(), payloadType: 'item', payloadProps: row('new', null).payload }],
      ['update_payload_property', { nodeId: pick(), propertyName: 'name', newValue: 'zzz' }],
      ['remove_node', { nodeId: pick() }],
      ['expand_all', { rootNodeId: pick() }],
    ] as const;
    const [name, input] = choices[Math.floor(random() * choices.length)]!;
    await tools.call(name, { ...input, versionToken });
  }
}
