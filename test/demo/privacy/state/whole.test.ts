import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import {
  exportWhole,
  importWhole,
  lookAtWhole,
  parseWhole,
  type WholeOptions,
} from '../../../../demo/privacy/state/whole.ts';
import { PinnaceError } from '../../../../src/base/errors.ts';
import type { CatalogExport, ImportReport } from '../../../../src/registry/index.ts';
import type { Change, Storage } from '../../../../src/contracts/storage.ts';

interface Device extends WholeOptions {
  readonly stored: (database: string) => Storage;
  readonly notes: Record<string, unknown>;
  readonly log: string[];
}

const report: ImportReport = { dryRun: true, created: 1, updated: 0, unchanged: 2, commits: 1, changes: [] };

function device(notes: Record<string, unknown> = {}, wrap = (storage: Storage): Storage => storage): Device {
  const storages = new Map<string, Storage>();
  const log: string[] = [];
  const storageOf = (database: string): Storage => {
    const storage = storages.get(database) ?? wrap(memoryStorage());
    storages.set(database, storage);
    return storage;
  };
  return {
    storageOf,
    stored: storageOf,
    notes,
    log,
    settings: { all: () => notes, write: (name, value) => void (notes[name] = value) },
    registry: {
      exportAll: () => Promise.resolve({ ok: true, value: { format: 'pinnace-catalog' } as unknown as CatalogExport }),
      importAll(_, dryRun) {
        log.push(dryRun ? 'look at the catalogue' : 'import the catalogue');
        return Promise.resolve({ ok: true, value: report });
      },
    },
    quiet: () => Promise.resolve(void log.push('quiet')),
    now: () => new Date(0),
  };
}

const put = (at: Device, database: string, changes: readonly Change[]) => at.stored(database).commit(changes);
const valueAt = async (at: Device, database: string, key: Change['key']) => (await at.stored(database).get(key))?.value;
const textOf = async (from: Device): Promise<string> => JSON.stringify(await exportWhole(from));
const chat = (id: string, text: string): Change[] => [
  { key: ['chat', id], value: { id, title: text } },
  { key: ['message', id, 0], value: { text } },
];

async function filled(): Promise<Device> {
  const from = device({ theme: 'dark' });
  await put(from, 'pinnace-playground', [...chat('a', 'first'), ...chat('b', 'second')]);
  await put(from, 'pinnace', [
    { key: ['tree', 'yard', 0], value: new Uint8Array([1, 2]) },
    { key: ['tree', 'yard', 1], value: ['leaf'] },
    { key: ['cache', 'secrets', 'x'], value: 'of no use elsewhere' },
  ]);
  return from;
}

