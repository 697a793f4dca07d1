/** Tapes: what models have said, by what they were sent. */

import type { Storage } from '../contracts/storage.ts';
import { fromJsonLines, toJsonLines } from './eval-case.ts';

/** One recorded answer. */
export interface TapeEntry {
  /** SHA-256 of the canonical request. */
  readonly key: string;
  /** From 0: the same request may be answered differently each time. */
  readonly nth: number;
  /** A digest of each value of the request by its JSON pointer: says where another request differs, and nothing of its text. */
  readonly leaves: Readonly<Record<string, string>>;
  /** The parts of the model's stream. */
  readonly parts: readonly unknown[];
  readonly firstMs: number;
  readonly ms: number;
}

/** Where answers are recorded. */
export interface Tape {
  get(key: string, nth: number): Promise<TapeEntry | undefined>;
  put(entry: TapeEntry): Promise<void>;
  /** All entries, to explain a miss. */
  entries(): Promise<readonly TapeEntry[]>;
}

/** A tape in memory, which is written and read as lines of JSON. */
export interface TextTape extends Tape {
  toText(): string;
}

/**
 * Creates a tape in memory with the entries of a JSONL file.
 *
 * @example
 * const tape = textTape(await readFile('tape.jsonl', 'utf8'));
 * // … record …
 * await writeFile('tape.jsonl', tape.toText());
 */
export function textTape(text = ''): TextTape {
  const entries = new Map(fromJsonLines<TapeEntry>(text).map((entry) => [`${entry.key} ${entry.nth}`, entry]));
  return {
    get: (key, nth) => Promise.resolve(entries.get(`${key} ${nth}`)),
    put(entry) {
      entries.set(`${entry.key} ${entry.nth}`, entry);
      return Promise.resolve();
    },
    entries: () => Promise.resolve([...entries.values()]),
    toText: () => toJsonLines([...entries.values()]),
  };
}

/** Creates a tape in a storage, as `indexedDbStorage` in a page. At most 1,000 entries of it explain a miss. */
export function storageTape(storage: Storage, name: string): Tape {
  return {
    get: async (key, nth) => (await storage.get(['tape', name, key, nth]))?.value as TapeEntry | undefined, // `put` writes it
    async put(entry) {
      await storage.commit([{ key: ['tape', name, entry.key, entry.nth], value: entry }]);
    },
    entries: async () =>
      (await storage.list({ prefix: ['tape', name], limit: 1000 })).map(({ value }) => value as TapeEntry), // as above
  };
}
