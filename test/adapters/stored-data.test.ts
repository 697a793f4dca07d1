import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../adapters/storage/memory.ts';
import { checkStored, upgradeStored } from '../../adapters/upkeep/stored-data.ts';
import { createPrincipal, type Storage } from '../../src/index.ts';
import { scopes } from '../../src/base/principal.ts';
import { endpointOfEverything, fillEndpoint } from '../fixtures/every-route.ts';
import { says, scriptedModel } from '../fixtures/model.ts';
import { readAll, runRequest, testRuntime, userMessage } from '../fixtures/runtime.ts';
import { databases, inlineChat, type StoredDatabase } from '../fixtures/stored-databases.ts';

const step = 'inline files of stored chats become files';

async function entriesIn(storage: Storage) {
  return await storage.list({ prefix: [], limit: 1_000 });
}

describe.each(databases)('a database that version $version has written', (database: StoredDatabase) => {
  it('is checked: what it holds, which forms are older, and what an upgrade does; nothing is written', async () => {
    const storage = await database.fill(memoryStorage({ now: () => database.at }));
    const before = await entriesIn(storage);
    const progress: number[] = [];
    const found = await checkStored(storage, { onProgress: ({ entries }) => progress.push(entries) });
    expect(found).toMatchObject({ state: 'older', entries: before.length, unknown: 0 });
    expect(found.error).toBeUndefined();
    expect(Object.fromEntries(found.older.map(({ form, entries }) => [form, entries]))).toEqual(database.older);
    expect(progress.at(-1)).toBe(before.length);
    expect(await entriesIn(storage)).toEqual(before);
  });

  it('is upgraded once, and a repeat writes nothing', async () => {
    const storage = await database.fill(memoryStorage({ now: () => database.at }));
    const before = await entriesIn(storage);
    expect(await upgradeStored(storage, { now: () => database.at })).toMatchObject({ format: 3, written: {} });
    const after = await entriesIn(storage);
    expect(after.filter(({ key }) => key[0] !== 'format')).toEqual(before);
    expect(await checkStored(storage)).toMatchObject({ state: 'current', format: 3 });
    await upgradeStored(storage, { now: () => database.at });
    expect(await entriesIn(storage)).toEqual(after);
  });
});

describe('what this version writes', () => {
  it('is of kinds that the check knows, on an endpoint with everything, while a run is under way', async () => {
    const { storage, ...endpoint } = await endpointOfEverything({ a: { tenant: 'a', subject: 'ada' } });
    const unknown = new Set<string>();
    const commit: Storage['commit'] = async (changes) => {
      for (const { key } of changes) {
        const alone = memoryStorage();
        await alone.commit([{ key, value: {} }]);
        if ((await checkStored(alone)).unknown > 0) unknown.add(String(key[0]));
      }
      return await original(changes);
    };
    const original = storage.commit.bind(storage);
    Object.assign(storage, { commit });
    await fillEndpoint(endpoint);
    expect([...unknown]).toEqual([]);
  });
});

describe('the upgrade of stored data', () => {
  const ada = createPrincipal({ via: 'http', tenant: 'shop', subject: 'ada', agents: '*', scopes });
  const start = 1_800_000_000_000;

  it('makes files of what chats have inline, for the rest of their time', async () => {
    let now = start;
    const storage = memoryStorage({ now: () => now });
    await inlineChat(storage, start);
    expect((await checkStored(storage)).steps).toEqual([{ step, entries: 1 }]);
    expect((await upgradeStored(storage, { now: () => now })).written).toEqual({ [step]: 1 });
    expect((await checkStored(storage)).steps).toEqual([]);
    const { model, calls } = scriptedModel(says('A dot'));
    const runtime = testRuntime({ model, storage, now: () => now });
    const { messages } = await runtime.chats.get('old', ada);
    const url = (messages[0]?.parts[0] as { readonly url: string } | undefined)?.url ?? '';
    expect(url).toMatch(/^pinnace-blob:[0-9a-f]{64}$/);
    const request = runRequest({ chat: { id: 'old', messages: [userMessage('What is it?', 'm2')], store: true } });
    await readAll(await runtime.run(request, ada));
    expect(JSON.stringify(calls[0]?.prompt)).toContain('iVBORw0KGgo');
    now = start + 89 * 86_400_000;
    expect((await runtime.blobs.get(url.slice('pinnace-blob:'.length), ada)).mediaType).toBe('image/png');
    now = start + 91 * 86_400_000;
    await expect(runtime.blobs.get(url.slice('pinnace-blob:'.length), ada)).resolves.toBeDefined(); // it was used
    await expect(runtime.chats.get('old', ada)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('goes on after it was stopped, and leaves what others write meanwhile', async () => {
    const storage = memoryStorage({ now: () => start });
    for (let chat = 0; chat < 120; chat++) await inlineChat(storage, start, `chat-${chat}`);
    const stop = new AbortController();
    const stopping = upgradeStored(storage, {
      now: () => start,
      signal: stop.signal,
      onProgress: ({ entries }) => entries >= 200 && stop.abort(),
    });
    await expect(stopping).rejects.toMatchObject({ code: 'cancelled' });
    expect(await checkStored(storage)).toMatchObject({ state: 'older' });
    const left = (await checkStored(storage)).steps[0]?.entries ?? 0;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(120);
    expect((await upgradeStored(storage, { now: () => start })).written).toEqual({ [step]: left });
    expect(await checkStored(storage)).toMatchObject({ state: 'current', steps: [] });
  });

  it('does not touch data of a later version', async () => {
    const storage = memoryStorage();
    await storage.commit([{ key: ['format'], value: { format: 4, at: start } }, { key: ['holograms', 1], value: 1 }]);
    expect(await checkStored(storage)).toMatchObject({ state: 'newer', format: 4, unknown: 1 });
    await expect(upgradeStored(storage)).rejects.toMatchObject({ details: { reason: 'newer_format', format: 4 } });
  });

  it('says where data cannot be read, and how far it came', async () => {
    const storage = memoryStorage();
    for (let at = 0; at < 60; at++) await storage.commit([{ key: ['run', `run-${at}`], value: {} }]);
    let calls = 0;
    const list: Storage['list'] = (options) =>
      ++calls > 1 ? Promise.reject(new Error('damaged')) : storage.list(options);
    const found = await checkStored({ ...storage, list });
    expect(found).toMatchObject({ state: 'unreadable', entries: 50, error: { code: 'internal' } });
    expect(await checkStored(memoryStorage())).toMatchObject({ state: 'empty', entries: 0 });
  });

  it('knows its options', async () => {
    await expect(checkStored(memoryStorage(), { onprogress: () => {} } as never)).rejects.toThrow('use "onProgress"');
  });
});
