/** What tool definitions cost in a prompt. */

import type { Tool } from '../../tools/tool.ts';

/** Models differ; about four characters of JSON make a token. */
const charactersPerToken = 4;

const ofTool = new WeakMap<Tool, number>();
const ofTools = new WeakMap<readonly Tool[], number>();

/** About how many tokens these definitions take in one step, as name, description and input schema in JSON. */
export function definitionTokens(tools: readonly Tool[]): number {
  const known = ofTools.get(tools) ?? tools.reduce((sum, tool) => sum + tokensOf(tool), 0);
  ofTools.set(tools, known);
  return known;
}

function tokensOf(tool: Tool): number {
  const { name, description, paramsSchema } = tool.definition;
  const known = ofTool.get(tool) ??
    Math.ceil(JSON.stringify({ name, description, parameters: paramsSchema }).length / charactersPerToken);
  ofTool.set(tool, known);
  return known;
}
