/** Remembers what is written and not sent, and what waits for the end of an answer, over a reload. */

import { batch, effect, untracked } from '@preact/signals';
import * as v from 'valibot';
import type { Notes } from '../../storage/notes.ts';
import type { Chat } from './chat.ts';
import { AttachedFile } from '../../files/state/attached-file.ts';

/** A message that waits. */
const Waiting = v.object({ id: v.string(), text: v.string() });

const Draft = v.object({
  text: v.optional(v.string(), ''),
  files: v.optional(v.array(AttachedFile), []),
  queued: v.optional(v.array(Waiting), []),
});
type Draft = v.InferOutput<typeof Draft>;

const Drafts = v.record(v.string(), Draft);

/** The note. */
const note = 'drafts';
/** The draft of the chat that has no message yet. */
const ofNewChat = '';
/** The longest draft, in UTF-16 code units: pages may store some megabytes in all. Longer ones are remembered without their files. */
const maxLength = 300_000;

/** The remembered drafts. */
export interface Drafts {
  /** Restores what a chat holds, once. Returns the messages that waited for the end of an answer. */
  restore(chat: Chat): readonly v.InferOutput<typeof Waiting>[];
}

interface DraftsOptions {
  readonly notes: Notes;
  /** The stored chats. */
  readonly list: () => readonly Chat[];
  readonly current: () => Chat;
}

/** Follows the chats, and writes what is not sent as it changes. */
export function followDrafts({ notes, list, current }: DraftsOptions): Drafts {
  const restored = new Set<string>();
  /** As it was written last, by its key. */
  const written = new Map<string, Draft | undefined>();
  let newChat = '';
  const read = (): Readonly<Record<string, Draft>> => notes.read(note, Drafts) ?? {};

  /** Writes what has changed, beside what other tabs have written meanwhile. */
  function write(changes: ReadonlyMap<string, Draft | undefined>): void {
    if (changes.size === 0) return;
    const drafts = Object.entries({ ...read(), ...Object.fromEntries(changes) }).filter(([, draft]) => draft);
    notes.write(note, drafts.length === 0 ? undefined : Object.fromEntries(drafts));
  }

  effect(() => {
    const stored = new Map(list().map((chat) => [chat.id, chat]));
    const open = current();
    const changes = new Map<string, Draft | undefined>();
    const take = (key: string, draft: Draft | undefined): void => {
      if (isSame(draft, written.get(key))) return;
      written.set(key, draft);
      changes.set(key, draft);
    };
    const ofOpen = draftOf(open);
    for (const [id, chat] of stored) {
      const draft = draftOf(chat);
      if (restored.has(id)) take(id, draft);
    }
    for (const id of written.keys()) if (id !== ofNewChat && !stored.has(id)) take(id, undefined);
    if (stored.has(newChat)) take(ofNewChat, undefined); // it has its first message
    if (stored.has(open.id)) newChat = '';
    else if (restored.has(open.id)) {
      newChat = open.id;
      take(ofNewChat, ofOpen);
    }
    untracked(() => write(changes));
  });

  return {
    restore(chat) {
      if (restored.has(chat.id)) return [];
      const key = list().includes(chat) ? chat.id : ofNewChat;
      const draft = read()[key];
      written.set(key, draft);
      restored.add(chat.id);
      if (!draft) return [];
      batch(() => {
        if (chat.draft.value === '') chat.draft.value = draft.text;
        if (chat.attached.value.length === 0) chat.attached.value = draft.files;
      });
      return draft.queued;
    },
  };
}

function isSame(a: Draft | undefined, b: Draft | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && a.text === b.text &&
    a.files.length === b.files.length && a.files.every((file, i) => file.url === b.files[i]?.url) &&
    a.queued.length === b.queued.length && a.queued.every(({ id }, i) => id === b.queued[i]?.id));
}

/** What a chat holds that is not sent; nothing is `undefined`. */
function draftOf({ draft, attached, queued }: Chat): Draft | undefined {
  const waiting = queued.value.map(({ id, text }) => ({ id, text })).filter(({ text }) => text !== '');
  const all: Draft = { text: draft.value, files: [...attached.value], queued: waiting };
  if (all.text === '' && all.files.length === 0 && all.queued.length === 0) return undefined;
  const length = all.files.reduce((sum, { url }) => sum + url.length, all.text.length);
  return length > maxLength ? { ...all, files: [] } : all;
}
