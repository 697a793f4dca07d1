/** The page's address and title: which chat is open, and an agent that a link holds. */

import { effect } from '@preact/signals';
import type { Playground } from './playground.ts';

/** Opens what the address holds, now and when it changes, and keeps address and title at the open chat. Saves when the page is hidden. */
export function followAddress(playground: Playground, hash: string): void {
  openLink(hash, playground);
  showOpenChat(playground);
  addEventListener('hashchange', () => openLink(location.hash, playground));
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') playground.chats.saveRunning();
  });
}

/** Shows the agent of a link. It is imported only when the person confirms. */
function openLink(hash: string, { workshop }: Playground): void {
  if (hash.startsWith('#agent=')) workshop.value = { type: 'link', hash };
}

function showOpenChat({ chats }: Playground): void {
  effect(() => {
    const { id, messages, title } = chats.current.value;
    document.title = title.value === '' ? 'Pinnace' : `${title.value} · Pinnace`;
    const isStored = messages.value.length > 0 || chats.list.value.some((chat) => chat.id === id);
    history.replaceState(null, '', isStored ? `#${id}` : location.pathname);
  });
}
