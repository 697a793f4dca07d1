/** Keeps chats in storage: one head per chat, one value per message, so that a long chat is never written as a whole. */

import { batch, signal } from '@preact/signals';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { Storage } from '../../../src/contracts/storage.ts';
import { nextTask } from '../../kit/next-task.ts';
import type { CatchUpOptions, Caught, ChatStore, NotStored, Saved } from '../state/chat-storage.ts';
import { type ChatTabs, noTabs } from '../state/chat-tabs.ts';
import { type ChatHead, restorableMs } from '../state/chat.ts';
import type { Message } from '../state/message.ts';
import { changesOf, commitAll, headKey, markDeleted, type PlacedMessage, readHeads, removeChat } from './chat-rows.ts';
import { createKnownChats, type Known, type KnownChats } from './known-chats.ts';

/** The delay before a retry after a full disk. */
export const tryAgainMs = 10_000;

/** Creates the store of chats over a storage. Writes go one after the other. */
export function createChatStore(storage: Storage, tabs: ChatTabs = noTabs, now: () => number = Date.now): ChatStore {
  const notStored = signal<NotStored | undefined>();
  const known = createKnownChats(storage, tabs);
  const writer = createChatWriter(storage, {
    known,
    tabs,
    onWritten: () => (notStored.value = undefined),
  });
  const { unwritten } = writer;
  const inTurn = createTurns((error) => (notStored.value = reasonOf(error)));
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Retries later: there may be space again. */
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
    let saved = await inTurn(() => writer.write(chatId), 'not-stored');
    if (saved === 'not-stored' && notStored.value === 'full' && await makeRoom()) {
      saved = await inTurn(() => writer.write(chatId), 'not-stored');
    }
    if (saved === 'not-stored' && notStored.value === 'full') writeLater();
    return saved;
  }

  async function purge(chatId: string): Promise<void> {
    unwritten.delete(chatId);
    await inTurn(async () => {
      await removeChat(storage, chatId);
      known.chats.delete(chatId);
      tabs.emit({ type: 'removed', chatId });
    }, undefined);
    await writeRest(); // there is space now
  }

  /** Those whose time is over are removed. */
  async function readDeleted(): Promise<readonly ChatHead[]> {
    const heads = (await readHeads(storage, { isDeleted: true, onUnreadable: known.onUnreadable }))
      .map(({ head }) => head);
    const isOver = ({ deletedAt = 0 }: ChatHead): boolean => deletedAt + restorableMs <= now();
    for (const { id } of heads.filter(isOver)) await removeChat(storage, id);
    return heads.filter((head) => !isOver(head)).toSorted((a, b) => (b.deletedAt ?? 0) - (a.deletedAt ?? 0));
  }

  /** Deleted chats give way when the storage is full. Returns whether there were any. */
  async function makeRoom(): Promise<boolean> {
    const heads = await inTurn(readDeleted, []);
    for (const { id } of heads) await inTurn(() => removeChat(storage, id), undefined);
    return heads.length > 0;
  }

  return {
    notStored,
    unreadable: known.unreadable,
    tabs,
    async heads() {
      void inTurn(readDeleted, []); // removes those whose time is over
      return await inTurn(() => readAllHeads(storage, known), []);
    },
    messages: (chatId) => inTurn(() => readMessages(chatId, known), []),
    save(head, { messages, from, to, dropped }) {
      const ids = new Set(messages.slice(from, to).map(({ id }) => id));
      writer.add({ head, messages, ids, dropped: new Set(dropped === undefined ? [] : [dropped]) });
      return writeInTurn(head.id);
    },
    searchIndex: async () => (await import('../../search/connect-index.ts')).connectIndex(storage),
    catchUp: (chatId, options) => inTurn(() => catchUp(chatId, options, { storage, known, unwritten }), undefined),
    async remove(chatId) {
      unwritten.delete(chatId);
      const isFull = notStored.value === 'full';
      const isMarked = !isFull && await inTurn(() => markDeleted(storage, chatId, now()), undefined) !== undefined;
      if (!isMarked) return await purge(chatId);
      known.chats.delete(chatId);
      tabs.emit({ type: 'removed', chatId });
    },
    deleted: () => inTurn(readDeleted, []),
    async restore(chatId) {
      const version = await inTurn(() => markDeleted(storage, chatId, undefined), undefined);
      if (version === undefined) return false;
      await inTurn(() => known.readMessages(chatId), []);
      known.of(chatId).version = version;
      tabs.emit({ type: 'saved', chatId, from: 0 });
      return true;
    },
    purge,
  };
}

/** Returns what runs work after earlier calls; a failure is reported and returns `otherwise`. */
function createTurns(onError: (error: unknown) => void): <T>(work: () => Promise<T>, otherwise: T) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
    const result = last.then(work).catch((error: unknown) => {
      onError(error);
      return otherwise;
    });
    last = result;
    return result;
  };
}

/** A long chat takes its time to be read. Drawing it is the next task. */
async function readMessages(chatId: string, known: KnownChats): Promise<readonly Message[]> {
  const placed = await known.readMessages(chatId);
  await nextTask();
  return placed.map(({ message }) => message);
}

async function readAllHeads(storage: Storage, known: KnownChats): Promise<readonly ChatHead[]> {
  const found = await readHeads(storage, { onUnreadable: known.onUnreadable });
  for (const { head, version } of found) known.of(head.id).version = version;
  return found.map(({ head }) => head);
}

interface Parts {
  readonly storage: Storage;
  readonly known: KnownChats;
  readonly unwritten: ReadonlyMap<string, Unwritten>;
}

