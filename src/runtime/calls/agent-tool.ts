/** Tools of type `agent`: a call hands a task to another agent, as a plan of that agent alone, and returns its answer. */

import * as v from 'valibot';
import { loadOnce } from '../../base/load-once.ts';
import { toolOver } from '../../tools/fixed-input.ts';
import type { ToolDefinition } from '../../base/schema.ts';
import type { Tool } from '../../tools/tool.ts';
import type { AgentToolOptions } from './call-agent.ts';

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
