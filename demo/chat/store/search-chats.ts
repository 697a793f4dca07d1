/** Searches the messages of all stored chats. */

import type { Storage } from '../../../src/contracts/storage.ts';
import { nextTask } from '../../kit/next-task.ts';
import { messagesOf } from './chat-rows.ts';
import { answerText, type Message } from '../state/message.ts';

/** A chat with a message that holds the words. */
export interface ChatHit {
  readonly chatId: string;
  /** The words with some text around them. */
  readonly excerpt: string;
}

interface SearchOptions {
  readonly signal: AbortSignal;
  /** The most chats to return; default 20. */
  readonly limit?: number;
}

/** How much text stands before and behind the words, in UTF-16 code units. */
const around = 40;

/** Returns chats whose messages hold the query, each once, in the order of storage. An aborted search returns what was found. */
export async function searchChats(
  storage: Storage,
  query: string,
  { signal, limit = 20 }: SearchOptions,
): Promise<readonly ChatHit[]> {
  const wanted = query.trim().toLowerCase();
  const hits = new Map<string, ChatHit>();
  if (wanted === '') return [];
  for await (const page of messagesOf(storage)) {
    for (const { chatId, message } of page) {
      if (hits.has(chatId)) continue;
      const excerpt = excerptOf(textOf(message), wanted);
      if (excerpt !== undefined) hits.set(chatId, { chatId, excerpt });
    }
    if (signal.aborted || hits.size >= limit) break;
    await nextTask();
  }
  return [...hits.values()].slice(0, limit);
}

function textOf(message: Message): string {
  return message.role === 'user' ? message.text : answerText(message);
}

function excerptOf(text: string, wanted: string): string | undefined {
  const at = text.toLowerCase().indexOf(wanted);
  if (at < 0) return undefined;
  const [from, to] = [Math.max(0, at - around), Math.min(text.length, at + wanted.length + around)];
  const cut = text.slice(from, to).toWellFormed().replaceAll(/\s+/g, ' ').trim();
  return `${from > 0 ? '…' : ''}${cut}${to < text.length ? '…' : ''}`;
}
