/** Finds tools by keywords. How they are ranked stands in `ranking.ts`. */

import { type Accept, createScratch } from './candidates.ts';
import { createCollection, insertTool, removeTool } from './collection.ts';
import { explainRanked, type Explanation } from './explain.ts';
import type { IndexedTool } from './fields.ts';
import { fitHits, fitOf } from './fit.ts';
import { createFormerNames } from './former-names.ts';
import { readQuery } from './query.ts';
import { rank } from './ranking.ts';
import { commonSynonyms, createThesaurus, type Thesaurus } from './thesaurus.ts';

/** One tool that was found. Scores compare hits of one query, nothing else. */
export interface ToolHit {
  readonly name: string;
  readonly score: number;
}

/** An index over tools. Make one with {@link createToolIndex}. */
export interface ToolIndex {
  /** Gives at most `limit` tools, best first; none when the query has no word that a tool says. */
  search(query: string, limit: number, options?: { readonly accept?: Accept }): ToolHit[];
  /** How well the best hits cover the query, 0 to 1: near 0, probably no tool fits. */
  fit(query: string, options?: { readonly accept?: Accept }): number;
  /** Adds a tool; one of the same name is replaced and keeps its place among equals. */
  add(tool: IndexedTool): void;
  /** Removes a tool; `false` when there was none of this name. */
  remove(name: string): boolean;
  /** Says where the score of a tool in the answer to a query comes from; `undefined` when it is not in the answer. */
  explain(query: string, name: string): Explanation | undefined;
  /** The tool of this name. */
  get(name: string): IndexedTool | undefined;
  /** The tools that had this name before, by their `renamedFrom`. */
  renamed(formerName: string): readonly string[];
  readonly size: number;
}

/**
 * Builds the index. It grows and shrinks without a rebuild, and gives the same answers as one built anew.
 *
 * @example
 * const index = createToolIndex([{ name: 'registry_list', description: 'Lists the tasks of the registry' }]);
 * index.search('list tasks', 5); // [{ name: 'registry_list', score: … }]
 */
export function createToolIndex(
  tools: Iterable<IndexedTool>,
  { thesaurus = defaultThesaurus() }: { readonly thesaurus?: Thesaurus } = {},
): ToolIndex {
  const collection = createCollection();
  const formerNames = createFormerNames();
  const scratch = createScratch();
  const toolOf = (name: string): IndexedTool | undefined =>
    collection.documents.tools[collection.slots.get(name) ?? -1];
  const ranked = (query: string, limit: number, accept: Accept) => {
    const read = readQuery(query, collection, thesaurus);
    return { read, hits: rank(read, collection, { scratch, limit: Math.max(0, Math.floor(limit)), accept }) };
  };
  const remove = (name: string): boolean => {
    formerNames.remove(toolOf(name));
    return removeTool(collection, name);
  };
  const add = (tool: IndexedTool): void => {
    formerNames.remove(toolOf(tool.name));
    insertTool(collection, tool);
    formerNames.add(tool);
  };
  for (const tool of tools) add(tool);
  return {
    add,
    remove,
    search(query, limit, { accept = () => true } = {}) {
      const { hits } = ranked(query, limit, accept);
      return hits.map(({ slot, score }) => ({ name: collection.documents.tools[slot]!.name, score }));
    },
    fit(query, { accept = () => true } = {}) {
      const { read, hits } = ranked(query, fitHits, accept);
      return fitOf(read, hits, collection);
    },
    explain(query, name) {
      const slot = collection.slots.get(name);
      const { read, hits } = ranked(query, collection.slots.size, () => true);
      const hit = hits.find((found) => found.slot === slot);
      return hit && explainRanked(hit, read, collection);
    },
    get: toolOf,
    renamed: (formerName) => formerNames.of(formerName),
    get size() {
      return collection.slots.size;
    },
  };
}

let thesaurusOnce: Thesaurus | undefined;

function defaultThesaurus(): Thesaurus {
  return thesaurusOnce ??= createThesaurus(commonSynonyms);
}
