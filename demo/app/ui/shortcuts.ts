/** The page's keys. */

import { isRunning } from '../../chat/state/chat.ts';
import type { Playground } from '../state/playground.ts';
import { findInstead } from '../../find/ui/chat-find.ts';
import { actionOf, isWriting } from './actions.ts';
import { isCovered } from '../state/screens.ts';

/** Does what the key says. Returns whether it meant anything. */
export function handleShortcut(event: KeyboardEvent, playground: Playground): boolean {
  const { overlay, chats, focusRequests } = playground;
  if (event.defaultPrevented || event.isComposing) return false;
  if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
    overlay.value = overlay.value === 'switcher' ? 'none' : 'switcher';
    return true;
  }
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'f') {
    return findInstead(playground);
  }
  if (event.key === 'Escape') return escape(playground);
  const action = overlay.value === 'none' && !document.querySelector('dialog[open]') ? actionOf(event) : undefined;
  if (action) {
    action.go(playground);
    return true;
  }
  if (event.key === '?' && overlay.value === 'none' && !isWriting(event.target) && !hasModifier(event)) {
    overlay.value = 'keys';
    return true;
  }
  if (
    event.key !== '/' || overlay.value !== 'none' || isCovered(playground) || isWriting(event.target) ||
    hasModifier(event)
  ) return false;
  focusRequests.value++;
  return chats.current.value.loaded.value === 'ready';
}

/** Closes what lies over the chat, else stops the run. Dialogs close themselves. */
function escape(playground: Playground): boolean {
  const { overlay, chats } = playground;
  if (overlay.value === 'drawer') {
    overlay.value = 'none';
    return true;
  }
  if (isCovered(playground)) return false; // it goes back by itself, and the run behind it goes on
  if (overlay.value !== 'none' || !isRunning(chats.current.value)) return false;
  chats.stop();
  return true;
}

function hasModifier(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey || event.altKey;
}
