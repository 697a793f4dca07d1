/** All that an index knows: its tools, their terms, and who says what. Adding and removing touch only what the tool says. */

import { createDocuments, type Documents, insertDocument, removeDocument, termSet } from './documents.ts';
import { type Field, fieldRules, fieldsOf, type IndexedTool } from './fields.ts';
import { countOf, createPostings, insertPosting, type Postings, removePosting } from './postings.ts';
import { createVocabulary, numberTerms, releaseTerm, type Vocabulary } from './vocabulary.ts';

/** The state of an index. */
export interface Collection {
  readonly vocabulary: Vocabulary;
  readonly postings: Postings;
  readonly documents: Documents;
  readonly slots: Map<string, number>;
  nextOrder: number;
}

/** Creates an empty collection. */
export function createCollection(): Collection {
  return {
    vocabulary: createVocabulary(),
    postings: createPostings(),
    documents: createDocuments(),
    slots: new Map(),
    nextOrder: 0,
  };
}

/** Adds a tool; one of the same name is replaced, and the new one takes its place in the order. */
export function insertTool(collection: Collection, tool: IndexedTool): void {
  const { documents, postings, slots, vocabulary } = collection;
  const before = slots.get(tool.name);
  const order = before === undefined ? collection.nextOrder++ : documents.orders[before]!;
  if (before !== undefined) removeTool(collection, tool.name);
  const fields = fieldsOf(tool, (text) => numberTerms(vocabulary, text));
  const { weights, inText } = weightsOf(fields);
  const { name, description } = fields;
  const others = [...weights.keys()].slice(inText); // a map keeps its keys as they came: those of the text first
  const slot = insertDocument(documents, { tool, order, sequence: { name, description, others } });
  for (const [term, weight] of weights) insertPosting(postings, { term, slot, weight });
  slots.set(tool.name, slot);
}

/** Removes a tool; `false` when there is none of this name. */
export function removeTool({ documents, postings, slots, vocabulary }: Collection, name: string): boolean {
  const slot = slots.get(name);
  if (slot === undefined) return false;
  for (const term of termSet(documents, slot)) {
    removePosting(postings, { term, slot });
    if (countOf(postings, term) === 0) releaseTerm(vocabulary, term);
  }
  removeDocument(documents, slot);
  slots.delete(name);
  return true;
}

/**
 * How much a tool says each term: every mention counts by the field's weight and length, and the sum saturates. The terms of name
 * and description, `inText` many, come first.
 */
function weightsOf(fields: Readonly<Record<Field, readonly number[]>>) {
  const weights = new Map<number, number>();
  let inText = 0;
  for (const field of fieldNames) {
    const terms = fields[field];
    const value = valueOf(field, terms.length);
    for (const term of terms) weights.set(term, (weights.get(term) ?? 0) + value);
    if (field === 'description') inText = weights.size;
  }
  for (const [term, frequency] of weights) weights.set(term, saturate(frequency));
  return { weights, inText };
}

/** What one mention in a field of this length counts. */
export function valueOf(field: Field, length: number): number {
  const { weight, usualLength, lengthEffect } = fieldRules[field];
  return weight / (1 - lengthEffect + (lengthEffect * length) / usualLength);
}

/** All fields, in the order in which they are counted. */
export const fieldNames = Object.keys(fieldRules) as readonly Field[]; // safe: the keys are the union

/** A second mention counts less than the first: the frequency at which a term has half of its greatest weight. */
const halfSaturation = 1.2;

function saturate(frequency: number): number {
  return (frequency / (frequency + halfSaturation)) * (1 + halfSaturation);
}

/**
 * How distinctive a term is among `total` tools of which `count` say it: the rarer the more, and never nothing, not even for a word
 * that is everywhere.
 */
export function idfOf(count: number, total: number): number {
  return Math.log(1 + (total - count + 0.5) / (count + 0.5));
}
