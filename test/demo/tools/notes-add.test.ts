import { beforeEach, describe, expect, it } from 'vitest';
import { mostNotes } from '../../../demo/tools/note-store.ts';
import { createNotebook, type Notebook } from '../../fixtures/notebook.ts';

/** As a call is made that a person approved. */
const approved = { approved: true };

let notes: Notebook;

beforeEach(() => {
  notes = createNotebook();
});

describe('notes_add', () => {
  it.each([
    ['Two eggs', 'Two eggs'],
    ['\n  Eggs\nMilk', 'Eggs'],
    ['x'.repeat(100), `${'x'.repeat(59)}…`],
    ['🥚'.repeat(100), `${'🥚'.repeat(59)}…`],
    ['   ', 'Untitled'],
  ])('makes of %j a title', async (text, title) => {
    expect(await notes.call('notes_add', { text })).toMatchObject({ title });
  });

  it.each(['Eggs', '', 'note-', '__proto__'])('continues no note %j', async (noteId) => {
    expect(await notes.call('notes_add', { text: 'Milk', noteId })).toMatchObject({
      code: 'invalid_argument',
      message: 'Cannot read "noteId": it must be like "note-3"',
    });
  });

  it('continues no note that is not there', async () => {
    expect(await notes.call('notes_add', { text: 'Milk', noteId: 'note-7' })).toMatchObject({ code: 'not_found' });
  });

  it('bounds the text of a note', async () => {
    expect(await notes.call('notes_add', { text: 'x'.repeat(10_001) })).toMatchObject({ code: 'invalid_argument' });
    const text = 'x'.repeat(10_000);
    await notes.addAll(text);
    for (let i = 0; i < 3; i++) await notes.call('notes_add', { text, noteId: 'note-1' });
    expect(await notes.call('notes_add', { text, noteId: 'note-1' })).toMatchObject({
      code: 'budget_exceeded',
      details: { reason: 'note_too_long' },
    });
  });

  it('bounds the number of notes', async () => {
    await notes.storage.commit([{ key: ['notes', 'local', 'tally'], value: { last: 5_000, count: mostNotes - 1 } }]);
    expect(await notes.call('notes_add', { text: 'the last' })).toMatchObject({ noteId: 'note-5001' });
    expect(await notes.call('notes_add', { text: 'one more' })).toMatchObject({
      code: 'budget_exceeded',
      details: { reason: 'too_many_notes' },
    });
    await notes.call('notes_delete', { noteId: 'note-5001' }, approved);
    expect(await notes.call('notes_add', { text: 'one more' })).toMatchObject({ noteId: 'note-5002' });
  });

  it('loses nothing when many write at once', async () => {
    const added = await Promise.all(
      Array.from({ length: 20 }, (_, i) => notes.call('notes_add', { text: `note ${i}` })),
    );
    expect(new Set(added.map(({ noteId }) => noteId)).size).toBe(20);
    expect(await notes.call('notes_list', { limit: 50 })).toMatchObject({ total: 20, notes: { length: 20 } });
  });

  it('loses nothing when many continue one note at once', async () => {
    await notes.addAll('start');
    const words = Array.from({ length: 10 }, (_, i) => `<${i}>`);
    await Promise.all(words.map((text) => notes.call('notes_add', { text, noteId: 'note-1' })));
    const { text } = await notes.call('notes_read', { noteId: 'note-1' });
    expect(words.filter((word) => String(text).includes(word))).toEqual(words);
  });

  it('gives up when others never stop writing', async () => {
    notes = createNotebook({ ...notes.storage, commit: async () => ({ ok: false, conflicts: [] }) });
    expect(await notes.call('notes_add', { text: 'Eggs' })).toMatchObject({ code: 'conflict', retryable: true });
  });
});
