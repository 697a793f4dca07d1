/** Grounding for agents: each gets the three tools over exactly the data sources that it names. */

import type { Authorize } from '../contracts/authorize.ts';
import type { ToolDefinition } from '../base/schema.ts';
import type { Tool } from '../tools/tool.ts';
import type { Grounding } from './create-grounding.ts';
import { datastoreTool } from './datastore-tool.ts';
import { groundingTools } from './grounding-tools.ts';

/** Gives agents their tools. */
export interface AgentGrounding {
  /** The three over nothing: how they are called. */
  readonly tools: readonly Tool[];
  /** The three over the sources that the agent names. */
  toolsOf(agent: { readonly id: string; readonly dataSources: readonly string[] }): readonly Tool[];
  /** The tool of a definition of type `datastore`; `undefined` where there is no such source. */
  datastore(definition: ToolDefinition, agent: { readonly id: string }): Tool | undefined;
}

/** Gives grounding for agents; `authorize` is asked before every access, besides the hook of the grounding itself. */
export function createAgentGrounding(
  grounding: Grounding,
  { authorize }: { readonly authorize?: Authorize | undefined } = {},
): AgentGrounding {
  return {
    tools: groundingTools(grounding, { dataSources: [] }),
    toolsOf: ({ id: agentId, dataSources }) =>
      groundingTools(grounding, { agentId, dataSources, ...(authorize && { authorize }) }),
    datastore: (definition, { id: agentId }) =>
      datastoreTool(grounding, definition, { agentId, ...(authorize && { authorize }) }),
  };
}
