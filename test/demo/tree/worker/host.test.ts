import { describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import type { TreeNews } from '../../../../demo/control/tree-control.ts';
import { createTreeHost } from '../../../../demo/tree/worker/host.ts';
import { storedTrees } from '../../../../demo/tree/worker/stored-trees.ts';
import { countOf, manyYards, oneYard, yardRows, yardTypes } from '../../../../demo/tree/worker/yard.ts';
import { yardRoot } from '../../../../demo/tree/worker/yard-root.ts';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { createAudit, createTree, localPrincipal, PinnaceError, type Storage } from '../../../../src/index.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { testRuntime } from '../../../fixtures/runtime.ts';

const small = { yards: 1, jobs: 2, packages: 2, tasks: 3 };
const large = { yards: 3, jobs: 2, packages: 2, tasks: 3 };

async function openHost(storage = memoryStorage(), runtime?: Parameters<typeof createTreeHost>[0]['runtime']) {
  const host = createTreeHost({ storage, size: small, largeSize: large, ...(runtime && { runtime }) });
  const news: TreeNews[] = [];
  const status = await host.control.open((item) => news.push(item));
  const names = async (offset = 0, limit = 20) =>
    (await host.control.rows({ offset, limit })).rows.map(({ name }) => name);
  const version = async () => (await host.control.rows({ offset: 0, limit: 1 })).status.version;
  return { ...host, news, status, names, version };
}

describe('yardRows', () => {
  it('make a tree of some thousand nodes that fit their types, the same every time', () => {
    const rows = [...yardRows(oneYard)];
    expect(rows).toHaveLength(countOf(oneYard));
    expect(rows.length).toBeGreaterThan(3000);
    expect(createTree({ payloadTypes: yardTypes, rows }).rootId).toBe(yardRoot);
    expect([...yardRows(oneYard)]).toEqual(rows);
  });

  it('make a million and more', () => {
    expect(countOf(manyYards)).toBeGreaterThan(1_000_000);
    expect([...yardRows(large)]).toHaveLength(countOf(large));
  });
});

describe('createTreeHost', () => {
  it('says what helps when there is no room for a change, and goes on when there is', async () => {
    const stored = memoryStorage();
    let hasRoom = true;
    const full = new PinnaceError('unavailable', 'No room', { details: { reason: 'storage_full' } });
    const storage: Storage = {
      ...stored,
      commit: (changes) => hasRoom ? stored.commit(changes) : Promise.reject(full),
    };
    const runtime = testRuntime({ ...scriptedModel(says('')), audit: createAudit({ storage }) });
    const rename = async ({ control, version }: Awaited<ReturnType<typeof openHost>>) =>
      await control.change('update_payload_property', {
        nodeId: yardRoot,
        propertyName: 'name',
        newValue: 'Mine',
        versionToken: await version(),
      });
    const refused = { ok: false, error: { message: expect.stringContaining('free up space') } };
    const [unwritten, unstored] = [
      await openHost(memoryStorage(), () => runtime),
      await openHost({ ...stored, ...storage }),
    ];
    const before = await unwritten.names();
    hasRoom = false;
    expect(await rename(unwritten)).toMatchObject(refused); // it could not be written down
    expect(await rename(unstored)).toMatchObject({ ok: false, error: { message: 'No room' } }); // it could not be stored
    expect(await unwritten.names()).toEqual(before);
    expect(await unstored.names()).toEqual(before);
    hasRoom = true;
    expect(await rename(unwritten)).toMatchObject({ ok: true });
    expect(await rename(unstored)).toMatchObject({ ok: true });
  });

  it('gives the visible rows with their places, whichever page they are on', async () => {
    const { control, status } = await openHost();
    await control.setAll(yardRoot, true);
    const { rows: all } = await control.rows({ offset: 0, limit: status.size });
    expect(all).toHaveLength(status.size);
    const counts = new Map<string | null, number>();
    for (const row of all) {
      const position = counts.get(row.parentId) ?? 0;
      counts.set(row.parentId, position + 1);
      expect(row.position).toBe(position);
    }
    for (const row of all) expect(row.parentId === null || row.siblings === counts.get(row.parentId)).toBe(true);
    const { rows } = await control.rows({ offset: 41, limit: 17 });
    expect(rows).toEqual(all.slice(41, 58));
  });

  it('changes the tree for a person, reports the change, and undoes it', async () => {
    const { control, news, version, names } = await openHost();
    const before = await names();
    const outcome = await control.change('update_payload_property', {
      nodeId: yardRoot,
      propertyName: 'name',
      newValue: 'My yard',
      versionToken: await version(),
    });
    expect(outcome).toMatchObject({ ok: true });
    expect(news).toMatchObject([{ type: 'changed', activity: { by: 'you', text: 'Changed “My yard”' } }]);
    expect(await names()).not.toEqual(before);
    expect(await control.undo()).toMatchObject({ ok: true });
    expect(await names()).toEqual(before);
    expect(news[1]).toMatchObject({
      status: { undoable: undefined },
      activity: { text: expect.stringContaining('Undid') },
    });
    expect(await control.undo()).toMatchObject({ ok: false, error: { code: 'not_found' } });
  });

  it('writes into the audit what a person changes and takes back, and what the tree refuses', async () => {
    const audit = createAudit({ storage: memoryStorage() });
    const emitted = memorySink();
    const runtime = testRuntime({ ...scriptedModel(says('')), audit, sinks: [emitted.sink] });
    const { control, version } = await openHost(memoryStorage(), () => runtime);
    const rename = async (nodeId: string) =>
      await control.change('update_payload_property', {
        nodeId,
        propertyName: 'name',
        newValue: 'My yard',
        versionToken: await version(),
      });
    expect(await rename(yardRoot)).toMatchObject({ ok: true });
    expect(await control.undo()).toMatchObject({ ok: true });
    expect(await rename('nowhere')).toMatchObject({ ok: false, error: { code: 'not_found' } });
    const entries = (await audit.log('local').list()).items.map(({ event }) => event);
    const [rename1, undo, refused] = ['update_payload_property', 'undo', 'update_payload_property'].map((tool) =>
      `tree.${tool}`
    );
    expect(entries.map(({ action, status }) => `${action} ${status}`)).toEqual([
      `${rename1} pending`,
      `${rename1} ok`,
      `${undo} pending`,
      `${undo} ok`,
      `${refused} pending`,
      `${refused} error`,
    ]);
    expect(entries[0]).toMatchObject({
      actor: { type: 'user', id: localPrincipal().subject },
      target: { type: 'tree' },
    });
    expect(emitted.events.filter(({ action }) => action === undo).map(({ status }) => status)).toEqual([
      'pending',
      'ok',
    ]);
  });

  it('changes nothing that cannot be written down, and says so', async () => {
    const full: Storage = { ...memoryStorage(), commit: () => Promise.reject(new Error('disk full')) };
    const runtime = testRuntime({ ...scriptedModel(says('')), audit: createAudit({ storage: full }) });
    const { control, version, names } = await openHost(memoryStorage(), () => runtime);
    const before = await names();
    const input = { nodeId: yardRoot, propertyName: 'name', newValue: 'Mine', versionToken: await version() };
    expect(await control.change('update_payload_property', input)).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('cannot be recorded') },
    });
    expect(await names()).toEqual(before);
  });

  it('says of a removal where it was, and of several changes how many', async () => {
    const { call, news, version } = await openHost();
    await call('bosun', { tool: 'remove_node', input: { nodeId: 'n2', versionToken: await version() } });
    const operations = ['n1', yardRoot].map((nodeId) => ({
      tool: 'update_payload_property',
      nodeId,
      propertyName: 'note',
      newValue: 'See me',
    }));
    await call('bosun', { tool: 'batch', input: { operations, versionToken: await version() } });
    expect(news.map((item) => item.type === 'changed' && item.activity)).toMatchObject([
      { text: 'Removed 9 nodes from “Hull and structure”', nodeIds: ['n1'] },
      { text: 'Changed “Hull and structure” and 1 more', nodeIds: ['n1', yardRoot] },
    ]);
  });

  it('lets a newer search end the one before', async () => {
    const { control } = await openHost();
    const [older, newer] = await Promise.all([control.search('rudder', 50), control.search('anchor', 50)]);
    expect(older.found).toEqual([]);
    expect(newer.found.length).toBeGreaterThan(0);
  });

  it('goes to the next row that starts with the letters, and around the end', async () => {
    const { control, names } = await openHost();
    const rows = await names();
    const at = rows.indexOf('Propulsion');
    expect(await control.typeAhead('pro', 0)).toBe(at);
    expect(await control.typeAhead('p', at)).toBe(rows.indexOf('Paint and finish'));
    expect(await control.typeAhead('Hull', at)).toBe(rows.indexOf('Hull and structure'));
    expect(await control.typeAhead('xyz', 0)).toBe(-1);
  });

  it('keeps what was changed over a reload, and takes over what another tab changes', async () => {
    const storage = memoryStorage();
    const [here, there] = [await openHost(storage), await openHost(storage)];
    await here.control.change('remove_node', { nodeId: 'n1', versionToken: await here.version() });
    await vi.waitFor(() => expect(there.news).toMatchObject([{ activity: { by: 'elsewhere' } }]));
    expect(await there.names()).toEqual(await here.names());
    expect(await (await openHost(storage)).names()).toEqual(await here.names());
  });

  it('works without a storage, and says so', async () => {
    const broken = memoryStorage();
    const storage = { ...broken, get: () => Promise.reject(new PinnaceError('unavailable', 'No storage here')) };
    const { status } = await openHost(storage);
    expect(status).toMatchObject({ kind: 'unstored', size: countOf(small) });
  });
});

describe('storedTrees', () => {
  it('gives each tenant a tree of its own, which all instances share', async () => {
    const storage = memoryStorage();
    const [one, other] = [storedTrees(storage, 'bosun'), storedTrees(storage, 'bosun')];
    const look = { tool: 'get_node', input: { nodeId: yardRoot } };
    const before = await one('acme', look);
    await other('acme', look);
    const input = {
      nodeId: yardRoot,
      propertyName: 'name',
      newValue: 'Acme',
      versionToken: before.ok ? before.output.version : '',
    };
    expect(await one('acme', { tool: 'update_payload_property', input })).toMatchObject({ ok: true });
    expect(await other('acme', look)).toMatchObject({ output: { payload: { name: 'Acme' } } });
    expect(await one('bolt', look)).toMatchObject({ output: { payload: { name: 'Northquay Yard' } } });
  });
});
