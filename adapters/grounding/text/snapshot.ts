/** A text index as bytes: the terms, the words, and the items with their terms in order. Postings are made of them again. */

import { ByteReader, ByteWriter } from '../bytes.ts';
import type { Turns } from '../../../src/base/turns.ts';
import { addSequence, createTextIndex, itemsOf, type TextIndex } from './text-index.ts';
import { addWord, numberTerm } from './vocabulary.ts';

/**
 * An index of an earlier format is not read, and all items are indexed again: format 1 was of another engine, format 2 had words
 * by earlier rules and did not store them, format 3 had other stems. A change of the rules of words needs another format.
 */
const format = 4;
/** Terms start here; below are the marks in a sequence. */
const firstTerm = 2;

/** Returns the bytes of an index, which must not change meanwhile. */
export async function writeTextIndex(index: TextIndex, turns: Turns): Promise<Uint8Array<ArrayBuffer>> {
  const out = new ByteWriter();
  const { terms, words } = index.vocabulary;
  out.numbers(format, terms.length, words.size, index.live);
  for (const term of terms) {
    await turns.next();
    out.text(term);
  }
  for (const [word, { term }] of words) {
    await turns.next();
    out.text(word === terms[term] ? '' : word);
    out.numbers(term);
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
  const [terms, words, items] = [from.number(), from.number(), from.number()];
  for (let left = terms; left > 0; left--) {
    await turns.next();
    numberTerm(index.vocabulary, from.text());
  }
  for (let left = words; left > 0; left--) {
    await turns.next();
    const [word, term] = [from.text(), from.number()];
    addWord(index.vocabulary, word === '' ? index.vocabulary.terms[term]! : word, term);
  }
  for (let left = items; left > 0; left--) {
    await turns.next();
    const [id, group] = [from.text(), from.text()];
    const sequence = Array.from({ length: from.number() }, () => from.number() - firstTerm);
    addSequence(index, { id, group: group === '' ? id : group, sequence });
  }
  return index;
}
