import 'fake-indexeddb/auto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { indexedDbStorage } from '../../../adapters/storage/indexeddb.ts';
import { formatOf, type Place, places, type Step, storageFormat, upgrade } from '../../../demo/storage/formats.ts';
import { openStorage } from '../../../demo/storage/open-storage.ts';
import { createChatStore } from '../../../demo/chat/store/chat-store.ts';
import { createNotes } from '../../../demo/storage/notes.ts';
import type { Change } from '../../../src/contracts/storage.ts';

const fixture = (name: string): Promise<string> =>
  readFile(join(import.meta.dirname, '../../fixtures/kept', name), 'utf8');

/** Steps of places that have none yet. */
function stepsOf(given: Partial<Record<Place, readonly Step[]>>): Record<Place, readonly Step[]> {
  return { pinnace: [], 'pinnace-playground': [], 'pinnace-runs': [], settings: [], ...given };
}

const rename: Step = { kind: 'agent', change: (value) => ({ name: (value as { readonly title: string }).title }) };
const shout: Step = {
  kind: 'agent',
  change: (value) => ({ name: (value as { readonly name: string }).name.toUpperCase() }),
};

describe('upgrade', () => {
  const steps = stepsOf({ pinnace: [rename, { kind: 'tree', change: () => 'felled' }, shout] });

  it('takes every step behind the format of the entry, and only those about its kind', () => {
    expect(upgrade('pinnace', { key: ['agent', 'a'], value: { title: 'mate' } }, 1, steps)).toEqual({ name: 'MATE' });
    expect(upgrade('pinnace', { key: ['agent', 'a'], value: { name: 'mate' } }, 2, steps)).toEqual({ name: 'MATE' });
    expect(upgrade('pinnace', { key: ['agent', 'a'], value: { name: 'mate' } }, 4, steps)).toEqual({ name: 'mate' });
    expect(upgrade('pinnace', { key: ['tree', 't'], value: 'oak' }, 1, steps)).toBe('felled');
    expect(upgrade('pinnace', { key: ['notes', 'n'], value: 'kept' }, 1, steps)).toBe('kept');
    expect(formatOf('pinnace', steps)).toBe(4);
  });
});

describe('what an earlier version of the page has stored', () => {
  it('is read: chats of the first format, with a call that can no longer be decided on', async () => {
    const first = indexedDbStorage({ name: 'pinnace-playground' });
    await first.commit(JSON.parse(await fixture('chats-1.json')) as Change[]);
    await first.close();
    const storage = openStorage('pinnace-playground');
    const chatStore = createChatStore(storage);
    expect(await chatStore.heads()).toMatchObject([{ id: 'c', agentId: 'logbook', title: 'What is 6 * 7?' }]);
    const messages = await chatStore.messages('c');
    expect(messages).toMatchObject([
      { id: 'q1', text: 'What is 6 * 7?' },
      {
        id: 'a1',
        parts: { value: [{}, { call: { value: { output: { result: 42 } } } }, { text: { value: 'It is 42.' } }] },
      },
      { id: 'q2' },
      { id: 'a2', parts: { value: [{ call: { value: { state: 'undecided', name: 'notes_delete' } } }] } },
    ]);
    expect(chatStore.unreadable.value).toBe(0);
    await storage.close();
  });

  it.each(places.filter((place) => place !== 'settings'))('is left as it is by an older page: %s', async (place) => {
    const name = `${place}-from-the-future`;
    const newer = indexedDbStorage({ name, format: { version: 9, upgrade: ({ value }) => value } });
    await newer.commit([{ key: ['chat', 'c'], value: 'of another form' }]);
    const older = indexedDbStorage({ name, format: storageFormat(place) });
    const refused = { code: 'unavailable', details: { reason: 'storage_newer' } };
    await expect(older.get(['chat', 'c'])).rejects.toMatchObject(refused);
    await expect(older.commit([{ key: ['chat', 'c'], value: 'lost' }])).rejects.toMatchObject(refused);
    expect((await newer.get(['chat', 'c']))?.value).toBe('of another form');
    await Promise.all([newer.close(), older.close()]);
  });
});

describe('createNotes', () => {
  const format = (version: number) => ({ version, upgrade: () => 'brought up' });
  const over = (texts: Map<string, string>, version: number) =>
    createNotes(() => ({
      getItem: (key) => texts.get(key) ?? null,
      setItem: (key, value) => void texts.set(key, value),
      removeItem: (key) => void texts.delete(key),
    }), { format: format(version), names: ['theme'] });

  it('brings settings to the format of now, once', () => {
    const texts = new Map([['pinnace.theme', '"dark"'], ['pinnace.tour', '"seen"']]);
    expect(over(texts, 2).read('theme', v.string())).toBe('brought up');
    expect(texts.get('pinnace.tour')).toBe('"seen"');
    expect(texts.get('pinnace.format')).toBe('2');
    over(texts, 2).write('theme', 'light');
    expect(over(texts, 2).read('theme', v.string())).toBe('light');
  });

  it('neither reads nor writes what a newer version has written', () => {
    const texts = new Map([['pinnace.theme', '{"hue": 7}'], ['pinnace.format', '3']]);
    const notes = over(texts, 2);
    expect(notes.read('theme', v.unknown())).toBeUndefined();
    notes.write('theme', 'dark');
    expect(texts.get('pinnace.theme')).toBe('{"hue": 7}');
  });
});
