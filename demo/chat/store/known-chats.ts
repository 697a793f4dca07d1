/** What is known of the chats in storage, and how their messages are read. */

import { type ReadonlySignal, signal } from '@preact/signals';
import type { Key } from '../../../src/base/key.ts';
import type { Storage } from '../../../src/contracts/storage.ts';
import { type PlacedMessage, readPlaced } from './chat-rows.ts';
import type { ChatTabs } from '../state/chat-tabs.ts';
import { cutOff } from './stored-message.ts';

/** The last known state of a stored chat. */
export interface Known {
  /** The head's; `null`: it was never there. */
  version: string | null;
  /** Where messages are, by their ids. */
  places: Map<string, number>;
  /** The last place that is taken, be it by something that cannot be read. */
  highest: number;
  /** The ids of messages that were stored before. */
  readonly stored: Set<string>;
}

/** The known chats. */
export interface KnownChats {
  readonly chats: Map<string, Known>;
  /** How many entries cannot be read. */
  readonly unreadable: ReadonlySignal<number>;
  readonly onUnreadable: (key: Key) => void;
  of(chatId: string): Known;
  readMessages(chatId: string, from?: number): Promise<readonly PlacedMessage[]>;
}

/** Creates an empty set of known chats over a storage. */
export function createKnownChats(storage: Storage, tabs: ChatTabs): KnownChats {
  const chats = new Map<string, Known>();
  const keys = new Set<string>();
  const unreadable = signal(0);
  const onUnreadable = (key: Key): void => {
    keys.add(JSON.stringify(key));
    unreadable.value = keys.size;
  };
  const of = (chatId: string): Known => {
    const known = chats.get(chatId) ?? { version: null, places: new Map(), highest: -1, stored: new Set() };
    chats.set(chatId, known);
    return known;
  };
  return {
    chats,
    unreadable,
    onUnreadable,
    of,
    async readMessages(chatId, from = 0) {
      const chat = of(chatId);
      const noteUnreadable = (key: Key): void => {
        chat.highest = Math.max(chat.highest, Number(key.at(-1)));
        onUnreadable(key);
      };
      const placed = await readPlaced(storage, chatId, { from, onUnreadable: noteUnreadable });
      for (const [id, place] of chat.places) if (place >= from) chat.places.delete(id);
      for (const { message, place } of placed) {
        chat.places.set(message.id, place);
        chat.stored.add(message.id);
        chat.highest = Math.max(chat.highest, place);
        // Its writer may be closed: then no tab reads its stream.
        const isRunning = message.role === 'assistant' && message.outcome.value.type === 'running';
        if (isRunning && !await tabs.isHeld(message.id)) cutOff(message);
      }
      return placed;
    },
  };
}
