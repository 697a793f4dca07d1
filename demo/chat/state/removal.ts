/** The chat that was deleted last, which can be brought back for a while. */

import { type ReadonlySignal, signal } from '@preact/signals';
import type { Chat } from './chat.ts';

/** How long a deleted chat can be brought back. */
export const undoWithinMs = 10_000;

/** The latest deletion. */
export interface Removal {
  readonly removed: ReadonlySignal<Chat | undefined>;
  start(chat: Chat): void;
  /** Returns the chat to bring back, if there still is one. */
  undo(): Chat | undefined;
  /** Ends the time in which it can be brought back. */
  close(): void;
}

/** Creates the deletion of no chat. `onOver` is called with each chat that cannot be brought back any more. */
export function createRemoval(onOver: (chat: Chat) => void): Removal {
  const removed = signal<Chat | undefined>(undefined);
  let timer: ReturnType<typeof setTimeout> | undefined;
  function end(): Chat | undefined {
    clearTimeout(timer);
    const chat = removed.value;
    removed.value = undefined;
    return chat;
  }
  function close(): void {
    const chat = end();
    if (chat) onOver(chat);
  }
  return {
    removed,
    close,
    start(chat) {
      close();
      removed.value = chat;
      timer = setTimeout(close, undoWithinMs);
    },
    undo: end,
  };
}
