/** Chats in storage: the entries, and how they are read and written. */

import * as v from 'valibot';
import type { Key } from '../../../src/base/key.ts';
import type { Change, Entry, Storage } from '../../../src/contracts/storage.ts';
import type { ChatHead } from '../state/chat.ts';
import { ChatSettings } from '../state/chat-settings.ts';
import { fromStored, toStored, withoutOutputs } from './stored-message.ts';
import type { Message } from '../state/message.ts';
import { readAs } from '../state/run-data.ts';

/** A message and its place in the chat. Places may be empty. */
export interface PlacedMessage {
  readonly place: number;
  readonly message: Message;
}

/** Called for an entry that cannot be read. */
type OnUnreadable = (key: Key) => void;

/** The largest message that is stored whole, as JSON text: half of a storage value's limit, which counts bytes. */
const maxMessageLength = 2_000_000;
const pageSize = 200;
const commitSize = 50;

const Head = v.object({
  id: v.string(),
  agentId: v.string(),
  title: v.string(),
  createdAt: v.number(),
  updatedAt: v.number(),
  pinned: v.optional(v.boolean()),
  settings: v.optional(ChatSettings),
  leaf: v.optional(v.string()),
  deletedAt: v.optional(v.number()),
});

/** The entry of a chat's head. */
export function headKey(chatId: string): Key {
  return ['chat', chatId];
}

/** The entry of the search index. */
export const indexKey: Key = ['search', 'index'];

function messagesKey(chatId: string): Key {
  return ['message', chatId];
}

interface HeadOptions {
  readonly chatId?: string;
  /** Those of deleted chats instead. */
  readonly isDeleted?: boolean;
  readonly onUnreadable: OnUnreadable;
}

/** Reads every head, the latest first, or that of one chat. */
export async function readHeads(
  storage: Storage,
  { chatId, isDeleted = false, onUnreadable }: HeadOptions,
): Promise<{ readonly head: ChatHead; readonly version: string }[]> {
  const found = chatId === undefined ? await readAll(storage, ['chat']) : [await storage.get(headKey(chatId))];
  const heads = found.flatMap((entry) => {
    const head = entry && readAs(Head, entry.value);
    if (entry && !head) onUnreadable(entry.key);
    return entry && head && (head.deletedAt !== undefined) === isDeleted ? [{ head, version: entry.version }] : [];
  });
  return heads.toSorted((a, b) => b.head.updatedAt - a.head.updatedAt);
}

/** Reads the messages of a chat, from a place on; page by page: making thousands in one go would hold up the page. */
export async function readPlaced(
  storage: Storage,
  chatId: string,
  { from, onUnreadable }: { readonly from: number; readonly onUnreadable: OnUnreadable },
): Promise<readonly PlacedMessage[]> {
  const prefix = messagesKey(chatId);
  const placed: PlacedMessage[] = [];
  for await (const page of pagesOf(storage, prefix, from > 0 ? [...prefix, from - 1] : undefined)) {
    for (const { key, value } of page) {
      const message = fromStored(value);
      if (message) placed.push({ place: Number(key.at(-1)), message });
      else onUnreadable(key);
    }
  }
  return placed;
}

/** The changes that write some messages of a chat, and the first place that they are about. */
export function changesOf(
  chatId: string,
  { messages, ids, dropped, places, highest }: {
    readonly messages: readonly Message[];
    /** Those to write, and those to remove. */
    readonly ids: ReadonlySet<string>;
    readonly dropped: ReadonlySet<string>;
    /** Where messages are; those that are new are put there. */
    readonly places: Map<string, number>;
    /** The last place that is taken, be it by something that cannot be read. */
    readonly highest: number;
  },
): { readonly changes: readonly Change[]; readonly from: number } {
  const free = [...places].flatMap(([id, place]) => dropped.has(id) ? [place] : []).toSorted((a, b) => a - b);
  for (const id of dropped) places.delete(id);
  let next = highest + 1;
  const written = messages.filter(({ id }) => ids.has(id)).map((message) => {
    const place = places.get(message.id) ?? free.shift() ?? next++;
    places.set(message.id, place);
    return { place, value: valueOf(message) };
  });
  const changes = [...written, ...free.map((place) => ({ place, value: undefined }))].map(({ place, value }) => ({
    key: [...messagesKey(chatId), place],
    ...(value !== undefined && { value }),
  }));
  return { changes, from: Math.min(...written.map(({ place }) => place), ...free, next) };
}

/** Marks a chat as deleted at a time, or as restored, and removes the search index. Returns the version of its head. */
export async function markDeleted(
  storage: Storage,
  chatId: string,
  deletedAt: number | undefined,
): Promise<string | undefined> {
  const [found] = await readHeads(storage, {
    chatId,
    isDeleted: deletedAt === undefined,
    onUnreadable: () => undefined,
  });
  if (!found) return undefined;
  const { deletedAt: _, ...head } = found.head;
  const value = deletedAt === undefined ? head : { ...head, deletedAt };
  const marked = await commitAll(storage, [
    { key: headKey(chatId), value, ifVersion: found.version },
    { key: indexKey },
  ]);
  return marked.ok ? marked.version : undefined;
}

/** Removes a chat and its messages. */
export async function removeChat(storage: Storage, chatId: string): Promise<void> {
  const entries = await readAll(storage, messagesKey(chatId));
  await commitAll(storage, [{ key: headKey(chatId) }, { key: indexKey }, ...entries.map(({ key }) => ({ key }))]);
}

/** Writes; where the first change does not hold, nothing. Returns the first one's version. */
export async function commitAll(
  storage: Storage,
  changes: readonly Change[],
): Promise<{ readonly ok: true; readonly version: string } | { readonly ok: false }> {
  const first = await storage.commit(changes.slice(0, commitSize));
  if (!first.ok) return { ok: false };
  for (let i = commitSize; i < changes.length; i += commitSize) await storage.commit(changes.slice(i, i + commitSize));
  return first;
}

async function readAll(storage: Storage, prefix: Key): Promise<readonly Entry[]> {
  return (await Array.fromAsync(pagesOf(storage, prefix))).flat();
}

async function* pagesOf(storage: Storage, prefix: Key, start?: Key): AsyncIterableIterator<readonly Entry[]> {
  let page: readonly Entry[] = [];
  do {
    const after = page.at(-1)?.key ?? start;
    page = await storage.list({ prefix, limit: pageSize, ...(after && { after }) });
    yield page;
  } while (page.length === pageSize);
}

function valueOf(message: Message): unknown {
  const stored = toStored(message);
  return JSON.stringify(stored).length > maxMessageLength ? withoutOutputs(stored) : stored;
}
