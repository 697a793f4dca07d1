/** What can be done with a chat, for its menus. */

import type { Playground } from '../../app/state/playground.ts';
import type { MenuItem } from '../../kit/menu.tsx';
import type { Chat } from '../state/chat.ts';

/** The actions that need nothing of the page around them. */
export function chatItems(chat: Chat, playground: Playground): readonly MenuItem[] {
  const { chats, overlay } = playground;
  const isPinned = chat.pinned.value;
  return [
    { testId: 'pin-chat', icon: 'pin', title: isPinned ? 'Unpin' : 'Pin', onChoose: () => chats.pin(chat, !isPinned) },
    {
      testId: 'share-chat-link',
      icon: 'share',
      title: 'Share as a link',
      onChoose: () => void chats.open(chat.id).then(() => (overlay.value = 'share')),
    },
    {
      testId: 'save-chat',
      icon: 'save',
      title: 'Save as a file',
      onChoose: () => void import('./save-chat.ts').then(({ saveChat }) => saveChat(chat, playground)),
    },
    {
      testId: 'delete-chat',
      icon: 'trash',
      title: 'Delete',
      isDanger: true,
      onChoose: () => {
        void chats.remove(chat.id);
        playground.focusRequests.value++;
      },
    },
  ];
}
