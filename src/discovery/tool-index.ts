/** Finds tools by keywords. `tool-ranking.ts` describes the ranking. */

import { checkNames, optional } from '../base/check-options.ts';
import { fieldEnd, type IndexRules, SearchIndex, valueIn } from '../search/search-index.ts';
import { commonSynonyms, createThesaurus, type Thesaurus } from '../search/thesaurus.ts';
import { type Field, type IndexedTool, splitName, textsOf, toolFields } from './tool-fields.ts';
import { readToolQuery, type ToolQuery, toolReading } from './tool-query.ts';
import {
  type Accept,
  fitOf,
  fittingHits,
  type Ranked,
  rankTools,
  type RuleScores,
  toolAnswers,
  type ToolCollection,
} from './tool-ranking.ts';

/** One tool that was found. Scores compare hits of one query, nothing else. */
export interface ToolHit {
  readonly name: string;
  readonly score: number;
}

/** Hits, and the probability that any of them fits. */
export interface FittingHits {
  readonly hits: readonly ToolHit[];
  readonly fit: number;
  /** The words of the query that no tool says. */
  readonly unknown: readonly string[];
}

/** So many hits can be explained: as many as the rules of the ranking see. */
const mostExplained = 100;

/** An index over tools. Make one with {@link createToolIndex}. */
export interface ToolIndex {
  /** Returns at most `limit` tools, best first; none when the query has no word that a tool says. */
  search(query: string, limit: number, options?: { readonly accept?: Accept }): ToolHit[];
  /** How well the best hits cover the query, 0 to 1: near 0, probably no tool fits. */
  fit(query: string, options?: { readonly accept?: Accept }): number;
  /** What `search` and `fit` return, for the work of one. */
  searchWithFit(query: string, limit: number, options?: { readonly accept?: Accept }): FittingHits;
  /** Adds a tool; one of the same name is replaced and keeps its place among equals. */
  add(tool: IndexedTool): void;
  /** Removes a tool; `false` when there was none of this name. */
  remove(name: string): boolean;
  /** Says where the score of a tool in the answer to a query comes from; `undefined` when it is not among the first 100. */
  explain(query: string, name: string): Explanation | undefined;
  /** The tool of this name. */
  get(name: string): IndexedTool | undefined;
  /** The tools that had this name before, by their `renamedFrom`. */
  renamed(formerName: string): readonly string[];
  readonly size: number;
}

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

/**
 * Builds the index. It grows and shrinks without a rebuild, and returns the same results as a rebuilt one.
 *
 * @example
 * const index = createToolIndex([{ name: 'registry_list', description: 'Lists the tasks of the registry' }]);
 * index.search('list tasks', 5); // [{ name: 'registry_list', score: … }]
 */
export function createToolIndex(
  tools: Iterable<IndexedTool>,
  options: { readonly thesaurus?: Thesaurus } = {},
): ToolIndex {
  checkNames('create the index of tools', options, optional('thesaurus'));
  const { thesaurus } = options;
  const search = new ToolSearch(thesaurus);
  for (const tool of tools) search.add(tool);
  return search;
}

const fieldNames = Object.keys(toolFields) as readonly Field[]; // safe: the keys are the union
/** Lengths of texts differ too much for coarse steps. */
const rules: IndexRules = { reading: toolReading, fields: Object.values(toolFields), step: 2 ** -16, steps: 2 ** 22 };

let commonOnce: Thesaurus | undefined;

class ToolSearch implements ToolIndex {
  /** The common one when absent, which is created with the first search. */
  readonly #thesaurus: Thesaurus | undefined;
  #collection: ToolCollection = emptyCollection();
  #nextOrder = 0;
  /** By former name: the present names. */
  readonly #renamed = new Map<string, Set<string>>();

  constructor(thesaurus: Thesaurus | undefined) {
    this.#thesaurus = thesaurus;
  }

  get size(): number {
    return this.#collection.index.live;
  }

  get(name: string): IndexedTool | undefined {
    const slot = this.#collection.index.slots.get(name);
    return slot === undefined ? undefined : this.#collection.tools[slot];
  }

