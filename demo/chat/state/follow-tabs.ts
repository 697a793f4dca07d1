/** Follows what other tabs do to chats. */

import { batch } from '@preact/signals';
import { type Chat, createChat, isRunning } from './chat.ts';
import type { ChatNews } from './chat-tabs.ts';
import type { ChatStore } from './chat-storage.ts';
import type { Saved } from './chat-storage.ts';
import type { Message } from './message.ts';

/** What follows other tabs. */
interface Following {
  /** Receives the result of storing a chat. */
  readonly onSaved: (chat: Chat, saved: Saved) => Promise<void>;
  /** Waits until the answers that other tabs write in the chat have ended. */
  readonly watch: (chat: Chat) => void;
}

interface FollowOptions {
  readonly chatStore: ChatStore;
  readonly find: (chatId: string) => Chat | undefined;
  /** Whether an answer is being written here. */
  readonly isOurs: (answerId: string) => boolean;
  /** Adds a chat that another tab started. */
  readonly add: (chat: Chat) => void;
  /** Takes a chat away that another tab has deleted. */
  readonly drop: (chat: Chat) => void;
  /** Called when a tab has stopped writing an answer of the chat. */
  readonly onReleased: (chat: Chat) => void;
}

/** Starts to follow. */
export function followTabs({ chatStore, find, isOurs, add, drop, onReleased }: FollowOptions): Following {
  const { tabs } = chatStore;
  /** Answers whose end is waited for. */
  const following = new Set<string>();

  async function catchUp(chatId: string, from?: number): Promise<void> {
    const isRead = (): boolean => find(chatId)?.loaded.value === 'ready';
    const wasRead = isRead();
    const here = (): readonly Message[] => find(chatId)?.all.value ?? [];
    const caught = await chatStore.catchUp(chatId, { ...(wasRead && from !== undefined && { from }), here, isOurs });
    const chat = find(chatId);
    if (caught === 'removed') return chat && drop(chat);
    if (!caught) return;
    if (!chat) return add(createChat(caught.head, { loaded: 'absent' }));
    batch(() => {
      chat.title.value = caught.head.title;
      chat.agentId.value = caught.head.agentId;
      chat.updatedAt.value = Math.max(chat.updatedAt.value, caught.head.updatedAt);
      chat.pinned.value = caught.head.pinned ?? false;
      chat.settings.value = caught.head.settings ?? {};
      if (wasRead) chat.all.value = caught.messages;
    });
    if (!wasRead && isRead()) return await catchUp(chatId); // it was being read
    watch(chat);
  }

  function watch(chat: Chat): void {
    for (const message of chat.messages.value) {
      if (message.role !== 'assistant' || message.outcome.value.type !== 'running') continue;
      if (isOurs(message.id) || following.has(message.id)) continue;
      following.add(message.id);
      void tabs.released(message.id).then(() => {
        following.delete(message.id);
        return catchUp(chat.id).then(() => onReleased(chat));
      });
    }
  }

  function subscribe(news: ChatNews): void {
    if (news.type === 'agents') return;
    const chat = find(news.chatId);
    if (news.type === 'saved') return void catchUp(news.chatId, news.from);
    if (!chat) return;
    if (news.type === 'removed') drop(chat);
    else if (isRunning(chat)) chat.run.value?.stop();
  }

  tabs.subscribe(subscribe);
  return {
    watch,
    async onSaved(chat, saved) {
      if (saved === 'removed') drop(chat);
      if (saved === 'behind') await catchUp(chat.id);
    },
  };
}
