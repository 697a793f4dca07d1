/** The parts of a run's loop that come from its agent's code and the requested output. */

import { createStopCheck } from './code-agents/stop-condition.ts';
import { withInstructions } from './code-agents/run-instructions.ts';
import type { LoopOptions } from './loop/loop-options.ts';
import type { Agent } from '../base/schema.ts';
import type { RunOptions } from './run-options.ts';

/** Returns the agent with the instructions of this run, its structured answer, and its stop condition. */
export async function composeLoop(
  options: Pick<RunOptions, 'agent' | 'code' | 'provider' | 'fallbacks' | 'request' | 'principal' | 'runId' | 'report'>,
  signal: AbortSignal,
): Promise<Pick<LoopOptions, 'agent' | 'output' | 'isEnough'>> {
  const { code, request: { agentId, chat, context, output: requested, settings }, principal, runId, report } = options;
  const request = { agentId, chat, context, principal };
  const own = await withInstructions(options.agent, code.instructions, request, { signal, report });
  const agent = withAdded(own, settings?.instructions);
  const isEnough = createStopCheck(code.stopWhen, report);
  const spec = requested ?? agent.output;
  if (!spec) return { agent, isEnough };
  // Loaded on demand: most runs answer in text.
  const { createRunOutput, outputInstructions } = await import('./output/create-output.ts');
  const output = createRunOutput({ spec, check: requested ? undefined : code.checkOutput, runId, report });
  if (takesSchema(options)) return { agent, output, isEnough };
  const instructions = [agent.instructions, outputInstructions(spec)].filter((text) => text !== '').join('\n\n');
  return { agent: { ...agent, instructions }, output, isEnough };
}

/** Adds the instructions of the request behind those of its agent. */
function withAdded(agent: Agent, added: string | undefined): Agent {
  if (added === undefined) return agent;
  const texts = [agent.instructions, `Instructions of the user for this chat:\n${added}`];
  return { ...agent, instructions: texts.filter((text) => text !== '').join('\n\n') };
}

/** Whether every model that may answer takes the schema: the providers of fallbacks are not known yet. */
function takesSchema({ provider: { jsonSchema }, fallbacks }: Pick<RunOptions, 'provider' | 'fallbacks'>): boolean {
  return jsonSchema === true && fallbacks.length === 0;
}
