/** Keeps chats in storage: one head per chat, one value per message, so that a long chat is never written as a whole. */

import { type ReadonlySignal, signal } from '@preact/signals';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { Key } from '../../../src/base/key.ts';
import type { Storage } from '../../../src/contracts/storage.ts';
import type { ChatHead } from './chat.ts';
import { changesOf, commitAll, headKey, type PlacedMessage, readHeads, readPlaced, removeChat } from './chat-rows.ts';
import { type ChatTabs, noTabs } from './chat-tabs.ts';
import { cutOff } from './stored-message.ts';
import { mergeMessages } from './merge-messages.ts';
import type { Message } from './message.ts';

/** Why chats are not stored. `newer`: a newer version of the page wrote the storage. */
export type NotStored = 'blocked' | 'full' | 'newer';

/** What is written of a chat: the head, and the messages from `from` on, up to `to`. */
interface Changed {
  readonly messages: readonly Message[];
  readonly from: number;
  readonly to?: number;
  /** A message that is not there any more. */
  readonly dropped?: string | undefined;
}

/** What came of writing. `behind`: another tab has written, too, and what it wrote is not shown here yet. */
export type Saved = 'kept' | 'not-kept' | 'behind' | 'removed';

/** A chat as another tab has left it, or that it was removed. */
export type Caught = { readonly head: ChatHead; readonly messages: readonly Message[] } | 'removed' | undefined;

/** Reads and writes chats. Nothing here rejects; `notKept` holds the reason of a failure. */
export interface ChatStore {
  /** Set once storage has refused; the page works on without it. */
  readonly notStored: ReadonlySignal<NotStored | undefined>;
  /** How many chats and messages were found that cannot be read. They stay as they are. */
  readonly unreadable: ReadonlySignal<number>;
  readonly tabs: ChatTabs;
  /** Every chat's head, the latest first. */
  heads(): Promise<readonly ChatHead[]>;
  messages(chatId: string): Promise<readonly Message[]>;
  /** Writes what has changed, and what could not be written before. */
  save(head: ChatHead, changed: Changed): Promise<Saved>;
  /** Reads what another tab has written, from a place on, and joins it with what is here. `isOurs`: an answer that is written here. */
  catchUp(
    chatId: string,
    options: {
      readonly from?: number;
      readonly here: () => readonly Message[];
      readonly isOurs: (messageId: string) => boolean;
    },
  ): Promise<Caught>;
  remove(chatId: string): Promise<void>;
}

/** How long after a full disk it is tried again. */
export const tryAgainMs = 10_000;
const mostTries = 20;

/** The last known state of a stored chat. */
interface Known {
  /** The head's; `null`: it was never there. */
  version: string | null;
  /** Where messages are, by their ids. */
  places: Map<string, number>;
  /** The last place that is taken, be it by something that cannot be read. */
  highest: number;
  /** The ids of messages that were stored before. */
  readonly stored: Set<string>;
}

/** What could not be written. */
interface Unwritten {
  readonly head: ChatHead;
  readonly messages: readonly Message[];
  readonly ids: ReadonlySet<string>;
  readonly dropped: ReadonlySet<string>;
}

