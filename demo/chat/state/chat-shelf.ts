/** The chats that the page holds, and the open one. */

import { batch, type Signal, signal } from '@preact/signals';
import { type Chat, createChat, headOf } from './chat.ts';
import type { ChatStore } from './chat-storage.ts';

/** The chats in the memory of the page. */
export interface ChatShelf {
  readonly all: Signal<readonly Chat[]>;
  readonly current: Signal<Chat>;
  readonly find: (chatId: string | undefined) => Chat | undefined;
  /** Creates an empty chat, which is not held until its first message. */
  readonly blank: (agentId: string) => Chat;
  readonly add: (chat: Chat) => void;
  /** Adds a chat in place of one with its id, and opens it. */
  readonly open: (chat: Chat) => void;
  /** Opens a chat as `open` does, and stores all of it. */
  readonly adopt: (chat: Chat) => Promise<void>;
  /** Removes a chat. If it is open, an empty one takes its place. */
  readonly takeOut: (chat: Chat) => void;
  /** Adds the stored chats that are not held yet. Their messages are read when they are opened. */
  readonly readStored: () => Promise<void>;
}

interface ShelfOptions {
  readonly chatStore: ChatStore;
  readonly now: () => number;
  readonly createId: () => string;
  readonly defaultAgentId: string;
}

/** Creates a shelf with one empty chat, which is open. */
export function createShelf({ chatStore, now, createId, defaultAgentId }: ShelfOptions): ChatShelf {
  const blank = (agentId: string): Chat =>
    createChat({ id: createId(), agentId, title: '', createdAt: now(), updatedAt: now() });
  const all = signal<readonly Chat[]>([]);
  const current = signal(blank(defaultAgentId));
  const find = (chatId: string | undefined): Chat | undefined => all.value.find(({ id }) => id === chatId);
  const add = (chat: Chat): void => void (all.value = [...all.value, chat]);
  const open = (chat: Chat): void =>
    batch(() => {
      all.value = [...all.value.filter(({ id }) => id !== chat.id), chat];
      current.value = chat;
    });
  return {
    all,
    current,
    find,
    blank,
    add,
    open,
    async adopt(chat) {
      open(chat);
      await chatStore.save(headOf(chat), { messages: chat.all.value, from: 0 });
    },
    takeOut(chat) {
      batch(() => {
        all.value = all.value.filter((other) => other !== chat);
        if (current.value === chat) current.value = blank(chat.agentId.value);
      });
    },
    async readStored() {
      const known = new Set(all.value.map(({ id }) => id));
      const heads = await chatStore.heads();
      const unknown = heads.filter(({ id }) => !known.has(id));
      all.value = [...all.value, ...unknown.map((head) => createChat(head, { loaded: 'absent' }))];
    },
  };
}
