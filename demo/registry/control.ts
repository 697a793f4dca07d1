/** What the page asks the worker's registry: agents to look at and change, tools to look at and switch. */

import type { ErrorData } from '../../src/errors.ts';
import type { Agent, HistoryEntry, Manifest, Page, Patch, RegistryQuery, ToolDefinition } from '../../src/index.ts';

/** An answer. Errors cross as data: comlink would drop their codes. */
export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: ErrorData };

/** The kinds of records that have pages. */
export type PageKind = 'agent' | 'tool';

/** An agent, and what is known besides. */
export interface FoundAgent {
  readonly agent: Agent;
  /** Which tools its next run has, and why not the others; absent while the agent is disabled. */
  readonly tools?: Manifest['tools'];
}

/** The registry of the page's worker. */
export interface RegistryControl {
  agents(query: RegistryQuery): Promise<Answer<Page<Agent>>>;
  tools(query: RegistryQuery): Promise<Answer<Page<ToolDefinition>>>;
  agent(agentId: string): Promise<Answer<FoundAgent>>;
  tool(toolId: string): Promise<Answer<ToolDefinition>>;
  /** `version` is the revision that the person has seen; `conflict` with the latest record when it is another now. */
  updateAgent(agentId: string, patch: Patch<'agent'>, version: number): Promise<Answer<Agent>>;
  /** Takes effect at once: runs of an agent that is disabled are stopped. */
  setState(kind: PageKind, id: string, state: 'active' | 'disabled'): Promise<Answer<void>>;
  /** What was done to an agent, the last first. */
  history(agentId: string, pageToken?: string): Promise<Answer<Page<HistoryEntry>>>;
}
