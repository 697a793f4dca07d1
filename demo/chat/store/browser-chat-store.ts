/** Keeps the page's chats in IndexedDB. A chunk of its own: it is fetched while the worker starts. */

import { openStorage } from '../../storage/open-storage.ts';
import { browserTabs } from '../state/chat-tabs.ts';
import { createChatStore } from './chat-store.ts';
import { type ChatStore } from '../state/chat-storage.ts';

/** The store, and a function that closes it. A closed store writes nothing more. */
interface ClosableChatStore extends ChatStore {
  close(): Promise<void>;
}

/** Creates the chat store of this browser. It opens nothing before its first use. */
export function createBrowserChatStore(): ClosableChatStore {
  const storage = openStorage('pinnace-playground');
  // A page of plain http has no locks: what another tab writes there is shown as it was written last.
  const { locks } = navigator as Partial<Navigator>;
  const chatStore = createChatStore(storage, browserTabs(new BroadcastChannel('pinnace-chats'), locks));
  return {
    ...chatStore,
    async close() {
      chatStore.tabs.close();
      await storage.close();
    },
  };
}
