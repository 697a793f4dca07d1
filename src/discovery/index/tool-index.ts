/** Finds tools by keywords. `ranking.ts` describes the ranking. */

import { type Accept, createScratch, type Scratch } from './candidates.ts';
import { type Collection, createCollection, insertTool, removeTool } from './collection.ts';
import { explainRanked, type Explanation } from './explain.ts';
import type { IndexedTool } from './fields.ts';
import { fitOf, fittingHits } from './fit.ts';
import { createFormerNames, type FormerNames } from '../former-names.ts';
import { type Query, readQuery } from './query.ts';
import { rank, type Ranked } from './ranking.ts';
import { commonSynonyms, createThesaurus, type Thesaurus } from '../../search/thesaurus.ts';

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

/**
 * Builds the index. It grows and shrinks without a rebuild, and returns the same results as a rebuilt one.
 *
 * @example
 * const index = createToolIndex([{ name: 'registry_list', description: 'Lists the tasks of the registry' }]);
 * index.search('list tasks', 5); // [{ name: 'registry_list', score: … }]
 */
export function createToolIndex(
  tools: Iterable<IndexedTool>,
  { thesaurus }: { readonly thesaurus?: Thesaurus } = {},
): ToolIndex {
  const collection = createCollection();
  const state: State = { collection, formerNames: createFormerNames(), scratch: createScratch(), thesaurus };
  for (const tool of tools) add(state, tool);
  return {
    add: (tool) => add(state, tool),
    remove: (name) => remove(state, name),
    search: (query, limit, { accept = acceptAll } = {}) =>
      hitsOf(answer(state, query, { limit, accept }).hits, collection),
    fit: (query, options) => searchWithFit(state, query, { limit: 0, ...options }).fit,
    searchWithFit: (query, limit, options) => searchWithFit(state, query, { limit, ...options }),
    explain: (query, name) => explain(state, query, name),
    get: (name) => toolOf(state, name),
    renamed: (formerName) => state.formerNames.of(formerName),
    get size() {
      return collection.slots.size;
    },
  };
}

interface State {
  readonly collection: Collection;
  readonly formerNames: FormerNames;
  readonly scratch: Scratch;
  /** The default one when absent, which is created with the first search. */
  readonly thesaurus: Thesaurus | undefined;
}

function acceptAll(): boolean {
  return true;
}

function toolOf({ collection: { documents, slots } }: State, name: string): IndexedTool | undefined {
  const slot = slots.get(name);
  return slot === undefined ? undefined : documents.tools[slot];
}

function add(state: State, tool: IndexedTool): void {
  state.formerNames.remove(toolOf(state, tool.name));
  insertTool(state.collection, tool);
  state.formerNames.add(tool);
}

function remove(state: State, name: string): boolean {
  state.formerNames.remove(toolOf(state, name));
  return removeTool(state.collection, name);
}

function answer(
  { collection, scratch, thesaurus = defaultThesaurus() }: State,
  query: string,
  { limit, accept }: { limit: number; accept: Accept },
): { readonly read: Query; readonly hits: readonly Ranked[] } {
  const read = readQuery(query, collection, thesaurus);
  return { read, hits: rank(read, collection, { scratch, limit: limit > 0 ? Math.floor(limit) : 0, accept }) };
}

function searchWithFit(
  state: State,
  query: string,
  { limit, accept = acceptAll }: { readonly limit: number; readonly accept?: Accept },
): FittingHits {
  const { collection } = state;
  const { read, hits } = answer(state, query, { limit: Math.max(limit, fittingHits), accept });
  const unknown = read.concepts.filter(({ alternatives }) => alternatives.length === 0).map(({ word }) => word);
  return { hits: hitsOf(hits.slice(0, Math.max(limit, 0)), collection), fit: fitOf(read, hits, collection), unknown };
}

function hitsOf(hits: readonly Ranked[], { documents: { tools } }: Collection): ToolHit[] {
  return hits.map(({ slot, score }) => ({ name: tools[slot]!.name, score }));
}

function explain(state: State, query: string, name: string): Explanation | undefined {
  const { collection } = state;
  const slot = collection.slots.get(name);
  const { read, hits } = answer(state, query, { limit: mostExplained, accept: acceptAll });
  const hit = hits.find((found) => found.slot === slot);
  return hit && explainRanked(hit, read, collection);
}

let thesaurusOnce: Thesaurus | undefined;

function defaultThesaurus(): Thesaurus {
  return thesaurusOnce ??= createThesaurus(commonSynonyms);
}
