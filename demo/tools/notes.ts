/** The tools that keep notes. */

import * as v from 'valibot';
import { defineTool, PinnaceError, type Storage, type Tool, type ToolContext } from '../../src/index.ts';
import { createNoteStore, type Note, type NoteStore } from './note-store.ts';

/** Options of {@link notesTools}. */
interface NotesOptions {
  readonly now?: () => number;
}

type Notes = (context: Pick<ToolContext, 'principal'>) => NoteStore;

/** Returns the tools `notes_add`, `notes_list`, `notes_search`, `notes_read` and `notes_delete` over one storage. */
export function notesTools(storage: Storage, { now = Date.now }: NotesOptions = {}): Tool[] {
  const notes: Notes = ({ principal: { tenant } }) => createNoteStore(storage, { tenant, now });
  return [addTool(notes), listTool(notes), searchTool(notes), readTool(notes), deleteTool(notes)];
}

const category = 'notes';
const NoteId = v.pipe(
  v.string(),
  v.regex(/^(note-)?[1-9]\d{0,8}$/, 'must be like note-3'),
  v.description('The id of the note, such as note-3'),
  v.examples(['note-1']),
);

function limitOf(fallback: number) {
  const range = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(50));
  return v.optional(v.pipe(range, v.description('How many notes at most')), fallback);
}

function addTool(notes: Notes): Tool {
  return defineTool({
    id: 'notes_add',
    title: 'Add a note',
    description:
      'Writes down and keeps a note: something to remember, an idea, a list, a log entry. Adds a new note, or with ' +
      '`noteId` a paragraph to the note that has this id.',
    category,
    keywords: ['remember', 'save', 'write', 'memo', 'log', 'store', 'jot'],
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    input: v.strictObject({
      text: v.pipe(v.string(), v.minLength(1), v.maxLength(10_000), v.description('The text to write down')),
      title: v.optional(
        v.pipe(v.string(), v.minLength(1), v.maxLength(200), v.description('Left out: the first line')),
      ),
      noteId: v.optional(v.pipe(
        v.string(),
        v.maxLength(32),
        v.description('The id of a note to continue, such as note-3. Left out: a new note'),
      )),
    }),
    async execute({ text, title = titleOf(text), noteId }, context) {
      const store = notes(context);
      return whole(await (noteId === undefined ? store.add({ title, text }) : store.append(numberOf(noteId), text)));
    },
    undo: {
      describe: ({ text, title = titleOf(text) }) => ({ quote: title }),
      async execute({ noteId }, output, context) {
        if (noteId !== undefined) throw paragraphStays(noteId);
        await notes(context).delete(numberOf((output as { readonly noteId: string }).noteId)); // as `whole` returns it
      },
    },
  });
}

function listTool(notes: Notes): Tool {
  return defineTool({
    id: 'notes_list',
    title: 'List notes',
    description: 'Lists all stored notes, newest first, with ids, titles and the start of the text.',
    category,
    keywords: ['all', 'overview', 'show', 'recent', 'logbook'],
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    input: v.strictObject({
      limit: limitOf(20),
      pageToken: v.optional(
        v.pipe(
          v.string(),
          v.minLength(1),
          v.maxLength(32),
          v.description('The nextPageToken of the listing to continue'),
        ),
      ),
    }),
    async execute({ limit, pageToken }, context) {
      const store = notes(context);
      const before = pageToken === undefined ? undefined : numberOf(pageToken, 'pageToken');
      const found = await store.list({ before, limit: limit + 1 });
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return { notes: page.map(brief), total: await store.count(), ...(last && { nextPageToken: idOf(last) }) };
    },
  });
}

function searchTool(notes: Notes): Tool {
  return defineTool({
    id: 'notes_search',
    title: 'Search notes',
    description: 'Searches the notes and finds those in which all words of the query occur, the newest first.',
    category,
    keywords: ['find', 'look up', 'about', 'where', 'which'],
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    input: v.strictObject({
      query: v.pipe(v.string(), v.minLength(1), v.maxLength(200), v.description('Words to search for, in any order')),
      limit: limitOf(10),
    }),
    async execute({ query, limit }, context) {
      const found = await searchNotes(notes(context), { query, limit, signal: context.signal });
      return { query, notes: found.map(({ note, excerpt }) => ({ ...brief(note), preview: excerpt })) };
    },
  });
}

