/** Sorts tools by how well they match a request, for lists that have no room for all. */

import { partsOf } from '../../search/words.ts';
import type { ToolDefinition } from '../../base/schema.ts';
import type { Tool } from '../tool.ts';

/** Returns the tools, those first whose name and description share the most words with the request. Equal ones stay in their order. */
export function bestFirst(tools: readonly Tool[], request: string): readonly Tool[] {
  const asked = wordsOf(request);
  if (asked.size === 0) return tools;
  const scores = new Map(tools.map((tool) => [tool, scoreOf(tool.definition, asked)]));
  return tools.toSorted((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0));
}

/** A word of the name says more than one of the description. */
function scoreOf({ name, title = '', description }: ToolDefinition, asked: ReadonlySet<string>): number {
  const [named, described] = [wordsOf(`${name} ${title}`), wordsOf(description)];
  let score = 0;
  for (const word of asked) score += named.has(word) ? 2 : described.has(word) ? 1 : 0;
  return score;
}

/** The words of three letters and more, without the plural; of other scripts, all words. */
function wordsOf(text: string): ReadonlySet<string> {
  const words = partsOf(text).filter((word) => word.length > 2 || word > '\u007f');
  return new Set(words.map((word) => word.length > 3 ? word.replace(/s$/, '') : word));
}
