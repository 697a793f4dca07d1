/** Finds notes by their words. */

import type { Note, NoteStore } from './note-store.ts';

/** A note that was found, and the place in it that fits. */
export interface FoundNote {
  readonly note: Note;
  readonly excerpt: string;
}

const pageSize = 100;
const excerptLength = 120;

/** Returns the notes in which every word of the query occurs, the newest first. */
export async function searchNotes(
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
