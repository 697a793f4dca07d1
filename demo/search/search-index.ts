/**
 * The search index of everything that can be found in the page: titles and texts, by words, beginnings of words and slips of the pen.
 *
 * - Chats are read from their storage. Before each search, those whose head has changed are read again, and deleted ones are dropped.
 *   So tabs need no messages between them, and what one tab has missed, the next search finds.
 * - The page adds all else: `follow` names what there is of a kind and drops what is gone, `add` brings what is new.
 * - It is stored beside the chats, so that a later visit reads only what has changed. A write that fails costs nothing but that.
 * - A deleted chat takes the stored index with it, and so does what the page gives up (`forget`): none of their words stay behind.
 */

import MiniSearch, { type SearchResult } from 'minisearch';
import type { Storage } from '../../src/contracts/storage.ts';
import { answerText, type Message } from '../chat/state/message.ts';
import { indexKey, readHeads, readPlaced } from '../chat/store/chat-rows.ts';
import type { Followed, SearchControl, SearchEntry, SearchHit, SearchKind } from '../control/search-control.ts';
import { excerptOf } from './excerpt.ts';

interface Indexed {
  readonly id: string;
  readonly title: string;
  readonly words: string;
  readonly text: string;
}

/** The text of a thing that is indexed, in UTF-16 code units, and the stored index, in bytes. */
const longestText = 500_000;
const longestIndex = 3_500_000;
const format = 2;

interface StoredIndex {
  readonly format: number;
  readonly versions: readonly (readonly [key: string, version: string, parts: number])[];
  /** JSON, compressed. */
  readonly packed: Uint8Array<ArrayBuffer>;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
const options = {
  fields: ['title', 'words', 'text'],
  tokenize: (text: string) => Array.from(segmenter.segment(text)).flatMap((one) => one.isWordLike ? [one.segment] : []),
  searchOptions: {
    combineWith: 'AND' as const,
    boost: { title: 3, words: 0.5 },
    prefix: true,
    fuzzy: (term: string) => term.length > 4 ? 2 : term.length > 3 ? 1 : false, // two letters that changed places are two
    weights: { fuzzy: 0.3, prefix: 0.6 },
    // What the page does comes before what a guide says of it.
    boostDocument: (id: unknown) => String(id).startsWith('0 command guide-') ? 0.5 : 1,
  },
};

/** The most hits of one kind. */
const mostOfKind = { chat: 8, file: 6, command: 60 } as const;

/** Commands that fit much worse than the best are noise. */
const leastOfBest = 0.1;

/** Searches everything. One call waits for the one before. */
export class SearchIndex implements SearchControl {
  readonly #storage: Storage;
  #index = new MiniSearch<Indexed>(options);
  /** What is indexed, by kind and id. */
  readonly #known = new Map<string, { readonly version: string; readonly parts: number }>();
  #hasChanged = false;
  #last: Promise<unknown>;

  /** Reads nothing but the stored index before the first search. */
  constructor(storage: Storage) {
    this.#storage = storage;
    this.#last = this.#open().catch(() => undefined); // one that cannot be read is made anew
  }

  follow(kind: SearchKind, all: readonly Followed[]): Promise<readonly string[]> {
    return this.#inTurn(() => Promise.resolve(this.#follow(kind, all)));
  }

  add(kind: SearchKind, entries: readonly SearchEntry[]): Promise<void> {
    return this.#inTurn(() => Promise.resolve(entries.forEach((entry) => this.#add(kind, entry))));
  }

  forget(): Promise<void> {
    return this.#inTurn(async () => void await this.#storage.commit([{ key: indexKey }]));
  }

