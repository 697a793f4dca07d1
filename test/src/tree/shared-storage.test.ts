import { describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import type { Change } from '../../../src/contracts/index.ts';
import type { OpenTree } from '../../../src/tree/index.ts';
import { openTree, type Storage, treeTools } from '../../../src/index.ts';
import { payloadTypes, row, wide } from './fixtures.ts';
import { editor, fails, type Loose, ok } from './tool-fixtures.ts';

const treeId = 't';
const rows = [row('n0', null), row('left', 'n0'), row('l1', 'left'), row('right', 'n0'), row('r1', 'right')];

/** A storage with a clock, and a way to open the tree in it. */
function start() {
  const clock = { now: 1000 };
  const storage = memoryStorage({ now: () => clock.now });
  const open = (through: Storage = storage) =>
    openTree({ storage: through, treeId, payloadTypes, rows, now: () => clock.now });
  return { clock, storage, open };
}

/** A change too large for the log: it becomes a checkpoint. */
const writeCheckpoint = (tree: OpenTree, text = 'x') =>
  tree.write([{ kind: 'payload', nodeId: 'r1', payloadType: 'item', payload: { name: text.repeat(600_000) } }]);

const tick = (tree: OpenTree, name: string) =>
  tree.write([{ kind: 'payload', nodeId: 'l1', payloadType: 'item', payload: { name } }]);

async function basesIn(storage: Storage): Promise<unknown[]> {
  const blocks = await storage.list({ prefix: ['tree', treeId, 'block'], limit: 1000 });
  return [...new Set(blocks.map(({ key }) => key[3]))];
}

async function headOf(storage: Storage): Promise<Loose> {
  return (await storage.get(['tree', treeId, 'head']))?.value as Loose;
}

/** Calls back before the first read of a block that matches. */
function interrupted(storage: Storage, interrupt: () => Promise<unknown>): Storage {
  let isDone = false;
  return {
    ...storage,
    async get(key) {
      if (key[2] === 'block' && !isDone) {
        isDone = true;
        await interrupt();
      }
      return await storage.get(key);
    },
  };
}

describe('a tree that several instances share', () => {
  it('opens one whole state when the checkpoint is replaced and swept between two of its reads', async () => {
    const { clock, storage, open } = start();
    const writer = await open();
    await writeCheckpoint(writer);
    const reader = await open(interrupted(storage, async () => {
      await writeCheckpoint(writer, 'y');
      clock.now += 61_000;
      await writeCheckpoint(writer, 'z');
      await vi.waitFor(async () => expect(await basesIn(storage)).toHaveLength(2));
    }));
    expect([...reader.rows()]).toEqual([...writer.rows()]);
    await tick(reader, 'still writable');
  });

  it('refreshes to one whole state when the checkpoint is replaced and swept between two of its reads', async () => {
    const { clock, storage, open } = start();
    const writer = await open();
    let isOpen = false;
    const through = interrupted(storage, async () => {
      await writeCheckpoint(writer, 'y');
      clock.now += 61_000;
      await writeCheckpoint(writer, 'z');
    });
    const reader = await open({ ...storage, get: (key) => (isOpen ? through : storage).get(key) });
    isOpen = true;
    await writeCheckpoint(writer);
    await reader.refresh();
    expect([...reader.rows()]).toEqual([...writer.rows()]);
  });

  it('opens and refreshes at any moment while another instance writes checkpoints', async () => {
    const { open } = start();
    const [writer, reader] = [await open(), await open()];
    let isDone = false;
    const write = async () => {
      for (let i = 0; i < 30; i++) await writeCheckpoint(writer, `${i % 10}`);
      isDone = true;
    };
    const read = async () => {
      while (!isDone) {
        await reader.refresh();
        expect((await open()).size).toBe(5);
      }
    };
    await Promise.all([write(), read(), read(), read()]);
    await reader.refresh();
    expect([...reader.rows()]).toEqual([...writer.rows()]);
  });

  it('says block_missing of a checkpoint of which a part is lost for good', async () => {
    const { storage, open } = start();
    await open();
    const { base } = await headOf(storage);
    await storage.commit([{ key: ['tree', treeId, 'block', base, 0] }]);
    await expect(open()).rejects.toMatchObject({ code: 'unavailable', details: { reason: 'block_missing' } });
  });
});

describe('checkpoints without a head', () => {
  /** Commits as many changes of blocks as given, and then nothing: the process is dead. */
  function killedAfter(storage: Storage, blocks: number): Storage {
    let left = blocks;
    return {
      ...storage,
      commit(changes: readonly Change[]) {
        const isBlock = changes.some(({ key }) => key[2] === 'block');
        if ((isBlock && left-- <= 0) || left < 0) return Promise.reject(new Error('killed'));
        return storage.commit(changes);
      },
    };
  }

  it('sweeps the blocks of a killed writer once they have not been written for a minute, and not before', async () => {
    const { clock, storage, open } = start();
    const keeper = await open();
    const many = wide(3000).map((each) => ({ ...each, nodeId: `x${each.nodeId}`, parentId: each.parentId && 'xn0' }));
    const victim = await open(killedAfter(storage, 3));
    const insert = {
      kind: 'insert',
      rows: many.map((each) => ({ ...each, payload: { name: 'x'.repeat(300) } })),
    } as const;
    await expect(victim.write([{ ...insert, place: { parentId: 'n0', beforeId: null } }])).rejects.toThrow('killed');
    expect(await basesIn(storage)).toHaveLength(2);

    clock.now += 59_000;
    await writeCheckpoint(keeper);
    expect(await basesIn(storage)).toHaveLength(3); // the one before, too, for those who read it
    clock.now += 61_000;
    const tree = await open();
    await vi.waitFor(async () => expect(await basesIn(storage)).toEqual([(await headOf(storage)).base]));
    expect(await storage.list({ prefix: ['tree', treeId, 'garbage'], limit: 10 })).toEqual([]);
    expect([...tree.rows()]).toEqual([...keeper.rows()]);
  });

  it('sweeps orphans of a release that made no records of them', async () => {
    const { clock, storage, open } = start();
    await open();
    for (let i = 0; i < 3; i++) await storage.commit([{ key: ['tree', treeId, 'block', 'orphan', i], value: [] }]);
    await open();
    await vi.waitFor(async () =>
      expect(await storage.list({ prefix: ['tree', treeId, 'garbage'], limit: 10 })).toHaveLength(1)
    );
    clock.now += 61_000;
    const tree = await open();
    await vi.waitFor(async () => expect(await basesIn(storage)).toEqual([(await headOf(storage)).base]));
    expect(tree.size).toBe(5);
  });

  it('never removes what another instance is writing, however long the whole takes', async () => {
    const { clock, storage, open } = start();
    await open();
    const slow: Storage = {
      ...storage,
      async commit(changes) {
        clock.now += 25_000;
        await open(); // sweeps
        return await storage.commit(changes);
      },
    };
    const writer = await open(slow);
    const many = wide(3000).map((each) => row(`x${each.nodeId}`, each.parentId && 'xn0'));
    const named = many.map((each) => ({ ...each, payload: { name: 'x'.repeat(300) } }));
    await writer.write([{ kind: 'insert', rows: named, place: { parentId: 'n0', beforeId: null } }]);
    expect([...(await open()).rows()]).toEqual([...writer.rows()]);
  });

  it('fails a writer that paused for too long, instead of naming removed blocks', async () => {
    const { clock, storage, open } = start();
    const other = await open();
    const stalled: Storage = {
      ...storage,
      async commit(changes) {
        if (changes.some(({ key }) => key[2] === 'head')) {
          clock.now += 61_000;
          await writeCheckpoint(await open(), 'o').then(() => writeCheckpoint(other, 'p')).catch(() => {});
        }
        return await storage.commit(changes);
      },
    };
    const writer = await open(stalled);
    await expect(writeCheckpoint(writer, 'w')).rejects.toMatchObject({ code: 'conflict' });
    expect((await open()).size).toBe(5);
    expect([...writer.rows()]).toEqual([...(await open()).rows()]);
  });

  it('retains the few checkpoints that were replaced last, and no more, however often one is written', async () => {
    const { storage, open } = start();
    const tree = await open();
    for (let i = 0; i < 12; i++) await writeCheckpoint(tree, `${i % 10}`);
    expect((await basesIn(storage)).length).toBeLessThanOrEqual(4);
  });
});

/** What an import of 4,000 nodes brings, with names of this length. */
function document(length: number) {
  const below = Array.from({ length: 4000 }, (_, i) => ({
    ...row(`i${i}`, 'right'),
    payload: { name: 'x'.repeat(length) },
  }));
  return { rows: [{ ...row('right', null) }, ...below] };
}

const replacing = { rootLookupStrategy: 'replaceSubtree', rootNodeId: 'right' };

/** Edits one node as fast as it can until it is stopped; every edit counts up by one. */
async function editUntil(tree: OpenTree, nodeId: string, isDone: () => boolean): Promise<number> {
  const tools = treeTools(tree, { agentId: 'fast', role: 'editor' });
  let edits = 0;
  for (let i = 0; !isDone(); i++) {
    const { version: versionToken, payload } = await ok(tools, 'get_node', { nodeId });
    const newValue = (payload.count ?? 0) + 1;
    const outcome = await tools.call('update_payload_property', {
      nodeId,
      propertyName: 'count',
      newValue,
      versionToken,
    });
    if (outcome.ok) edits++;
    if (i % 50 === 49) await new Promise((resolve) => setTimeout(resolve, 0)); // so that timers run at all
  }
  return edits;
}

describe('an import of 4,000 nodes', () => {
  it.each([[10, 'another instance'], [300, 'another instance'], [10, 'this instance'], [300, 'this instance']])(
    'finishes beside an editor that edits elsewhere all the time: names of %i, in %s',
    async (length, where) => {
      const { open } = start();
      const here = await open();
      const there = where === 'this instance' ? here : await open();
      const tools = editor(here);
      let isDone = false;
      const editing = [editUntil(there, 'l1', () => isDone), editUntil(there, 'left', () => isDone)];
      for (let i = 0; i < 3; i++) {
        await vi.waitFor(() => {
          for (const nodeId of ['l1', 'left']) expect(there.get(nodeId)?.payload['count']).toBeGreaterThan(i);
        });
        const { version: versionToken } = await ok(tools, 'get_node', { nodeId: 'n0' });
        const done = await ok(tools, 'import_view', { ...replacing, viewJson: document(length + i), versionToken });
        expect(done).toMatchObject({ imported: 4001, changed: true });
      }
      isDone = true;
      const edits = await Promise.all(editing);
      await Promise.all([here.refresh(), there.refresh()]);
      expect([here.get('l1')?.payload['count'], here.get('left')?.payload['count']]).toEqual(edits);
      expect(here.size).toBe(4004);
      expect([...there.rows()]).toEqual([...here.rows()]);
      expect([...(await open()).rows()]).toEqual([...here.rows()]);
    },
    60_000,
  );

  /** Another instance comes between the check of the import and its commit, once. */
  async function importBeside(change: (other: OpenTree) => Promise<unknown>) {
    const { storage, open } = start();
    const other = await open();
    let isArmed = false;
    const through: Storage = {
      ...storage,
      async commit(changes) {
        if (isArmed) {
          isArmed = false;
          await change(other);
        }
        return await storage.commit(changes);
      },
    };
    const here = await open(through);
    const tools = editor(here);
    const { version: versionToken } = await ok(tools, 'get_node', { nodeId: 'n0' });
    const input = { ...replacing, viewJson: document(10), versionToken, idempotencyKey: 'k' };
    isArmed = true;
    return { here, other, tools, input, outcome: await tools.call('import_view', input), open };
  }

  it.each<[string, Parameters<OpenTree['write']>[0]]>([
    ['an edit elsewhere', [{ kind: 'payload', nodeId: 'l1', payloadType: 'item', payload: { name: 'new' } }]],
    ['a move elsewhere', [{ kind: 'move', nodeId: 'l1', place: { parentId: 'n0', beforeId: null } }]],
    ['a removal elsewhere', [{ kind: 'remove', nodeId: 'left' }]],
    ['a new node elsewhere with an id of the import', [{
      kind: 'insert',
      rows: [row('i7', null)],
      place: { parentId: 'left', beforeId: null },
    }]],
  ])('is applied to the newer tree after %s', async (_what, ops) => {
    const { here, other, outcome, tools, input, open } = await importBeside((tree) => tree.write(ops));
    expect(outcome).toMatchObject({ ok: true, output: { imported: 4001 } });
    await other.refresh();
    expect([...other.rows()]).toEqual([...here.rows()]);
    expect(here.children('right', { limit: 5000 })).toHaveLength(4000);
    for (const again of [tools, editor(await open())]) {
      expect(await ok(again, 'import_view', input)).toMatchObject({ imported: 4001, replayed: true });
    }
  });

  it.each<[string, Parameters<OpenTree['write']>[0]]>([
    ['the removal of its root', [{ kind: 'remove', nodeId: 'right' }]],
    ['an edit of its root', [{ kind: 'payload', nodeId: 'right', payloadType: 'item', payload: { name: 'new' } }]],
    ['an edit in its subtree', [{ kind: 'payload', nodeId: 'r1', payloadType: 'item', payload: { name: 'new' } }]],
    ['a node that moved into its subtree', [{ kind: 'move', nodeId: 'l1', place: { parentId: 'r1', beforeId: null } }]],
    ['a node that moved out of its subtree', [{
      kind: 'move',
      nodeId: 'r1',
      place: { parentId: 'left', beforeId: null },
    }]],
    ['a new node in its subtree', [{
      kind: 'insert',
      rows: [row('new', null)],
      place: { parentId: 'right', beforeId: null },
    }]],
  ])('is a conflict after %s, and changes nothing', async (_what, ops) => {
    const { here, other, outcome } = await importBeside((tree) => tree.write(ops));
    expect(outcome).toMatchObject({ ok: false, error: { code: 'conflict', details: { reason: 'version_stale' } } });
    expect(!outcome.ok && outcome.error.changes).not.toEqual([]);
    expect([...here.rows()]).toEqual([...other.rows()]);
  });

  it('happens once when two instances get it under one idempotency key', async () => {
    const { open } = start();
    const trees = [await open(), await open()];
    const input = { ...replacing, viewJson: document(10), idempotencyKey: 'k' };
    const outcomes = await Promise.all(trees.map(async (tree) => {
      const tools = editor(tree);
      const { version: versionToken } = await ok(tools, 'get_node', { nodeId: 'n0' });
      return await ok(tools, 'import_view', { ...input, versionToken });
    }));
    expect(outcomes.filter(({ replayed }) => replayed === true)).toHaveLength(1);
    await Promise.all(trees.map((tree) => tree.refresh()));
    expect(trees.map(({ size }) => size)).toEqual([4004, 4004]);
  });

  it('needs a version token, and says conflict for one from before a change in its subtree', async () => {
    const { open } = start();
    const tree = await open();
    const tools = editor(tree);
    const { version: versionToken } = await ok(tools, 'get_node', { nodeId: 'n0' });
    const input = { ...replacing, viewJson: document(1) };
    expect(await fails(tools, 'import_view', input)).toMatchObject({ details: { reason: 'version_missing' } });
    await tree.write([{ kind: 'remove', nodeId: 'right' }]);
    expect(await fails(tools, 'import_view', { ...input, versionToken })).toMatchObject({ code: 'conflict' });
  });
});

describe('the turn of a writer', () => {
  it('that was killed holds up others only for a while', async () => {
    const { storage, open } = start();
    const tree = await open();
    await tick(tree, 'one');
    await storage.commit([{ key: ['tree', treeId, 'log', 2], value: { turn: true } }]);
    vi.useFakeTimers();
    try {
      const second = tick(tree, 'two').catch((error: unknown) => error);
      for (let i = 0; i < 300; i++) await vi.advanceTimersByTimeAsync(20);
      expect(await second).toMatchObject({ code: 'conflict' });
      await tick(tree, 'three');
      expect((await open()).get('l1')?.payload).toEqual({ name: 'three' });
    } finally {
      vi.useRealTimers();
    }
  });
});