describe('everything of a page', () => {
  it('goes to another device as it was', async () => {
    const to = device();
    await importWhole(parseWhole(await textOf(await filled())), to);
    expect(await valueAt(to, 'pinnace-playground', ['message', 'b', 0])).toEqual({ text: 'second' });
    expect(await valueAt(to, 'pinnace', ['tree', 'yard', 0])).toEqual(new Uint8Array([1, 2]));
    expect(to.notes).toEqual({ theme: 'dark' });
    expect(to.log).toEqual(['import the catalogue', 'quiet']); // all writers have stopped when the databases are written
  });

  it('takes nothing along but what is meant to be', async () => {
    expect(await textOf(await filled())).not.toContain('of no use');
  });

  it('reports what would change, and changes nothing', async () => {
    const to = device({ theme: 'light' });
    await put(to, 'pinnace-playground', [...chat('a', 'first'), ...chat('b', 'changed'), ...chat('c', 'own')]);
    await put(to, 'pinnace', [{ key: ['tree', 'yard', 1], value: ['leaf'] }, { key: ['tree', 'yard', 2], value: 1 }]);
    const before = await textOf(to);
    const look = await lookAtWhole(parseWhole(await textOf(await filled())), to);
    expect(look.rooms.filter(({ title }) => title === 'Chats' || title === 'Tree')).toEqual([
      { title: 'Chats', added: 0, replaced: 1, same: 1, kept: 1, removed: 0 },
      { title: 'Tree', added: 1, replaced: 0, same: 1, kept: 0, removed: 1 },
    ]);
    expect(look.settings).toEqual([{ name: 'theme', value: 'dark' }]);
    expect(look.catalog).toBe(report);
    expect(await textOf(to)).toBe(before);
    expect(to.log).toEqual(['look at the catalogue']);
  });

  it('replaces a chat as a whole, keeps other chats, and puts one tree in the place of the other', async () => {
    const to = device();
    await put(to, 'pinnace-playground', [
      ...chat('b', 'changed'),
      { key: ['message', 'b', 1], value: { text: 'longer' } },
      ...chat('c', 'own'),
    ]);
    await put(to, 'pinnace', [{ key: ['tree', 'yard', 9], value: 1 }, { key: ['cache', 'x'], value: 1 }]);
    await importWhole(parseWhole(await textOf(await filled())), to);
    expect(await valueAt(to, 'pinnace-playground', ['message', 'b', 1])).toBeUndefined();
    expect(await valueAt(to, 'pinnace-playground', ['message', 'c', 0])).toEqual({ text: 'own' });
    expect(await valueAt(to, 'pinnace', ['tree', 'yard', 9])).toBeUndefined();
    expect(await valueAt(to, 'pinnace', ['cache', 'x'])).toBe(1);
  });

  it('writes to no place that is not exported either', async () => {
    const whole = JSON.parse(await textOf(await filled())) as { rooms: Record<string, unknown[]> };
    whole.rooms['tree']?.push([['plan-due', 'x'], 1]);
    whole.rooms['vault'] = [[['keys', 'x'], 1]];
    const to = device();
    await importWhole(parseWhole(JSON.stringify(whole)), to);
    expect(await valueAt(to, 'pinnace', ['plan-due', 'x'])).toBeUndefined();
    expect(await valueAt(to, 'pinnace', ['keys', 'x'])).toBeUndefined();
  });

  it('leaves a room as it was where the disk is full', async () => {
    let writes = Infinity;
    const full = new PinnaceError('unavailable', 'Full', { details: { reason: 'storage_full' } });
    const to = device({}, (storage) => ({
      get: (key) => storage.get(key),
      list: (options) => storage.list(options),
      commit: (changes) => {
        const isFull = writes-- === 0;
        return isFull ? Promise.reject(full) : storage.commit(changes);
      },
    }));
    const old = Array.from({ length: 120 }, (_, i): Change => ({ key: ['tree', 'yard', i], value: 'old' }));
    for (let i = 0; i < old.length; i += 60) await put(to, 'pinnace', old.slice(i, i + 60));
    writes = 1;
    const from = device();
    await put(
      from,
      'pinnace',
      Array.from({ length: 90 }, (_, i): Change => ({ key: ['tree', 'yard', i], value: 'new' })),
    );
    await expect(importWhole(parseWhole(await textOf(from)), to)).rejects.toBe(full);
    const now = await to.stored('pinnace').list({ prefix: ['tree'], limit: 1000 });
    expect(now.map(({ value }) => value)).toEqual(Array.from({ length: 120 }, () => 'old'));
  });

  it.each([
    ['{', 'not JSON'],
    ['{}', 'not exported from this page'],
    ['{"format": "pinnace-catalog", "formatVersion": 1}', 'not exported from this page'],
    ['{"format": "pinnace-page", "formatVersion": 3}', 'newer version'],
  ])('refuses %s: %s', (text, why) => {
    expect(() => parseWhole(text)).toThrow(why);
  });

  it('refuses values that it does not know before anything is written', async () => {
    const whole = JSON.parse(await textOf(await filled())) as { rooms: Record<string, unknown[]> };
    whole.rooms['tree']?.push([['tree', 'yard', 7], { $: 'code' }]);
    const to = device();
    await expect(importWhole(parseWhole(JSON.stringify(whole)), to)).rejects.toThrow('cannot be read');
    expect(to.log).toEqual([]);
  });
});
