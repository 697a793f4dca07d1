/** Keeps chats in storage: one head per chat, one value per message, so that a long chat is never written as a whole. */

import { type ReadonlySignal, signal } from '@preact/signals';
import * as v from 'valibot';
import { PinnaceError } from '../../src/errors.ts';
import type { Change, Entry, Storage } from '../../src/ports.ts';
import type { ChatHead } from './chat.ts';
import { fromKept, toKept, withoutOutputs } from './kept-message.ts';
import type { Message } from './message.ts';
import { readAs } from './run-data.ts';

/** Why chats are not kept. */
export type NotKept = 'blocked' | 'full';

/** Reads and writes chats. Nothing here rejects: what cannot be kept is told by `notKept`. */
export interface Keeper {
  /** Set once storage has refused; the page works on without it. */
  readonly notKept: ReadonlySignal<NotKept | undefined>;
  /** Every chat's head, the latest first. */
  heads(): Promise<readonly ChatHead[]>;
  messages(chatId: string): Promise<readonly Message[]>;
  /** Writes the head and the messages from `from` on. */
  save(head: ChatHead, changed: { readonly messages: readonly Message[]; readonly from: number }): Promise<void>;
  remove(chatId: string): Promise<void>;
}

/** The largest message that is kept whole, as JSON text: half of what a storage takes, which counts bytes. */
const maxMessageLength = 2_000_000;
const pageSize = 200;
const commitSize = 50;

const Head = v.object({
  id: v.string(),
  agentId: v.string(),
  title: v.string(),
  createdAt: v.number(),
  updatedAt: v.number(),
});

/** Gives the keeper over a storage. Writes go one after the other. */
export function createKeeper(storage: Storage): Keeper {
  const notKept = signal<NotKept | undefined>();
  let last: Promise<unknown> = Promise.resolve();

  /** Runs `work` after what was asked before; a failure is told and answered with `otherwise`. */
  function inTurn<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
    const result = last.then(work).catch((error: unknown) => {
      notKept.value = reasonOf(error);
      return otherwise;
    });
    last = result;
    return result;
  }

  return {
    notKept,
    heads: () => inTurn(async () => await readHeads(storage), []),
    messages: (chatId) => inTurn(async () => await readMessages(storage, chatId), []),
    save: (head, changed) =>
      inTurn(async () => {
        await commit(storage, [{ key: headKey(head.id), value: head }, ...messageChanges(head.id, changed)]);
        notKept.value = undefined;
      }, undefined),
    remove: (chatId) => inTurn(async () => await removeChat(storage, chatId), undefined),
  };
}

function headKey(chatId: string): [string, string] {
  return ['chat', chatId];
}

function messagesKey(chatId: string): [string, string] {
  return ['message', chatId];
}

async function readHeads(storage: Storage): Promise<ChatHead[]> {
  const entries = await readAll(storage, ['chat']);
  return entries.flatMap(({ value }) => readAs(Head, value) ?? []).toSorted((a, b) => b.updatedAt - a.updatedAt);
}

/** Page by page: making thousands of messages in one go would hold up the page. */
async function readMessages(storage: Storage, chatId: string): Promise<Message[]> {
  const messages: Message[] = [];
  for await (const page of pagesOf(storage, messagesKey(chatId))) {
    messages.push(...page.flatMap(({ value }) => fromKept(value) ?? []));
  }
  return messages;
}

async function readAll(storage: Storage, prefix: readonly string[]): Promise<readonly Entry[]> {
  return (await Array.fromAsync(pagesOf(storage, prefix))).flat();
}

async function* pagesOf(storage: Storage, prefix: readonly string[]): AsyncIterableIterator<readonly Entry[]> {
  let page: readonly Entry[] = [];
  do {
    const after = page.at(-1)?.key;
    page = await storage.list({ prefix, limit: pageSize, ...(after && { after }) });
    yield page;
  } while (page.length === pageSize);
}

function messageChanges(
  chatId: string,
  { messages, from }: { readonly messages: readonly Message[]; readonly from: number },
): Change[] {
  return messages.slice(from).map((message, i) => ({
    key: [...messagesKey(chatId), from + i],
    value: valueOf(message),
  }));
}

function valueOf(message: Message): unknown {
  const kept = toKept(message);
  return JSON.stringify(kept).length > maxMessageLength ? withoutOutputs(kept) : kept;
}

async function removeChat(storage: Storage, chatId: string): Promise<void> {
  const entries = await readAll(storage, messagesKey(chatId));
  await commit(storage, [{ key: headKey(chatId) }, ...entries.map(({ key }) => ({ key }))]);
}

async function commit(storage: Storage, changes: readonly Change[]): Promise<void> {
  for (let i = 0; i < changes.length; i += commitSize) await storage.commit(changes.slice(i, i + commitSize));
}

function reasonOf(error: unknown): NotKept {
  return error instanceof PinnaceError && error.details?.['reason'] === 'storage_full' ? 'full' : 'blocked';
}
