/** The interface of the search index, over comlink where it is in a worker. */

/** What can be found. `chat` is read here; the rest is given. */
export type SearchKind = 'chat' | 'file' | 'command';

/** A thing of a kind, and the version of its content. */
export type Followed = readonly [id: string, version: string];

export interface SearchEntry {
  readonly id: string;
  readonly version: string;
  readonly title: string;
  /** Other words that it is found by. */
  readonly words?: string;
  /** Its text, in parts: a hit names the part. */
  readonly texts?: readonly string[];
}

export interface SearchHit {
  readonly kind: SearchKind;
  readonly id: string;
  readonly part: number;
  /** The words of the index that matched. */
  readonly terms: readonly string[];
  /** Of a chat whose messages have the words. */
  readonly excerpt?: Excerpt;
  /** The query, or a word of it as it is written in the messages, to find the place; absent where only the title has it. */
  readonly found?: string;
}

export interface Excerpt {
  readonly text: string;
  /** Where the words stand, in UTF-16 code units. */
  readonly ranges: readonly (readonly [from: number, to: number])[];
}

/** One call waits for the one before. */
export interface SearchControl {
  /** Drops what is not among these any more. Returns the ids of those that are new or have changed. */
  follow(kind: SearchKind, all: readonly Followed[]): Promise<readonly string[]>;
  add(kind: SearchKind, entries: readonly SearchEntry[]): Promise<void>;
  /** Removes the stored index at once: something was removed, and none of its words may stay. */
  forget(): Promise<void>;
  /** Returns the best first. */
  search(query: string): Promise<readonly SearchHit[]>;
}
