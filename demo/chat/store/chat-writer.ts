/** Writes changed chats: one after the other, merged with what other tabs have written. */

import type { Saved } from '../state/chat-storage.ts';
import type { Storage } from '../../../src/contracts/storage.ts';
import type { ChatHead } from '../state/chat.ts';
import { changesOf, commitAll, headKey, readHeads } from './chat-rows.ts';
import type { ChatTabs } from '../state/chat-tabs.ts';
import type { Known, KnownChats } from './known-chats.ts';
import type { Message } from '../state/message.ts';

/** Changes that are not written yet. */
export interface Unwritten {
  readonly head: ChatHead;
  readonly messages: readonly Message[];
  readonly ids: ReadonlySet<string>;
  readonly dropped: ReadonlySet<string>;
}

/** The pending changes by chat, and their writer. */
export interface ChatWriter {
  readonly unwritten: Map<string, Unwritten>;
  /** Adds to the pending changes. */
  add(changes: Unwritten): void;
  /** Writes all pending changes of a chat; retries when another tab was first. */
  write(chatId: string): Promise<Saved>;
}

const mostTries = 20;

/** Creates a writer without pending changes. `onWritten` is called after each successful write. */
export function createChatWriter(
  storage: Storage,
  { known, tabs, onWritten }: { readonly known: KnownChats; readonly tabs: ChatTabs; readonly onWritten: () => void },
): ChatWriter {
  const unwritten = new Map<string, Unwritten>();

  async function writeOnce(chatId: string, all: Unwritten, chat: Known): Promise<boolean> {
    const places = new Map(chat.places); // unchanged where the commit fails
    const { changes, from } = changesOf(chatId, { ...all, ...chat, places });
    const head = { key: headKey(chatId), value: all.head, ifVersion: chat.version };
    const result = await commitAll(storage, [head, ...changes]);
    if (!result.ok) return false;
    chat.version = result.version;
    chat.places = places;
    for (const id of places.keys()) chat.stored.add(id);
    for (const place of places.values()) chat.highest = Math.max(chat.highest, place);
    if (unwritten.get(chatId) === all) unwritten.delete(chatId);
    onWritten();
    tabs.emit({ type: 'saved', chatId, from });
    return true;
  }

  /** Reads what another tab has written. Returns whether the chat still exists. */
  async function refresh(chatId: string, chat: Known): Promise<boolean> {
    const [head] = await readHeads(storage, { chatId, onUnreadable: known.onUnreadable });
    if (!head) { // or it is deleted
      unwritten.delete(chatId);
      return false;
    }
    chat.version = head.version;
    await known.readMessages(chatId);
    return true;
  }

  return {
    unwritten,
    add(changes) {
      const before = unwritten.get(changes.head.id);
      const ids = new Set([...before?.ids ?? [], ...changes.ids]);
      const dropped = new Set([...before?.dropped ?? [], ...changes.dropped]);
      unwritten.set(changes.head.id, { ...changes, ids, dropped });
    },
    async write(chatId) {
      const all = unwritten.get(chatId);
      if (!all) return 'stored'; // by an earlier call
      const chat = known.of(chatId);
      for (let tries = 0; tries < mostTries; tries++) {
        if (await writeOnce(chatId, all, chat)) return tries > 0 ? 'behind' : 'stored';
        if (!await refresh(chatId, chat)) return 'removed';
      }
      return 'not-stored';
    },
  };
}
