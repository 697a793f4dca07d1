import { describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import type { Change } from '../../../../src/contracts/index.ts';
import { openTree, type Storage } from '../../../../src/index.ts';
import { payloadTypes, randomFrom, randomRows, row } from '../fixtures.ts';
import { company, companyTypes, editor, fails, type Loose, ok } from '../tool-fixtures.ts';

const open = (storage: Storage, rows = [...company().rows()]) =>
  openTree({ storage, treeId: 't', payloadTypes: companyTypes, rows });

/** A change with the version of a moment ago. */
async function bump(tools: ReturnType<typeof editor>, input: Loose = {}) {
  const { payload, version: versionToken } = await ok(tools, 'get_node', { nodeId: 'sales' });
  const newValue = payload.meta.budget + 1;
  return await tools.call('update_payload_property', {
    nodeId: 'sales',
    propertyName: 'meta.budget',
    newValue,
    versionToken,
    ...input,
  });
}

describe('openTree', () => {
  it('restores what was there before the page was closed', async () => {
    const storage = memoryStorage();
    const tree = await open(storage);
    const tools = editor(tree);
    await bump(tools);
    const { version: versionToken } = await ok(tools, 'get_node', { nodeId: 'root' });
    const operations = [
      { tool: 'add_child', parentNodeId: 'it', payloadType: 'unit', payloadProps: { name: 'QA' }, nodeId: 'qa' },
      { tool: 'move_node', nodeId: 'ann', newParentId: 'qa' },
      { tool: 'remove_node', nodeId: 'dev' },
    ];
    const done = await ok(tools, 'batch', { operations, versionToken });
    await ok(tools, 'undo', { version: done.version, versionToken: done.version });
    const again = await open(storage, []);
    expect([...again.rows()]).toEqual([...tree.rows()]);
    expect(again.get('sales')?.payload).toMatchObject({ meta: { budget: 11 } });
  });

  it('stores large trees and large changes in blocks', async () => {
    const storage = memoryStorage();
    const options = { storage, treeId: 'large', payloadTypes };
    const rows = randomRows(2000, randomFrom(5));
    const tree = await openTree({ ...options, rows });
    const many = Array.from({ length: 9000 }, (_, i) => row(`x${i}`, i === 0 ? null : 'x0'));
    await tree.write([{ kind: 'insert', rows: many, place: { parentId: 'n7', beforeId: null } }]);
    await tree.write([{ kind: 'remove', nodeId: 'x5' }]);
    expect([...(await openTree(options)).rows()]).toEqual([...tree.rows()]);
    expect((await storage.list({ prefix: ['tree', 'large', 'log'], limit: 10 })).map(({ key }) => key[3])).toEqual([2]);
  });

  it('starts a new checkpoint when the log grows long', async () => {
    const storage = memoryStorage();
    const options = { storage, treeId: 'busy', payloadTypes };
    const tree = await openTree({ ...options, rows: [row('n0', null)] });
    for (let i = 0; i < 1010; i++) {
      await tree.write([{ kind: 'payload', nodeId: 'n0', payloadType: 'item', payload: { name: `${i}` } }]);
    }
    expect(await storage.list({ prefix: ['tree', 'busy', 'log'], limit: 1000 })).toHaveLength(9);
    expect((await openTree(options)).get('n0')?.payload).toEqual({ name: '1009' });
  });

  it('loses no update of two instances, and both end up with the same', async () => {
    const storage = memoryStorage();
    const trees = [await open(storage), await open(storage)];
    await Promise.all(trees.map(async (tree, i) => {
      const tools = editor(tree, { agentId: `agent ${i}` });
      for (let done = 0; done < 10;) if ((await bump(tools)).ok) done++;
    }));
    await Promise.all(trees.map((tree) => tree.refresh()));
    expect(trees.map((tree) => tree.get('sales')?.payload)).toMatchObject([{ meta: { budget: 30 } }, {
      meta: { budget: 30 },
    }]);
    expect([...trees[0]!.rows()]).toEqual([...trees[1]!.rows()]);
  });

  it('commits a change and its idempotency record as one, for all instances', async () => {
    const storage = memoryStorage();
    const commits: (readonly Change[])[] = [];
    const watched: Storage = {
      ...storage,
      commit(changes) {
        commits.push(changes);
        return storage.commit(changes);
      },
    };
    const first = await bump(editor(await open(watched)), { idempotencyKey: 'once', newValue: 99 });
    expect(commits.at(-1)?.map(({ key }) => key[2])).toEqual(['head', 'log', 'answer', 'mark']);
    const elsewhere = await bump(editor(await open(storage)), { idempotencyKey: 'once', newValue: 99 });
    expect(elsewhere).toEqual({ ok: true, output: { ...first.ok && first.output, replayed: true } });
  });

  it('takes a change back that could not be stored, and answers internal', async () => {
    const storage = memoryStorage();
    let isDown = false;
    const flaky: Storage = {
      ...storage,
      commit: (changes) => (isDown ? Promise.reject(new Error('disk full of secrets')) : storage.commit(changes)),
    };
    const tree = await open(flaky);
    const before = [...tree.rows()];
    isDown = true;
    const outcome = await bump(editor(tree));
    expect(outcome).toMatchObject({ ok: false, error: { code: 'internal', retryable: true } });
    expect(JSON.stringify(outcome)).not.toContain('secrets');
    expect([...tree.rows()]).toEqual(before);
    isDown = false;
    expect(await bump(editor(tree))).toMatchObject({ ok: true });
  });

  it('lets the second of two calls with one key wait for the first', async () => {
    const tools = editor(await open(memoryStorage()));
    const { version: versionToken } = await ok(tools, 'get_node', { nodeId: 'root' });
    const input = {
      parentNodeId: 'root',
      payloadType: 'unit',
      payloadProps: { name: 'HR' },
      idempotencyKey: 'k',
      versionToken,
    };
    const [one, two] = await Promise.all([tools.call('add_child', input), tools.call('add_child', input)]);
    expect(one).toMatchObject({ ok: true });
    expect(two).toMatchObject({ ok: true, output: { replayed: true, nodeId: one.ok && one.output.nodeId } });
  });

  it('refuses a change that would not be stored', async () => {
    const tree = await open(memoryStorage());
    expect(() => tree.apply([{ kind: 'remove', nodeId: 'ann' }])).toThrow('use "write"');
    await expect(tree.write([{ kind: 'remove', nodeId: 'root' }])).rejects.toThrow('it is the root');
    expect(await fails(editor(tree), 'remove_node', { nodeId: 'ann' })).toMatchObject({ code: 'conflict' });
  });

  it('follows what another instance does, until it is stopped', async () => {
    const storage = memoryStorage();
    const [here, there] = [await open(storage), await open(storage)];
    const stop = new AbortController();
    there.follow(stop.signal);
    await bump(editor(here));
    await vi.waitFor(() => expect(there.get('sales')?.payload).toMatchObject({ meta: { budget: 11 } }));
    stop.abort();
    await bump(editor(here));
    await here.refresh();
    expect(there.get('sales')?.payload).toMatchObject({ meta: { budget: 11 } });
  });
});
