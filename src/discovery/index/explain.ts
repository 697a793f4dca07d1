/** Takes a score apart: which words in which fields, and which rules, gave how much. */

import { type Collection, fieldNames, valueOf } from './collection.ts';
import { type Field, fieldsOf } from './fields.ts';
import type { Query } from './query.ts';
import { termsOf } from '../../search/terms.ts';
import { bestAlternative, type Ranked, type RuleScores } from './ranking.ts';

/** The score of one word of the query in one field of the tool: `weight * idf = score`. */
export interface TermScore {
  /** The word of the query, as a stem. */
  readonly word: string;
  /** What the tool says for it: the same, a synonym, or a repaired slip. */
  readonly term: string;
  readonly field: Field;
  readonly weight: number;
  readonly idf: number;
  readonly score: number;
}

/** Where a score comes from: those of the terms and of the rules add up to it. */
export interface Explanation {
  readonly name: string;
  readonly score: number;
  readonly terms: readonly TermScore[];
  readonly rules: Readonly<RuleScores>;
  /** The words of the query that no tool says, not even as a synonym or with a slip. */
  readonly notFound: readonly string[];
}

/** Explains the score of a ranked tool. */
export function explainRanked(ranked: Ranked, { concepts }: Query, collection: Collection): Explanation {
  const { slot, score, clause, phrase, name, server, covered } = ranked;
  const tool = collection.documents.tools[slot]!;
  const fields = fieldsOf(tool, termsOf);
  const terms = concepts.flatMap((concept): TermScore[] => {
    const { alternative, value } = bestAlternative(concept, collection, slot);
    if (!alternative) return [];
    const { term, idf } = alternative;
    return sharesOf(term, fields).map(([field, share]) => {
      return { word: concept.term, term, field, weight: (share * value) / idf, idf, score: share * value };
    });
  });
  const notFound = concepts.filter(({ alternatives }) => alternatives.length === 0).map(({ word }) => word);
  return { name: tool.name, score, terms, rules: { clause, phrase, name, server, covered }, notFound };
}

/** How a term's weight in a tool is shared by the fields that say it. */
function sharesOf(term: string, fields: Readonly<Record<Field, readonly string[]>>): [Field, number][] {
  const values = fieldNames.map((field): [Field, number] => {
    const mentions = fields[field].filter((other) => other === term).length;
    return [field, mentions * valueOf(field, fields[field].length)];
  });
  const total = values.reduce((sum, [, value]) => sum + value, 0);
  return values.filter(([, value]) => value > 0).map(([field, value]) => [field, value / total]);
}
