/** A text index as bytes: the terms, and the items with their terms in order. Postings are made of them again. */

import { ByteReader, ByteWriter } from '../bytes.ts';
import type { Turns } from '../turns.ts';
import { addSequence, createTextIndex, itemsOf, type TextIndex } from './text-index.ts';
import { numberTerm } from './vocabulary.ts';

/** Format 1 was the index of another engine: it is not read, and all items are indexed again. */
const format = 2;
/** Terms start here; below are the marks in a sequence. */
const firstTerm = 2;

/** Returns the bytes of an index, which must not change meanwhile. */
export async function writeTextIndex(index: TextIndex, turns: Turns): Promise<Uint8Array<ArrayBuffer>> {
  const out = new ByteWriter();
  const { terms } = index.vocabulary;
  out.numbers(format, terms.length, index.live);
  for (const term of terms) {
    await turns.next();
    out.text(term);
  }
  for (const { id, group, sequence } of itemsOf(index)) {
    await turns.next();
    out.text(id);
    out.text(group === id ? '' : group);
    out.numbers(sequence.length);
    for (let at = 0; at < sequence.length; at++) out.numbers(sequence[at]! + firstTerm);
  }
  return out.bytes();
}

/** Returns the index of these bytes; `undefined` for those of another format. */
export async function readTextIndex(bytes: Uint8Array, turns: Turns): Promise<TextIndex | undefined> {
  const from = new ByteReader(bytes);
  if (from.number() !== format) return undefined;
  const index = createTextIndex();
  const [terms, items] = [from.number(), from.number()];
  for (let left = terms; left > 0; left--) {
    await turns.next();
    numberTerm(index.vocabulary, from.text());
  }
  for (let left = items; left > 0; left--) {
    await turns.next();
    const [id, group] = [from.text(), from.text()];
    const sequence = Array.from({ length: from.number() }, () => from.number() - firstTerm);
    addSequence(index, { id, group: group === '' ? id : group, sequence });
  }
  return index;
}
