/** What chats need of their storage. */

import type { ReadonlySignal } from '@preact/signals';
import type { SearchControl } from '../../control/search-control.ts';
import type { ChatTabs } from './chat-tabs.ts';
import type { ChatHead } from './chat.ts';
import type { Message } from './message.ts';

/** The result of a write. `behind`: another tab has written, too, and its changes are not shown here yet. */
export type Saved = 'stored' | 'not-stored' | 'behind' | 'removed';

/** Why chats are not stored. `newer`: a newer version of the page wrote the storage. */
export type NotStored = 'blocked' | 'full' | 'newer';

/** What is written of a chat: the head, and the messages from `from` on, up to `to`. */
export interface Changed {
  readonly messages: readonly Message[];
  readonly from: number;
  readonly to?: number;
  /** A message that is not there any more. */
  readonly dropped?: string | undefined;
}

/** A chat as another tab has left it, or that it was removed. */
export type Caught = { readonly head: ChatHead; readonly messages: readonly Message[] } | 'removed' | undefined;

export interface CatchUpOptions {
  readonly from?: number;
  readonly here: () => readonly Message[];
  readonly isOurs: (messageId: string) => boolean;
}

/** Reads and writes chats. Nothing here rejects; `notStored` holds the reason of a failure. */
export interface ChatStore {
  /** Set once storage has refused; the page works on without it. */
  readonly notStored: ReadonlySignal<NotStored | undefined>;
  /** How many chats and messages were found that cannot be read. They stay as they are. */
  readonly unreadable: ReadonlySignal<number>;
  readonly tabs: ChatTabs;
  /** The head of every chat that is not deleted, the latest first. */
  heads(): Promise<readonly ChatHead[]>;
  messages(chatId: string): Promise<readonly Message[]>;
  /** Writes what has changed, and what could not be written before. */
  save(head: ChatHead, changed: Changed): Promise<Saved>;
  /** Reads what another tab has written, from a place on, and joins it with what is here. `isOurs`: an answer that is written here. */
  catchUp(chatId: string, options: CatchUpOptions): Promise<Caught>;
  /** Deletes a chat, which can be restored for 30 days; where the storage is full, for ever. */
  remove(chatId: string): Promise<void>;
  /** The heads of the chats that can be restored, the latest deletion first. */
  deleted(): Promise<readonly ChatHead[]>;
  /** Brings a deleted chat back. Returns whether it was there. */
  restore(chatId: string): Promise<boolean>;
  /** Deletes a chat for ever. */
  purge(chatId: string): Promise<void>;
  /** The search index, which knows the stored chats by itself. */
  searchIndex(): Promise<SearchControl>;
}
