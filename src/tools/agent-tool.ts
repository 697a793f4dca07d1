/** Tools of type `agent`: a call hands a task to another agent, as a plan of that agent alone, and returns its answer. */

import * as v from 'valibot';
import { loadOnce } from '../base/load-once.ts';
import type { ToolDefinition } from '../base/schema.ts';
import type { Plans } from '../contracts/plans.ts';
import { toolOver } from './define-tool.ts';
import type { Tool } from './tool.ts';

/** The texts that agents of plans are generating, by plan, for tools of this instance that show them. They are not recorded here. */
export interface LiveTexts {
  /** Calls back with the text of the current step so far, until the returned function is called. */
  listen(planId: string, onText: (text: string) => void): () => void;
  emit(planId: string, text: string): void;
}

/** Creates a registry without listeners. */
export function createLiveTexts(): LiveTexts {
  const listeners = new Map<string, (text: string) => void>();
  return {
    listen(planId, onText) {
      listeners.set(planId, onText);
      return () => void listeners.delete(planId);
    },
    emit: (planId, text) => listeners.get(planId)?.(text),
  };
}

export interface AgentToolOptions {
  readonly plans: () => Plans;
  readonly limits: { readonly steps: number; readonly toolCalls: number; readonly totalMs: number };
  readonly liveTexts: LiveTexts;
}

const load = /* @__PURE__ */ loadOnce(() => import('./call-agent.ts'));

const Config = v.object({ agentId: v.pipe(v.string(), v.minLength(1)) });
const Input = v.strictObject({
  task: v.pipe(v.string(), v.minLength(1), v.maxLength(65_536), v.description('What the agent is to do, in words')),
});

/** Returns the tool; `undefined` for a definition that names no agent. */
export function createAgentTool(definition: ToolDefinition, options: AgentToolOptions): Tool | undefined {
  const config = v.safeParse(Config, definition.config);
  if (!config.success) return undefined;
  const { agentId } = config.output;
  return toolOver(definition, Input, async ({ task }, context) => {
    const { callAgent } = await load();
    return await callAgent({ agentId, task }, context, options);
  });
}