  add(tool: IndexedTool): void {
    const { index, orders } = this.#collection;
    const before = index.slots.get(tool.name);
    const order = before === undefined ? this.#nextOrder++ : orders[before]!;
    if (before !== undefined) this.remove(tool.name);
    insert(this.#collection, tool, order);
    for (const former of tool.renamedFrom ?? []) {
      this.#renamed.set(former, (this.#renamed.get(former) ?? new Set()).add(tool.name));
    }
  }

  remove(name: string): boolean {
    const { index, tools } = this.#collection;
    const slot = index.slots.get(name);
    if (slot === undefined) return false;
    for (const former of tools[slot]!.renamedFrom ?? []) {
      const names = this.#renamed.get(former);
      names?.delete(name);
      if (names?.size === 0) this.#renamed.delete(former);
    }
    index.remove(name);
    tools[slot] = undefined;
    if (index.isWorn) this.#collection = withoutRemoved(this.#collection);
    return true;
  }

  renamed(formerName: string): readonly string[] {
    return [...this.#renamed.get(formerName) ?? []];
  }

  search(query: string, limit: number, { accept = acceptAll }: { readonly accept?: Accept } = {}): ToolHit[] {
    return this.#hitsOf(this.#answer(query, { limit, accept }).ranked);
  }

  fit(query: string, options?: { readonly accept?: Accept }): number {
    return this.searchWithFit(query, 0, options).fit;
  }

  searchWithFit(
    query: string,
    limit: number,
    { accept = acceptAll }: { readonly accept?: Accept } = {},
  ): FittingHits {
    const { read, ranked } = this.#answer(query, { limit: Math.max(limit, fittingHits), accept });
    return {
      hits: this.#hitsOf(ranked.slice(0, Math.max(limit, 0))),
      fit: fitOf(read, ranked, this.#collection.index),
      unknown: notFound(read),
    };
  }

  explain(query: string, name: string): Explanation | undefined {
    const { index } = this.#collection;
    const { read, ranked } = this.#answer(query, { limit: mostExplained, accept: acceptAll });
    const hit = ranked.find(({ slot }) => slot === index.slots.get(name));
    if (!hit) return undefined;
    const { slot, score, clause, phrase, name: named, server, covered } = hit;
    const sequence = index.sequences[slot]!;
    const terms = toolAnswers(read, index, slot).flatMap((answer, at): TermScore[] => {
      if (!answer) return [];
      const { alternative: { term, rarity: idf }, value } = answer;
      return sharesOf(term, sequence).map(([field, share]) => ({
        word: read.concepts[at]!.stem,
        term: index.vocabulary.terms[term]!,
        field,
        weight: (share * value) / idf,
        idf,
        score: share * value,
      }));
    });
    return { name, score, terms, rules: { clause, phrase, name: named, server, covered }, notFound: notFound(read) };
  }

  #answer(
    query: string,
    { limit, accept }: { readonly limit: number; readonly accept: Accept },
  ): { readonly read: ToolQuery; readonly ranked: readonly Ranked[] } {
    const thesaurus = this.#thesaurus ?? (commonOnce ??= createThesaurus(commonSynonyms));
    const read = readToolQuery(query, this.#collection.index, thesaurus);
    return { read, ranked: rankTools(read, this.#collection, { limit: limit > 0 ? Math.floor(limit) : 0, accept }) };
  }

  #hitsOf(ranked: readonly Ranked[]): ToolHit[] {
    const { ids } = this.#collection.index;
    return ranked.map(({ slot, score }) => ({ name: ids[slot]!, score }));
  }
}

function emptyCollection(): ToolCollection {
  return { index: new SearchIndex(rules), tools: [], orders: [] };
}

function insert({ index, tools, orders }: ToolCollection, tool: IndexedTool, order: number): void {
  index.add({ id: tool.name, group: splitName(tool.name).server, texts: textsOf(tool) });
  tools.push(tool);
  orders.push(order);
}

/** The same tools anew, without the slots and terms of removed ones. */
function withoutRemoved({ tools, orders }: ToolCollection): ToolCollection {
  const fresh = emptyCollection();
  for (const [slot, tool] of tools.entries()) if (tool) insert(fresh, tool, orders[slot]!);
  return fresh;
}

function acceptAll(): boolean {
  return true;
}

/** The words that no tool says, not even as a synonym or with a slip. */
function notFound({ concepts }: ToolQuery): string[] {
  return concepts.filter(({ alternatives }) => alternatives.length === 0).map(({ word }) => word);
}

/** How a term's weight in a tool is shared by the fields that say it. */
function sharesOf(term: number, sequence: Int32Array): [Field, number][] {
  let from = 0;
  const values = fieldNames.map((field): [Field, number] => {
    const end = sequence.indexOf(fieldEnd, from);
    const mentions = sequence.subarray(from, end).filter((other) => other === term).length;
    const value = mentions * valueIn(toolFields[field], sequence, from, end);
    from = end + 1;
    return [field, value];
  });
  const total = values.reduce((sum, [, value]) => sum + value, 0);
  return values.filter(([, value]) => value > 0).map(([field, value]) => [field, value / total]);
}
