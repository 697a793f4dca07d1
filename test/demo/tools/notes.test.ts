import { beforeEach, describe, expect, it } from 'vitest';
import { asTenant, createNotebook, idsOf, type Notebook } from '../../fixtures/notebook.ts';

/** As a call is made that a person approved. */
const approved = { approved: true };

let notes: Notebook;

beforeEach(() => {
  notes = createNotebook();
});

describe('notes_list', () => {
  it('lists nothing when there is nothing', async () => {
    expect(await notes.call('notes_list')).toEqual({ notes: [], total: 0 });
  });

  it('gives page after page until all are listed', async () => {
    await notes.addAll(...Array.from({ length: 12 }, (_, i) => `note ${i}`));
    const seen: string[] = [];
    let pageToken: unknown;
    do {
      const page = await notes.call('notes_list', { limit: 5, ...(pageToken !== undefined && { pageToken }) });
      seen.push(...idsOf(page));
      pageToken = page['nextPageToken'];
    } while (pageToken !== undefined);
    expect(seen).toEqual(Array.from({ length: 12 }, (_, i) => `note-${12 - i}`));
  });

  it('gives no token when the last page is full', async () => {
    await notes.addAll('a', 'b');
    expect(await notes.call('notes_list', { limit: 2 })).not.toHaveProperty('nextPageToken');
  });

  it('goes on behind a note that was deleted meanwhile', async () => {
    await notes.addAll('a', 'b', 'c');
    const { nextPageToken: pageToken } = await notes.call('notes_list', { limit: 2 });
    await notes.call('notes_delete', { noteId: String(pageToken) }, approved);
    expect(idsOf(await notes.call('notes_list', { pageToken }))).toEqual(['note-1']);
  });

  it.each([{ limit: 0 }, { limit: 51 }, { limit: 1.5 }, { pageToken: 'next' }, { pageToken: '' }, { page: 2 }])(
    'refuses %j',
    async (input) => {
      expect(await notes.call('notes_list', input)).toMatchObject({ code: 'invalid_argument' });
    },
  );
});

describe('notes_search', () => {
  it('finds words of titles, and text without spaces', async () => {
    await notes.call('notes_add', { title: 'Anchor', text: 'check the chain' });
    await notes.addAll('明日は東京に行く');
    expect(idsOf(await notes.call('notes_search', { query: 'anchor chain' }))).toEqual(['note-1']);
    expect(idsOf(await notes.call('notes_search', { query: '東京' }))).toEqual(['note-2']);
  });

  it('shows the place that fits', async () => {
    await notes.addAll(`first line\n${'x '.repeat(100)}the anchor is here${' y'.repeat(100)}`);
    const { notes: found } = await notes.call('notes_search', { query: 'anchor' }) as { notes: { preview: string }[] };
    expect(found[0]?.preview).toMatch(/^….*the anchor is here.*…$/);
  });

  it('stops at the limit', async () => {
    await notes.addAll('egg 1', 'egg 2', 'egg 3');
    expect(idsOf(await notes.call('notes_search', { query: 'egg', limit: 2 }))).toEqual(['note-3', 'note-2']);
  });

  it('finds the oldest of many notes', async () => {
    await notes.addAll('the anchor', ...Array.from({ length: 230 }, (_, i) => `note ${i}`));
    expect(idsOf(await notes.call('notes_search', { query: 'anchor' }))).toEqual(['note-1']);
  });

  it('takes every character for itself', async () => {
    await notes.addAll('50% (half) of .*');
    expect(idsOf(await notes.call('notes_search', { query: '.* (half)' }))).toEqual(['note-1']);
    expect(idsOf(await notes.call('notes_search', { query: '[a-z]' }))).toEqual([]);
  });
});

describe('notes_read and notes_delete', () => {
  it('delete nothing that no person approved', async () => {
    await notes.addAll('Eggs');
    expect(await notes.call('notes_delete', { noteId: 'note-1' })).toMatchObject({ code: 'approval_required' });
    expect(await notes.call('notes_read', { noteId: 'note-1' })).toMatchObject({ text: 'Eggs' });
  });

  it.each(['', 'note-', 'note-0', 'note--1', 'note-1.5', '../note-1', '__proto__', 'note-9999999999'])(
    'refuse the id %j',
    async (noteId) => {
      expect(await notes.call('notes_read', { noteId })).toMatchObject({ code: 'invalid_argument' });
      expect(await notes.call('notes_delete', { noteId }, approved)).toMatchObject({ code: 'invalid_argument' });
    },
  );

  it('delete that note and no other, and never give its number again', async () => {
    await notes.addAll('a', 'b', 'c');
    await notes.call('notes_delete', { noteId: 'note-3' }, approved);
    expect(await notes.call('notes_read', { noteId: 'note-3' })).toMatchObject({ code: 'not_found' });
    expect(await notes.call('notes_list')).toMatchObject({ total: 2 });
    expect(await notes.call('notes_add', { text: 'd' })).toMatchObject({ noteId: 'note-4' });
    expect(idsOf(await notes.call('notes_list'))).toEqual(['note-4', 'note-2', 'note-1']);
  });

  it('delete once when two delete at once', async () => {
    await notes.addAll('a', 'b');
    const outcomes = await Promise.all([1, 2].map(() => notes.call('notes_delete', { noteId: 'note-1' }, approved)));
    expect(outcomes.filter(({ deleted }) => deleted === true)).toHaveLength(1);
    expect(await notes.call('notes_list')).toMatchObject({ total: 1, notes: { length: 1 } });
  });
});

describe('notesTools', () => {
  it('keeps the notes of tenants apart', async () => {
    await notes.call('notes_add', { text: 'mine' }, asTenant('one'));
    expect(await notes.call('notes_list', {}, asTenant('two'))).toEqual({ notes: [], total: 0 });
    expect(await notes.call('notes_read', { noteId: 'note-1' }, asTenant('two'))).toMatchObject({ code: 'not_found' });
    expect(await notes.call('notes_delete', { noteId: 'note-1' }, { ...asTenant('two'), ...approved })).toMatchObject({
      code: 'not_found',
    });
    expect(idsOf(await notes.call('notes_search', { query: 'mine' }, asTenant('two')))).toEqual([]);
    expect(await notes.call('notes_read', { noteId: 'note-1' }, asTenant('one'))).toMatchObject({ text: 'mine' });
  });

  it('separates them also where the name of one is a prefix of the other', async () => {
    await notes.call('notes_add', { text: 'mine' }, asTenant('one'));
    for (const tenant of ['on', 'one ', 'one/note', 'o']) {
      expect(await notes.call('notes_list', {}, asTenant(tenant))).toEqual({ notes: [], total: 0 });
    }
  });

  it('finds the notes again in the same storage', async () => {
    await notes.addAll('Eggs');
    notes = createNotebook(notes.storage);
    expect(await notes.call('notes_read', { noteId: 'note-1' })).toMatchObject({ text: 'Eggs' });
  });
});
