/**
 * The search index of the stored chats: their titles and texts, by words, beginnings of words and slips of the pen.
 *
 * - The index follows the stored heads: before each search, chats whose head has changed are read again, and deleted ones are dropped.
 *   So tabs need not tell each other anything, and what one tab has missed, the next search finds.
 * - It is stored beside the chats, so that a later visit reads only what has changed. A write that fails costs nothing but that.
 * - A deleted chat takes the stored index with it: none of its words stay behind.
 */

import type { ChatHit } from '../state/chat-storage.ts';
import MiniSearch, { type SearchResult } from 'minisearch';
import type { Storage } from '../../../src/contracts/storage.ts';
import { answerText, type Message } from '../state/message.ts';
import { indexKey, readHeads, readPlaced } from './chat-rows.ts';

/** Searches the chats. */
export interface ChatIndex {
  /** Returns the best chats first. */
  search(query: string, limit: number): Promise<readonly ChatHit[]>;
}

interface Indexed {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** The text of a chat that is indexed, and the stored index, in UTF-16 code units. */
const longestText = 500_000;
const longestIndex = 2_000_000;
const format = 1;

interface StoredIndex {
  readonly format: number;
  readonly versions: readonly (readonly [chatId: string, version: string])[];
  readonly json: string;
}

const words = new Intl.Segmenter(undefined, { granularity: 'word' });
const options = {
  fields: ['title', 'text'],
  tokenize: (text: string) => Array.from(words.segment(text)).flatMap((one) => one.isWordLike ? [one.segment] : []),
  searchOptions: {
    combineWith: 'AND' as const,
    boost: { title: 3 },
    prefix: (term: string) => term.length > 1,
    fuzzy: (term: string) => term.length > 4 ? 2 : term.length > 3 ? 1 : false, // two letters that changed places are two
    weights: { fuzzy: 0.3, prefix: 0.6 },
  },
};

/** Creates the index over the storage of the chats. Reads nothing before the first search. */
export function createChatIndex(storage: Storage): ChatIndex {
  let index = new MiniSearch<Indexed>(options);
  const versions = new Map<string, string>();
  let opened: Promise<void> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function open(): Promise<void> {
    const stored = (await storage.get(indexKey))?.value as StoredIndex | undefined; // only this module writes it
    if (stored?.format !== format) return;
    index = MiniSearch.loadJSON<Indexed>(stored.json, options);
    for (const [chatId, version] of stored.versions) versions.set(chatId, version);
  }

  /** Takes what has changed since. */
  async function refresh(): Promise<void> {
    const heads = await readHeads(storage, { onUnreadable: () => undefined });
    const now = new Map(heads.map(({ head, version }) => [head.id, version]));
    let changes = 0;
    for (const chatId of [...versions.keys()].filter((id) => now.get(id) !== versions.get(id))) {
      index.discard(chatId);
      versions.delete(chatId);
      changes++;
    }
    for (const { head: { id, title }, version } of heads) {
      if (versions.has(id)) continue;
      index.add({ id, title, text: await textOf(storage, id) });
      versions.set(id, version);
      changes++;
    }
    if (changes > 0) await store().catch(() => undefined); // a full disk: the next visit reads more
  }

  async function store(): Promise<void> {
    const json = JSON.stringify(index);
    const value: StoredIndex = { format, versions: [...versions], json };
    await storage.commit([{ key: indexKey, ...(json.length <= longestIndex && { value }) }]);
  }

  async function search(query: string, limit: number): Promise<readonly ChatHit[]> {
    await (opened ??= open().catch(() => undefined)); // one that cannot be read is made anew
    await refresh();
    const results = index.search(query).slice(0, limit);
    return await Promise.all(results.map((result) => toHit(storage, result, query.trim())));
  }

  return {
    search(query, limit) {
      const found = last.then(() => search(query, limit));
      last = found.catch(() => undefined);
      return found;
    },
  };
}

async function textsOf(storage: Storage, chatId: string): Promise<string[]> {
  const placed = await readPlaced(storage, chatId, { from: 0, onUnreadable: () => undefined });
  return placed.map(({ message }) => textIn(message));
}

async function textOf(storage: Storage, chatId: string): Promise<string> {
  return (await textsOf(storage, chatId)).join('\n\n').slice(0, longestText);
}

function textIn(message: Message): string {
  if (message.role === 'assistant') return answerText(message);
  return [message.text, ...message.files?.value.map(({ name }) => name) ?? []].join('\n');
}

/** How much text stands before and behind the first word, in UTF-16 code units. */
const [before, behind] = [40, 120];

async function toHit(storage: Storage, { id, terms }: SearchResult, query: string): Promise<ChatHit> {
  const pattern = new RegExp(terms.map((term) => term.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'giu');
  let best: { readonly text: string; readonly at: number; readonly count: number } | undefined;
  for (const text of await textsOf(storage, String(id))) {
    const [first] = text.matchAll(pattern);
    if (!first) continue;
    const near = text.slice(first.index, first.index + behind).toLowerCase();
    const count = terms.filter((term) => near.includes(term)).length;
    if (!best || count > best.count) best = { text, at: first.index, count };
  }
  if (!best) return { chatId: String(id), excerpt: '', ranges: [] };
  const { text, at } = best;
  const [from, to] = [Math.max(0, at - before), Math.min(text.length, at + behind)];
  const excerpt = `${from > 0 ? '…' : ''}${text.slice(from, to).toWellFormed().replaceAll(/\s/g, ' ')}${
    to < text.length ? '…' : ''
  }`;
  const ranges = Array.from(
    excerpt.matchAll(pattern),
    (match) => [match.index, match.index + match[0].length] as const,
  );
  const [found] = ranges;
  const isWhole = text.toLowerCase().includes(query.toLowerCase());
  return { chatId: String(id), excerpt, ranges, ...(found && { found: isWhole ? query : excerpt.slice(...found) }) };
}
