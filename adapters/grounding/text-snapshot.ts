/**
 * A MiniSearch index as bytes: numbers of seven bits a byte, texts in UTF-8. The library's own JSON is four times as long, and is
 * made and read in one go; here others have their turn. It reads fields that the library keeps to itself: its version is pinned.
 */

import MiniSearch, { type Options } from 'minisearch';
import { ByteReader, ByteWriter } from './bytes.ts';
import type { Turns } from './turns.ts';

/** Numbers of documents with how often they have a term. */
type Frequencies = Map<number, number>;

interface Internals {
  readonly terms: {
    readonly size: number;
    [Symbol.iterator](): Iterator<[string, Map<number, Frequencies>]>;
    set(term: string, fields: Map<number, Frequencies>): unknown;
  };
  /** By short id. */
  readonly ids: Map<number, string>;
  readonly shortIds: Map<string, number>;
  readonly lengths: Map<number, number[]>;
  readonly averageLengths: readonly number[];
  readonly documents: number;
  readonly nextId: number;
}

/** The library's own names, as its `toJSON` reads them. */
const names: Readonly<Record<keyof Internals, string>> = {
  terms: '_index',
  ids: '_documentIds',
  shortIds: '_idToShortId',
  lengths: '_fieldLength',
  averageLengths: '_avgFieldLength',
  documents: '_documentCount',
  nextId: '_nextId',
};

function innerOf(index: object): Internals {
  const entries = Object.entries(names).map(([name, own]) => [name, Reflect.get(index, own)] as const);
  return Object.fromEntries(entries) as unknown as Internals; // the pinned version has them so
}

const format = 1;

/** Returns the bytes of an index, which must not change meanwhile. */
export async function writeIndex<T>(index: MiniSearch<T>, turns: Turns): Promise<Uint8Array<ArrayBuffer>> {
  const { terms, ids, lengths, averageLengths, documents, nextId } = innerOf(index);
  const out = new ByteWriter();
  out.numbers(format, documents, nextId, averageLengths.length, ids.size);
  for (const average of averageLengths) out.float(average);
  for (const [short, id] of ids) {
    await turns.next();
    const own = lengths.get(short) ?? [];
    out.numbers(short, own.length, ...own.map((length) => length ?? 0));
    out.text(id);
  }
  out.numbers(terms.size);
  for (const [term, fields] of terms) {
    out.text(term);
    out.numbers(fields.size);
    for (const [field, frequencies] of fields) {
      await turns.next();
      out.numbers(field, frequencies.size);
      for (const [short, count] of frequencies) out.numbers(short, count);
    }
  }
  return out.bytes();
}

/** Returns the index of these bytes, made with the same options; `undefined` for those of another format. */
export async function readIndex<T>(
  bytes: Uint8Array,
  { options, turns }: { readonly options: Options<T>; readonly turns: Turns },
): Promise<MiniSearch<T> | undefined> {
  const from = new ByteReader(bytes);
  if (from.number() !== format) return undefined;
  const index = new MiniSearch<T>(options);
  const { terms, ids, shortIds, lengths } = innerOf(index);
  const [documents, nextId, averages, count] = [from.number(), from.number(), from.number(), from.number()];
  const averageLengths = Array.from({ length: averages }, () => from.float());
  Object.assign(index, {
    [names.documents]: documents,
    [names.nextId]: nextId,
    [names.averageLengths]: averageLengths,
  });
  for (let i = 0; i < count; i++) {
    await turns.next();
    const short = from.number();
    lengths.set(short, Array.from({ length: from.number() }, () => from.number()));
    const id = from.text();
    ids.set(short, id);
    shortIds.set(id, short);
  }
  for (let left = from.number(); left > 0; left--) {
    const term = from.text();
    const fields = new Map<number, Frequencies>();
    for (let more = from.number(); more > 0; more--) {
      await turns.next();
      const frequencies: Frequencies = new Map();
      fields.set(from.number(), frequencies);
      for (let having = from.number(); having > 0; having--) frequencies.set(from.number(), from.number());
    }
    terms.set(term, fields);
  }
  return index;
}

/** Returns for each term the number of documents that have it, in whichever field. */
export async function documentFrequencies<T>(index: MiniSearch<T>, turns: Turns): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const [term, fields] of innerOf(index).terms) {
    await turns.next();
    const [first, ...others] = [...fields.values()];
    let having = first?.size ?? 0;
    for (const other of others) for (const short of other.keys()) if (!first?.has(short)) having++; // there are two fields
    found.set(term, having);
  }
  return found;
}
