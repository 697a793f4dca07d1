/** The search in the open chat: of each chat one, as long as the page lives. */

import { createChatFind } from '../state/chat-find.ts';
import type { Playground } from '../../app/state/playground.ts';
import { isCovered } from '../../app/state/screens.ts';
import { oncePer } from '../../kit/hooks/once-per.ts';

/** Returns the search in a chat. */
export const chatFind = oncePer(createChatFind);

/**
 * Opens the page's search instead of the browser's, which would miss messages that are not rendered. Returns whether it did. In an
 * empty chat, and if its field already has the focus, it leaves the keys to the browser.
 */
export function findInstead(playground: Playground): boolean {
  const chat = playground.chats.current.value;
  const isEmpty = chat.messages.value.length === 0;
  const isInField = document.activeElement?.closest('[data-testid=find-bar]') != null;
  if (isEmpty || isInField || playground.overlay.value !== 'none' || isCovered(playground)) return false;
  chatFind(chat).open();
  return true;
}
