import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { openTree, type Storage } from '../../../src/index.ts';
import { StoredTree } from '../../../src/tree/stored-tree.ts';
import { losingStorage, repeatingStorage } from '../../fixtures/repeating-storage.ts';
import { payloadTypes, row } from './fixtures.ts';
import { company, companyTypes, editor, ok } from './tool-fixtures.ts';

const rows = [row('n0', null), row('a', 'n0')];
const openSmall = (storage: Storage) => openTree({ storage, treeId: 't', payloadTypes, rows });
const namesOf = (tree: Awaited<ReturnType<typeof openSmall>>) => [...tree.rows()].map(({ nodeId }) => nodeId);
const inserting = (nodeId: string) => {
  const place = { parentId: 'n0', beforeId: null };
  return [{ kind: 'insert' as const, rows: [row(nodeId, null)], place }];
};
/** Too large for the log: it becomes a checkpoint of several blocks. */
const large = (name: string) =>
  ['n0', 'a'].map((nodeId) => (
    { kind: 'payload' as const, nodeId, payloadType: 'item', payload: { name: name.repeat(400_000) } }
  ));

const storages = [
  ['the storage repeats every commit whose answer was lost', repeatingStorage],
  ['every other commit fails after it was done', losingStorage],
] as const;

describe.each(storages)('a stored tree, where %s', (_name, broken) => {
  it('applies every change exactly once, and answers it as done', async () => {
    const storage = memoryStorage();
    const tree = await openSmall(broken(storage));
    for (const id of ['b', 'c', 'd']) await tree.write(inserting(id));
    expect(namesOf(tree)).toEqual(['n0', 'a', 'b', 'c', 'd']);
    const other = await openSmall(storage);
    expect([...other.rows()]).toEqual([...tree.rows()]);
    expect(await storage.list({ prefix: ['tree', 't', 'log'], limit: 10 })).toHaveLength(3);
  });

  it('replaces its checkpoint, which other instances read', async () => {
    const storage = memoryStorage();
    const tree = await openSmall(broken(storage));
    for (const name of ['x', 'y', 'z']) await tree.write(large(name));
    expect([...(await openSmall(storage)).rows()]).toEqual([...tree.rows()]);
  });

  it('answers a tool call that changes the tree, and the same call again, with one change', async () => {
    const storage = memoryStorage();
    const open = (through: Storage) =>
      openTree({ storage: through, treeId: 't', payloadTypes: companyTypes, rows: [...company().rows()] });
    const tree = await open(broken(storage));
    const tools = editor(tree);
    const { version: versionToken } = await ok(tools, 'get_node', { nodeId: 'it' });
    const input = { parentNodeId: 'it', payloadType: 'unit', payloadProps: { name: 'QA' }, versionToken };
    const first = await ok(tools, 'add_child', { ...input, idempotencyKey: 'k1' });
    expect(await ok(tools, 'add_child', { ...input, idempotencyKey: 'k1' })).toMatchObject(first);
    expect([...(await open(storage)).rows()]).toHaveLength([...company().rows()].length + 1);
  });

  it('reserves a place in the log, which its next change uses', async () => {
    const storage = memoryStorage();
    const tree = await openSmall(storage);
    const stored = new StoredTree(broken(storage), { treeId: 't', now: Date.now });
    await stored.load();
    await stored.takeTurn();
    expect(await storage.list({ prefix: ['tree', 't', 'log'], limit: 10 })).toHaveLength(1);
    expect(await stored.commit({ ops: inserting('b'), rows: () => rows })).toBe(true);
    await tree.refresh();
    expect(namesOf(tree)).toEqual(['n0', 'a', 'b']);
    expect(await storage.list({ prefix: ['tree', 't', 'log'], limit: 10 })).toHaveLength(1);
  });
});

describe('a stored tree whose writer lost an answer', () => {
  it.each([
    ['another change', inserting('z')],
    ['another checkpoint, which removes the log', large('z')],
  ])('knows its own change behind %s, and takes over both', async (_name, ops) => {
    const storage = memoryStorage();
    const other = await openSmall(storage);
    let armed = false;
    const between = async () => {
      armed = false;
      await other.refresh();
      await other.write(ops);
    };
    const tree = await openSmall(repeatingStorage(storage, { when: () => armed, between }));
    armed = true;
    await tree.write(inserting('b'));
    await tree.refresh();
    expect(namesOf(tree)).toContain('b');
    expect([...tree.rows()]).toEqual([...other.rows()]);
    await tree.write(inserting('c')).catch(() => tree.write(inserting('c')));
    await other.refresh();
    expect([...tree.rows()]).toEqual([...other.rows()]);
  });

  it('reports the conflict with the change of another instance', async () => {
    const storage = memoryStorage();
    const other = await openSmall(storage);
    const tree = await openSmall(repeatingStorage(storage));
    await other.write(inserting('z'));
    await expect(tree.write(inserting('b'))).rejects.toMatchObject({
      code: 'conflict',
      details: { reason: 'changed_elsewhere' },
    });
    expect(namesOf(tree)).toEqual(['n0', 'a', 'z']);
  });
});
