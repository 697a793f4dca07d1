/** Notes over a storage. Every tenant has its own; several writers at once lose nothing. */

import * as v from 'valibot';
import type { Change, CommitResult, Entry, Key } from '../../src/contracts/index.ts';
import { commitMarked } from '../../src/log/commits.ts';
import { PinnaceError, type Storage } from '../../src/index.ts';

/** The longest text of one note, in UTF-16 code units. */
const longestNote = 50_000;

/** The most notes of one tenant. */
export const mostNotes = 1_000;

const Note = v.object({
  number: v.number(),
  title: v.string(),
  text: v.string(),
  createdAt: v.string(),
  updatedAt: v.string(),
});
/** A stored note. Numbers are never reused. */
export type Note = v.InferOutput<typeof Note>;

const Tally = v.object({ last: v.number(), count: v.number() });
type Tally = v.InferOutput<typeof Tally>;

/** The notes of one tenant. All but `list` and `tally` answer `not_found` for a number without a note. */
export interface NoteStore {
  add(note: { readonly title: string; readonly text: string }): Promise<Note>;
  /** Adds a paragraph to the note. */
  append(number: number, text: string): Promise<Note>;
  read(number: number): Promise<Note>;
  delete(number: number): Promise<void>;
  /** Returns notes, the newest first, from below the number `before`. */
  list(options: { readonly before?: number | undefined; readonly limit: number }): Promise<Note[]>;
  count(): Promise<number>;
}

/** What the functions below work on. */
interface Notebook {
  readonly storage: Storage;
  readonly tallyKey: Key;
  readonly prefix: Key;
  readonly marks: Key;
  readonly timestamp: () => string;
}

/** Creates the notes of a tenant. What the storage throws passes through. */
export function createNoteStore(
  storage: Storage,
  { tenant, now }: { readonly tenant: string; readonly now: () => number },
): NoteStore {
  const book: Notebook = {
    storage,
    tallyKey: ['notes', tenant, 'tally'],
    prefix: ['notes', tenant, 'note'],
    marks: ['notes', tenant, 'mark'],
    timestamp: () => new Date(now()).toISOString(),
  };
  return {
    add: (note) => untilWritten(() => tryToAdd(book, note)),
    append: (number, text) => untilWritten(() => tryToAppend(book, number, { text })),
    read: async (number) => (await readNote(book, number)).note,
    async delete(number) {
      await untilWritten(() => tryToDelete(book, number));
    },
    async list({ before, limit }) {
      const after = before === undefined ? {} : { after: keyOf(book, before) };
      return (await storage.list({ prefix: book.prefix, ...after, limit })).map(noteOf);
    },
    count: async () => (await readTally(book)).tally.count,
  };
}

const mostAttempts = 50;

/** Retries on conflict; each conflict means that another writer succeeded. */
async function untilWritten(attempt: () => Promise<Note | undefined>): Promise<Note> {
  for (let i = 0; i < mostAttempts; i++) {
    const note = await attempt();
    if (note) return note;
  }
  throw new PinnaceError('conflict', 'Cannot write the note: others keep writing at the same time; try again');
}

async function tryToAdd(
  book: Notebook,
  { title, text }: { readonly title: string; readonly text: string },
): Promise<Note | undefined> {
  const { tally, ifVersion } = await readTally(book);
  if (tally.count >= mostNotes) throw tooMany();
  const at = book.timestamp();
  const note = { number: tally.last + 1, title, text, createdAt: at, updatedAt: at };
  const { ok } = await commit(book, [
    { key: book.tallyKey, value: { last: note.number, count: tally.count + 1 }, ifVersion },
    { key: keyOf(book, note.number), value: note, ifVersion: null },
  ]);
  return ok ? note : undefined;
}

async function tryToAppend(
  book: Notebook,
  number: number,
  { text }: { readonly text: string },
): Promise<Note | undefined> {
  const { note: before, ifVersion } = await readNote(book, number);
  const note = { ...before, text: `${before.text}\n\n${text}`, updatedAt: book.timestamp() };
  if (note.text.length > longestNote) throw tooLong();
  const { ok } = await commit(book, [{ key: keyOf(book, number), value: note, ifVersion }]);
  return ok ? note : undefined;
}

async function tryToDelete(book: Notebook, number: number): Promise<Note | undefined> {
  const { note, ifVersion } = await readNote(book, number);
  const { tally, ifVersion: ifTally } = await readTally(book);
  const { ok } = await commit(book, [
    { key: keyOf(book, number), ifVersion },
    { key: book.tallyKey, value: { ...tally, count: tally.count - 1 }, ifVersion: ifTally },
  ]);
  return ok ? note : undefined;
}

/** Commits changes; a commit whose answer was lost, and which the storage repeats, has succeeded and is no conflict. */
async function commit({ storage, marks }: Notebook, changes: readonly Change[]): Promise<CommitResult> {
  return await commitMarked(storage, changes, { markKey: [...marks, crypto.randomUUID()] });
}

async function readTally({ storage, tallyKey }: Notebook): Promise<{ tally: Tally; ifVersion: string | null }> {
  const entry = await storage.get(tallyKey);
  return { tally: entry ? v.parse(Tally, entry.value) : { last: 0, count: 0 }, ifVersion: entry?.version ?? null };
}

async function readNote(book: Notebook, number: number): Promise<{ note: Note; ifVersion: string }> {
  const entry = await book.storage.get(keyOf(book, number));
  if (!entry) throw notFound(number);
  return { note: noteOf(entry), ifVersion: entry.version };
}

/** The newest first. */
function keyOf({ prefix }: Notebook, number: number): Key {
  return [...prefix, -number];
}

function noteOf({ value }: Entry): Note {
  return v.parse(Note, value);
}

function notFound(number: number): PinnaceError {
  return new PinnaceError('not_found', `Cannot find note-${number}: list or search the notes to see which there are`);
}

function tooMany(): PinnaceError {
  return new PinnaceError('budget_exceeded', `Cannot add a note: there are ${mostNotes} already; delete one first`, {
    details: { reason: 'too_many_notes', mostNotes },
  });
}

function tooLong(): PinnaceError {
  return new PinnaceError(
    'budget_exceeded',
    `Cannot add to the note: it would be longer than ${longestNote} characters`,
    {
      details: { reason: 'note_too_long', longestNote },
    },
  );
}
