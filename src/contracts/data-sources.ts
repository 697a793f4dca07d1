/** The seam between agents and grounding. `Tool` is the tool type of `src/tools`, which is above this floor. */

import type { Agent, ToolDefinition } from '../base/schema.ts';

/** Data sources for agents. */
export interface DataSources<Tool> {
  /** The tools over no source, as manifests list them: the first retrieves, the others write. */
  readonly tools: readonly Tool[];
  /** Returns the tools over exactly the sources that the agent names. */
  toolsOf(agent: Pick<Agent, 'id' | 'dataSources'>): readonly Tool[];
  /** Returns the tool of a definition of type `datastore`; `undefined` for an unknown source. */
  datastore(definition: ToolDefinition, agent: Pick<Agent, 'id'>): Tool | undefined;
}
