import { describe, expect, it } from 'vitest';
import { storageCatalog } from '../../../adapters/catalog/storage.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { PinnaceError } from '../../../src/errors.ts';
import type { Storage } from '../../../src/ports.ts';
import { createRuntime, type HostedRuntime, localPrincipal } from '../../../src/index.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { readAll, runRequest } from '../../fixtures/runtime.ts';
import { agent, mcpServer, provider, tool, tools } from './records.ts';

const conflict = { code: 'conflict', details: { reason: 'revision_mismatch' } };

describe('storageCatalog', () => {
  it('gives what was put, as its schema reads it, and undefined for what was not', async () => {
    const catalog = storageCatalog({ storage: memoryStorage() });
    expect(await catalog.put('agent', agent())).toMatchObject({ id: 'helper', state: 'active', revision: 1 });
    await catalog.put('provider', provider());
    await catalog.put('tool', tool());
    expect(await catalog.agent('helper')).toMatchObject({ id: 'helper', state: 'active', revision: 1 });
    expect(await catalog.provider('main')).toMatchObject({
      id: 'main',
      kind: 'rehearsal',
      state: 'active',
      revision: 1,
    });
    expect(await catalog.tool('add')).toMatchObject({ id: 'add', visibility: 'public', revision: 1 });
    await catalog.put('mcpServer', mcpServer());
    expect(await catalog.mcpServer?.('files')).toMatchObject({ alias: 'files', status: 'pending', revision: 1 });
    expect([await catalog.agent('main'), await catalog.provider('helper'), await catalog.tool('x')]).toEqual(
      [undefined, undefined, undefined],
    );
  });

  it('shows every instance over the same storage the same records, and has no source', async () => {
    const storage = memoryStorage();
    const [one, two] = [storageCatalog({ storage }), storageCatalog({ storage })];
    await one.put('agent', agent());
    expect(await two.agent('helper')).toEqual(await one.agent('helper'));
    expect(one.source).toBeUndefined();
  });

  it('keeps catalogs of other names apart', async () => {
    const storage = memoryStorage();
    const [one, two] = [storageCatalog({ storage, name: 'one' }), storageCatalog({ storage, name: 'two' })];
    await one.put('agent', agent({ name: 'One' }));
    await two.put('agent', agent({ name: 'Two' }));
    await two.remove('agent', 'helper');
    expect(await one.agent('helper')).toMatchObject({ name: 'One', revision: 1 });
    expect(await two.agent('helper')).toBeUndefined();
    expect(await storageCatalog({ storage }).agent('helper')).toBeUndefined();
  });

  it('counts the revision up with every write, whatever the author says, and never uses one again', async () => {
    const catalog = storageCatalog({ storage: memoryStorage() });
    expect((await catalog.put('agent', agent({ revision: 40 }))).revision).toBe(1);
    expect((await catalog.put('agent', agent({ revision: 1 }))).revision).toBe(2);
    await catalog.remove('agent', 'helper'); // the third
    expect((await catalog.put('agent', agent())).revision).toBe(4);
    expect((await catalog.put('agent', agent({ id: 'other' }))).revision).toBe(1);
  });

  it('writes only at the revision that the caller names', async () => {
    const catalog = storageCatalog({ storage: memoryStorage() });
    await expect(catalog.put('agent', agent(), { ifRevision: 1 })).rejects.toMatchObject(conflict);
    await catalog.put('agent', agent(), { ifRevision: null });
    await expect(catalog.put('agent', agent(), { ifRevision: null })).rejects.toMatchObject(conflict);
    await catalog.put('agent', agent({ name: 'Second' }), { ifRevision: 1 });
    await expect(catalog.put('agent', agent(), { ifRevision: 1 })).rejects.toMatchObject({ details: { revision: 2 } });
    await expect(catalog.remove('agent', 'helper', { ifRevision: 1 })).rejects.toMatchObject(conflict);
    expect(await catalog.agent('helper')).toMatchObject({ name: 'Second', revision: 2 });
    await catalog.remove('agent', 'helper', { ifRevision: 2 });
    expect(await catalog.agent('helper')).toBeUndefined();
  });

  it('lets one of many win who write at one revision, and all who do not care, one after the other', async () => {
    const storage = memoryStorage();
    const catalogs = Array.from({ length: 8 }, () => storageCatalog({ storage }));
    const races = await Promise.allSettled(
      catalogs.map((catalog) => catalog.put('agent', agent(), { ifRevision: null })),
    );
    expect(races.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const written = await Promise.all(catalogs.map((catalog) => catalog.put('agent', agent())));
    expect(written.map(({ revision }) => revision).toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('gives up on a record that others never stop writing', async () => {
    const storage = memoryStorage();
    const busy: Storage = {
      ...storage,
      commit: async (changes) => ({ ok: false, conflicts: changes.map(({ key }) => key) }),
    };
    await expect(storageCatalog({ storage: busy }).put('agent', agent())).rejects.toMatchObject({
      code: 'unavailable',
      retryable: true,
    });
  });

  it('refuses a record that breaks its schema, and keeps the one before', async () => {
    const catalog = storageCatalog({ storage: memoryStorage() });
    await catalog.put('tool', tool());
    const bad = { code: 'invalid_argument' };
    await expect(catalog.put('tool', tool({ paramsSchema: { type: 'nonsense' } }))).rejects.toMatchObject(bad);
    await expect(catalog.put('tool', tool({ surprise: 1 }))).rejects.toMatchObject(bad);
    await expect(catalog.put('agent', agent({ id: '../x' }))).rejects.toMatchObject(bad);
    await expect(catalog.put('provider', provider({ baseUrl: 'nowhere' }))).rejects.toMatchObject(bad);
    expect(await catalog.tool('add')).toMatchObject({ revision: 1 });
  });

  it('lists tools in the order of their ids, page by page, without those that were removed', async () => {
    const catalog = storageCatalog({ storage: memoryStorage() });
    for (const one of tools(7).toReversed()) await catalog.put('tool', one);
    await catalog.put('agent', agent());
    await catalog.remove('tool', 'tool_0003');
    const first = await catalog.listTools({ limit: 4 });
    const second = await catalog.listTools({ after: 'tool_0004', limit: 4 });
    expect([...first, ...second].map(({ id }) => id)).toEqual(
      ['tool_0000', 'tool_0001', 'tool_0002', 'tool_0004', 'tool_0005', 'tool_0006'],
    );
    expect(await catalog.listTools({ after: 'zzz', limit: 4 })).toEqual([]);
  });

  it('removes what is not there without leaving anything behind', async () => {
    const storage = memoryStorage();
    const catalog = storageCatalog({ storage });
    await catalog.remove('agent', 'nobody');
    expect(await storage.list({ prefix: [], limit: 10 })).toEqual([]);
  });

  it('tells of every write when it is stored, and is done when whoever hears it is', async () => {
    const heard: string[] = [];
    const storage = memoryStorage();
    const catalog = storageCatalog({
      storage,
      onChange: async (keys) => {
        const stored = await storageCatalog({ storage }).agent('helper');
        heard.push(`${keys.join()} ${stored?.revision}`);
      },
    });
    await catalog.put('agent', agent());
    await catalog.put('provider', provider());
    await catalog.put('tool', tool());
    await catalog.remove('agent', 'helper');
    expect(heard).toEqual(['agent:helper 1', 'provider:main 1', 'tools 1', 'agent:helper undefined']);
    await catalog.put('agent', agent({ id: '' })).catch(() => undefined);
    expect(heard).toHaveLength(4);
  });

  it('makes a runtime that hears of writes act on them with the next request', async () => {
    const storage = memoryStorage();
    const catalog = storageCatalog({ storage, onChange: (keys) => runtime.invalidate(keys) });
    const { model } = scriptedModel(says('Hello'));
    const runtime: HostedRuntime = createRuntime({ catalog, storage, models: { model: () => model } });
    const run = async () => await readAll(await runtime.run(runRequest(), localPrincipal()));
    await expect(run()).rejects.toMatchObject({ code: 'not_found' });
    await catalog.put('provider', provider());
    await catalog.put('agent', agent());
    expect((await run()).at(-1)).toMatchObject({ type: 'finish' });
    await catalog.put('agent', agent({ state: 'disabled' }));
    await expect(run()).rejects.toMatchObject({ code: 'forbidden' });
    await runtime.close();
  });

  it('rejects a write whose news cannot be told, though it is stored', async () => {
    const lost = new PinnaceError('unavailable', 'Cannot publish');
    const catalog = storageCatalog({ storage: memoryStorage(), onChange: () => Promise.reject(lost) });
    await expect(catalog.put('agent', agent())).rejects.toBe(lost);
    expect(await catalog.agent('helper')).toMatchObject({ revision: 1 });
  });

  it('lets go when the signal aborts', async () => {
    const waiting: Storage = {
      ...memoryStorage(),
      get: () => new Promise(() => undefined),
      list: () => new Promise(() => undefined),
    };
    const catalog = storageCatalog({ storage: waiting });
    const stop = new AbortController();
    const late = new PinnaceError('deadline_exceeded', 'too late');
    const calls = [
      catalog.agent('a', stop.signal),
      catalog.tool('a', stop.signal),
      catalog.listTools({ limit: 1 }, stop.signal),
    ];
    stop.abort(late);
    for (const call of calls) await expect(call).rejects.toBe(late);
  });
});