function readTool(notes: Notes): Tool {
  return defineTool({
    id: 'notes_read',
    title: 'Read a note',
    description: 'Reads one note in full, by its id.',
    category,
    keywords: ['open', 'show', 'view', 'whole'],
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    input: v.strictObject({ noteId: NoteId }),
    execute: async ({ noteId }, context) => whole(await notes(context).read(numberOf(noteId))),
  });
}

function deleteTool(notes: Notes): Tool {
  return defineTool({
    id: 'notes_delete',
    title: 'Delete a note',
    description: 'Deletes one note for good, by its id. A deleted note cannot be brought back.',
    category,
    keywords: ['remove', 'erase', 'forget', 'discard'],
    approval: 'mutating',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    input: v.strictObject({ noteId: NoteId }),
    async describe({ noteId }, context) {
      const { title, text } = await notes(context).read(numberOf(noteId));
      return { quote: title, changes: text === title ? [] : [{ label: 'Text', before: text, after: null }] };
    },
    async execute({ noteId }, context) {
      const number = numberOf(noteId);
      await notes(context).delete(number);
      return { noteId: idOf({ number }), deleted: true };
    },
  });
}

function idOf({ number }: Pick<Note, 'number'>): string {
  return `note-${number}`;
}

/** Reads `note-3` and `3` alike. */
function numberOf(noteId: string, field = 'noteId'): number {
  const digits = /^(?:note-)?([1-9]\d{0,8})$/.exec(noteId)?.[1];
  if (digits !== undefined) return Number(digits);
  throw new PinnaceError('invalid_argument', `Cannot read "${field}": it must be like "note-3"`);
}

function paragraphStays(noteId: string): PinnaceError {
  return new PinnaceError('conflict', `Cannot remove a paragraph from "${noteId}": delete the note, or write it anew`);
}

function titleOf(text: string): string {
  return shorten(text.trim().split('\n')[0] ?? '', 60) || 'Untitled';
}

function brief(note: Note): Record<string, string> {
  const { title, text, createdAt, updatedAt } = note;
  return { noteId: idOf(note), title, preview: shorten(text.replace(/\s+/g, ' '), 120), createdAt, updatedAt };
}

function whole(note: Note): Record<string, string> {
  const { title, text, createdAt, updatedAt } = note;
  return { noteId: idOf(note), title, text, createdAt, updatedAt };
}

/** Never cuts a surrogate pair. */
function shorten(text: string, length: number): string {
  const characters = Array.from(text.slice(0, length * 2 + 2));
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : text;
}

/** A note that was found, and the place in it that fits. */
interface FoundNote {
  readonly note: Note;
  readonly excerpt: string;
}

const pageSize = 100;
const excerptLength = 120;

/** Returns the notes in which every word of the query occurs, the newest first. */
async function searchNotes(
  notes: Pick<NoteStore, 'list'>,
  { query, limit, signal }: { readonly query: string; readonly limit: number; readonly signal: AbortSignal },
): Promise<FoundNote[]> {
  const words = fold(query).split(/\s+/).filter((word) => word !== '');
  const found: FoundNote[] = [];
  for (let before: number | undefined;;) {
    signal.throwIfAborted();
    const page = await notes.list({ before, limit: pageSize });
    for (const note of page) if (matches(note, words)) found.push({ note, excerpt: excerptOf(note, words) });
    before = page.at(-1)?.number;
    if (page.length < pageSize || found.length >= limit) return found.slice(0, limit);
  }
}

/** Letters that differ only in case, width or accents are the same. */
function fold(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

function matches({ title, text }: Note, words: readonly string[]): boolean {
  const folded = fold(`${title}\n${text}`);
  return words.every((word) => folded.includes(word));
}

/** The line that holds the first word, from near that word. */
function excerptOf({ text }: Note, [first = '']: readonly string[]): string {
  const line = text.split('\n').find((candidate) => fold(candidate).includes(first)) ?? text;
  const start = Math.max(0, fold(line).indexOf(first) - excerptLength / 3);
  const excerpt = line.slice(start, start + excerptLength).toWellFormed();
  return `${start > 0 ? '…' : ''}${excerpt}${start + excerptLength < line.length ? '…' : ''}`;
}