/** Creates the keeper over a storage. Writes go one after the other. */
export function createChatStore(storage: Storage, tabs: ChatTabs = noTabs): ChatStore {
  const notStored = signal<NotStored | undefined>();
  const unreadable = new Set<string>();
  const unreadableCount = signal(0);
  const known = new Map<string, Known>();
  const unwritten = new Map<string, Unwritten>();
  let last: Promise<unknown> = Promise.resolve();
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Runs `work` after earlier calls; a failure sets `notKept` and returns `otherwise`. */
  function inTurn<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
    const result = last.then(work).catch((error: unknown) => {
      notStored.value = reasonOf(error);
      return otherwise;
    });
    last = result;
    return result;
  }

  function onUnreadable(key: Key): void {
    unreadable.add(JSON.stringify(key));
    unreadableCount.value = unreadable.size;
  }

  function knownOf(chatId: string): Known {
    const fresh: Known = { version: null, places: new Map(), highest: -1, stored: new Set() };
    const found = known.get(chatId) ?? fresh;
    known.set(chatId, found);
    return found;
  }

  async function readMessages(chatId: string, from = 0): Promise<readonly PlacedMessage[]> {
    const chat = knownOf(chatId);
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
  }

  /** Adds to what has yet to be written. */
  function want(wanted: Unwritten): void {
    const before = unwritten.get(wanted.head.id);
    if (!before) return void unwritten.set(wanted.head.id, wanted);
    const ids = new Set([...before.ids, ...wanted.ids]);
    unwritten.set(wanted.head.id, { ...wanted, ids, dropped: new Set([...before.dropped, ...wanted.dropped]) });
  }

  /** Writes all that is left of a chat; once more when another tab was first. */
  async function write(chatId: string): Promise<Saved> {
    const all = unwritten.get(chatId);
    if (!all) return 'kept'; // by an earlier call
    const chat = knownOf(chatId);
    let isBehind = false;
    for (let tries = 0; tries < mostTries; tries++) {
      const places = new Map(chat.places); // as they are where it is not written
      const { changes, from } = changesOf(chatId, { ...all, ...chat, places });
      const head = { key: headKey(chatId), value: all.head, ifVersion: chat.version };
      const result = await commitAll(storage, [head, ...changes]);
      if (result.ok) {
        chat.version = result.version;
        chat.places = places;
        for (const id of places.keys()) chat.stored.add(id);
        for (const place of places.values()) chat.highest = Math.max(chat.highest, place);
        if (unwritten.get(chatId) === all) unwritten.delete(chatId);
        notStored.value = undefined;
        tabs.emit({ type: 'saved', chatId, from });
        return isBehind ? 'behind' : 'kept';
      }
      isBehind = true;
      if (!await look(chatId, chat)) return 'removed';
    }
    return 'not-kept';
  }

  /** Sees what another tab has written. Returns whether the chat is still there. */
  async function look(chatId: string, chat: Known): Promise<boolean> {
    const head = await storage.get(headKey(chatId));
    if (!head) {
      unwritten.delete(chatId);
      return false;
    }
    chat.version = head.version;
    await readMessages(chatId);
    return true;
  }

  /** There may be room again. */
  function writeLater(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      void writeRest();
    }, tryAgainMs);
  }

  async function writeRest(): Promise<void> {
    for (const chatId of unwritten.keys()) await writeInTurn(chatId);
  }

  async function writeInTurn(chatId: string): Promise<Saved> {
    const saved = await inTurn(() => write(chatId), 'not-kept');
    if (saved === 'not-kept' && notStored.value === 'full') writeLater();
    return saved;
  }

  return {
    notStored,
    unreadable: unreadableCount,
    tabs,
    heads: () =>
      inTurn(async () => {
        const found = await readHeads(storage, { onUnreadable });
        for (const { head, version } of found) knownOf(head.id).version = version;
        return found.map(({ head }) => head);
      }, []),
    messages: (chatId) =>
      inTurn(async () => {
        return (await readMessages(chatId)).map(({ message }) => message);
      }, []),
    save(head, { messages, from, to, dropped }) {
      const ids = new Set(messages.slice(from, to).map(({ id }) => id));
      want({ head, messages, ids, dropped: new Set(dropped === undefined ? [] : [dropped]) });
      return writeInTurn(head.id);
    },
    catchUp: (chatId, { from = 0, here, isOurs }) =>
      inTurn(async (): Promise<Caught> => {
        const [found] = await readHeads(storage, { chatId, onUnreadable });
        if (!found) return known.has(chatId) ? 'removed' : undefined;
        const chat = knownOf(chatId);
        const placed = await readMessages(chatId, from);
        chat.version = found.version;
        const isUnwritten = (id: string): boolean => unwritten.get(chatId)?.ids.has(id) === true;
        const messages = mergeMessages(here(), { ...chat, placed, isOurs: (id) => isOurs(id) || isUnwritten(id) });
        const dropped = unwritten.get(chatId)?.dropped;
        return { head: found.head, messages: messages.filter(({ id }) => !dropped?.has(id)) };
      }, undefined),
    async remove(chatId) {
      unwritten.delete(chatId);
      await inTurn(async () => {
        await removeChat(storage, chatId);
        known.delete(chatId);
        tabs.emit({ type: 'removed', chatId });
      }, undefined);
      await writeRest(); // there is room now
    },
  };
}

function reasonOf(error: unknown): NotStored {
  const reason = error instanceof PinnaceError ? error.details?.['reason'] : undefined;
  if (reason === 'storage_full') return 'full';
  return reason === 'storage_newer' ? 'newer' : 'blocked';
}