  search(query: string): Promise<readonly SearchHit[]> {
    return this.#inTurn(async () => {
      await this.#readChats();
      if (this.#hasChanged) await this.#store().catch(() => undefined); // a full disk: the next visit reads more
      const best = new Map<string, SearchResult>();
      const counts = { chat: 0, file: 0, command: 0 };
      const fields = query.trim().length < 2 ? ['title'] : options.fields; // one letter is in most texts
      const results = this.#index.search(query, { fields });
      const least = (results.find((result) => placeOf(result)[0] === 'command')?.score ?? 0) * leastOfBest;
      for (const result of results) {
        const [kind, id] = placeOf(result);
        if (kind === 'command' && result.score < least) continue;
        if (best.has(`${kind} ${id}`) || counts[kind] === mostOfKind[kind]) continue;
        counts[kind]++;
        best.set(`${kind} ${id}`, result);
      }
      return await Promise.all([...best.values()].map((result) => this.#toHit(result, query.trim())));
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #open(): Promise<void> {
    const stored = (await this.#storage.get(indexKey))?.value as StoredIndex | undefined; // only this class writes it
    if (stored?.format !== format) return;
    const json = new Blob([stored.packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    this.#index = MiniSearch.loadJSON<Indexed>(await new Response(json).text(), options);
    for (const [key, version, parts] of stored.versions) this.#known.set(key, { version, parts });
  }

  async #store(): Promise<void> {
    this.#hasChanged = false;
    const json = new Blob([JSON.stringify(this.#index)]).stream().pipeThrough(new CompressionStream('deflate-raw'));
    const packed = new Uint8Array(await new Response(json).arrayBuffer());
    const versions = Array.from(this.#known, ([key, { version, parts }]) => [key, version, parts] as const);
    const value: StoredIndex = { format, versions, packed };
    await this.#storage.commit([{ key: indexKey, ...(packed.length <= longestIndex && { value }) }]);
  }

  #follow(kind: SearchKind, all: readonly Followed[]): readonly string[] {
    const now = new Map(all.map(([id, version]) => [`${kind} ${id}`, version]));
    for (const [key, { version, parts }] of this.#known) {
      if (!key.startsWith(`${kind} `) || now.get(key) === version) continue;
      for (let part = 0; part < parts; part++) this.#index.discard(`${part} ${key}`);
      this.#known.delete(key);
      this.#hasChanged = true;
    }
    return all.flatMap(([id]) => this.#known.has(`${kind} ${id}`) ? [] : [id]);
  }

  #add(kind: SearchKind, { id, version, title, words = '', texts = [] }: SearchEntry): void {
    const key = `${kind} ${id}`;
    if (this.#known.has(key)) return; // another tab of this worker was first
    const parts = Math.max(1, texts.length);
    for (let part = 0; part < parts; part++) {
      const isFirst = part === 0;
      const text = (texts[part] ?? '').slice(0, longestText);
      this.#index.add({ id: `${part} ${key}`, title: isFirst ? title : '', words: isFirst ? words : '', text });
    }
    this.#known.set(key, { version, parts });
    this.#hasChanged = true;
  }

  async #readChats(): Promise<void> {
    const heads = await readHeads(this.#storage, { onUnreadable: () => undefined });
    const changed = new Set(this.#follow('chat', heads.map(({ head, version }) => [head.id, version])));
    for (const { head: { id, title }, version } of heads) {
      if (!changed.has(id)) continue;
      this.#add('chat', { id, version, title, texts: [(await this.#textsOf(id)).join('\n\n')] });
    }
  }

  async #textsOf(chatId: string): Promise<string[]> {
    const placed = await readPlaced(this.#storage, chatId, { from: 0, onUnreadable: () => undefined });
    return placed.map(({ message }) => textIn(message));
  }

  async #toHit(result: SearchResult, query: string): Promise<SearchHit> {
    const [kind, id, part] = placeOf(result);
    const { terms } = result;
    const hit = { kind, id, part, terms };
    if (kind !== 'chat') return hit;
    const excerpt = excerptOf(await this.#textsOf(id), terms);
    if (!excerpt) return hit;
    const [first] = excerpt.ranges;
    const isWhole = excerpt.whole.toLowerCase().includes(query.toLowerCase());
    const { text, ranges } = excerpt;
    return { ...hit, excerpt: { text, ranges }, ...(first && { found: isWhole ? query : text.slice(...first) }) };
  }
}

function placeOf({ id }: SearchResult): readonly [kind: SearchKind, id: string, part: number] {
  const [, part = '', kind = '', own = ''] = /^(\d+) (\w+) ([^]*)$/.exec(String(id)) ?? [];
  return [kind as SearchKind, own, Number(part)]; // safe: `#add` writes it
}

function textIn(message: Message): string {
  if (message.role === 'assistant') return answerText(message);
  return [message.text, ...message.files?.value.map(({ name }) => name) ?? []].join('\n');
}