async function catchUp(
  chatId: string,
  { from = 0, here, isOurs }: CatchUpOptions,
  { storage, known, unwritten }: Parts,
): Promise<Caught> {
  const [found] = await readHeads(storage, { chatId, onUnreadable: known.onUnreadable });
  if (!found) return known.chats.has(chatId) ? 'removed' : undefined;
  const chat = known.of(chatId);
  const placed = await known.readMessages(chatId, from);
  chat.version = found.version;
  const isUnwritten = (id: string): boolean => unwritten.get(chatId)?.ids.has(id) === true;
  const messages = mergeMessages(here(), { ...chat, placed, isOurs: (id) => isOurs(id) || isUnwritten(id) });
  const dropped = unwritten.get(chatId)?.dropped;
  return { head: found.head, messages: messages.filter(({ id }) => !dropped?.has(id)) };
}

function reasonOf(error: unknown): NotStored {
  const reason = error instanceof PinnaceError ? error.details?.['reason'] : undefined;
  if (reason === 'storage_full') return 'full';
  return reason === 'storage_newer' ? 'newer' : 'blocked';
}

interface MergeOptions {
  /** The ids of messages that were stored before. */
  readonly stored: ReadonlySet<string>;
  /** The stored places of messages, by id. */
  readonly places: ReadonlyMap<string, number>;
  /** Those that were read. */
  readonly placed: readonly PlacedMessage[];
  /** Whether an answer is being written here: then this tab has the latest. */
  readonly isOurs: (messageId: string) => boolean;
}

/** Returns all messages in their order; those that are here stay the same objects, with what they are now. */
function mergeMessages(here: readonly Message[], { stored, places, placed, isOurs }: MergeOptions): Message[] {
  const own = new Map(here.map((message) => [message.id, message]));
  const read = new Map(placed.map(({ message }) => [message.id, message]));
  for (const [id, message] of own) {
    const fresh = read.get(id);
    if (fresh && !isOurs(id)) takeIn(message, fresh);
  }
  const isRemoved = ({ id }: Message): boolean => stored.has(id) && !places.has(id); // dropped by the other tab
  const stay = here.filter((message) => isOurs(message.id) || !isRemoved(message));
  const all = [...stay, ...placed.flatMap(({ message }) => own.has(message.id) ? [] : [message])];
  return all.toSorted((a, b) => (places.get(a.id) ?? Infinity) - (places.get(b.id) ?? Infinity) || 0); // messages that are not stored yet are last
}

function takeIn(message: Message, fresh: Message): void {
  if (message.role === 'user' && fresh.role === 'user' && message.files && fresh.files) {
    message.files.value = fresh.files.value;
  }
  if (message.role !== 'assistant' || fresh.role !== 'assistant') return;
  batch(() => {
    message.parts.value = fresh.parts.value;
    message.facts.value = fresh.facts.value;
    message.outcome.value = fresh.outcome.value;
  });
}

/** Changes that are not written yet. */
interface Unwritten {
  readonly head: ChatHead;
  readonly messages: readonly Message[];
  readonly ids: ReadonlySet<string>;
  readonly dropped: ReadonlySet<string>;
}

/** The pending changes by chat, and their writer. */
interface ChatWriter {
  readonly unwritten: Map<string, Unwritten>;
  /** Adds to the pending changes. */
  add(changes: Unwritten): void;
  /** Writes all pending changes of a chat; retries when another tab was first. */
  write(chatId: string): Promise<Saved>;
}

const mostTries = 20;

/** Creates a writer without pending changes. `onWritten` is called after each successful write. */
function createChatWriter(
  storage: Storage,
  { known, tabs, onWritten }: { readonly known: KnownChats; readonly tabs: ChatTabs; readonly onWritten: () => void },
): ChatWriter {
  const unwritten = new Map<string, Unwritten>();

  async function writeOnce(chatId: string, all: Unwritten, chat: Known): Promise<boolean> {
    const places = new Map(chat.places); // unchanged where the commit fails
    const { changes, from } = changesOf(chatId, { ...all, ...chat, places });
    const head = { key: headKey(chatId), value: all.head, ifVersion: chat.version };
    const result = await commitAll(storage, [head, ...changes]);
    if (!result.ok) return false;
    chat.version = result.version;
    chat.places = places;
    for (const id of places.keys()) chat.stored.add(id);
    for (const place of places.values()) chat.highest = Math.max(chat.highest, place);
    if (unwritten.get(chatId) === all) unwritten.delete(chatId);
    onWritten();
    tabs.emit({ type: 'saved', chatId, from });
    return true;
  }

  /** Reads what another tab has written. Returns whether the chat still exists. */
  async function refresh(chatId: string, chat: Known): Promise<boolean> {
    const [head] = await readHeads(storage, { chatId, onUnreadable: known.onUnreadable });
    if (!head) { // or it is deleted
      unwritten.delete(chatId);
      return false;
    }
    chat.version = head.version;
    await known.readMessages(chatId);
    return true;
  }

  return {
    unwritten,
    add(changes) {
      const before = unwritten.get(changes.head.id);
      const ids = new Set([...before?.ids ?? [], ...changes.ids]);
      const dropped = new Set([...before?.dropped ?? [], ...changes.dropped]);
      unwritten.set(changes.head.id, { ...changes, ids, dropped });
    },
    async write(chatId) {
      const all = unwritten.get(chatId);
      if (!all) return 'stored'; // by an earlier call
      const chat = known.of(chatId);
      for (let tries = 0; tries < mostTries; tries++) {
        if (await writeOnce(chatId, all, chat)) return tries > 0 ? 'behind' : 'stored';
        if (!await refresh(chatId, chat)) return 'removed';
      }
      return 'not-stored';
    },
  };
}
