/** Grounding for agents: each gets the three tools over exactly the data sources that it names. */

import type { Authorize } from '../contracts/authenticator.ts';
import type { Tool } from '../tools/tool.ts';
import type { Pay } from './access.ts';
import type { Grounding } from './create-grounding.ts';
import { datastoreTool, groundingTools } from './grounding-tools.ts';
import type { Agent, ToolDefinition } from '../base/schema.ts';

/**
 * Creates the data sources of agents. `authorize` is called before every access, in addition to the hook of the grounding itself, and
 * `pay` before texts are stored.
 */
export function createAgentGrounding(
  grounding: Grounding,
  { authorize, pay }: { readonly authorize?: Authorize | undefined; readonly pay?: Pay | undefined } = {},
): DataSources {
  return {
    tools: groundingTools(grounding, { dataSources: [] }),
    toolsOf: ({ id: agentId, dataSources }) =>
      groundingTools(grounding, { agentId, dataSources, pay, ...(authorize && { authorize }) }),
    datastore: (definition, { id: agentId }) =>
      datastoreTool(grounding, definition, { agentId, ...(authorize && { authorize }) }),
  };
}

/** Data sources for agents. */
export interface DataSources {
  /** The tools over no source, as manifests list them: the first retrieves, the others write. */
  readonly tools: readonly Tool[];
  /** Returns the tools over exactly the sources that the agent names. */
  toolsOf(agent: Pick<Agent, 'id' | 'dataSources'>): readonly Tool[];
  /** Returns the tool of a definition of type `datastore`; `undefined` for an unknown source. */
  datastore(definition: ToolDefinition, agent: Pick<Agent, 'id'>): Tool | undefined;
}
