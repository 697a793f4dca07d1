/** Runs whose tools answer from recorded calls, and what recorded runs were started from. */

import type { Principal } from '../../base/principal.ts';
import { mayAct } from '../../tools/call-ends.ts';
import type { Tool } from '../../tools/tool.ts';
import { createStepTools } from '../step-tools.ts';
import type { RuntimeParts } from '../runtime-options.ts';
import { dryTools, recordedOutcomes } from './dry-tools.ts';
import type { RecordedCalls, RecordedRun } from './fork-options.ts';
import { readParent } from './parent-run.ts';
import type { RunOrigin } from '../run-context.ts';

/** Returns the inputs and the chunks of a run. @throws PinnaceError as `readParent`. */
export async function readRecorded(parts: RuntimeParts, principal: Principal, runId: string): Promise<RecordedRun> {
  const { basis: { request, agent }, items } = await readParent(parts, principal, { runId });
  return { request, agent, chunks: items.map(({ chunk }) => chunk) };
}

/** The origin of a run whose tools answer from recorded calls. */
export function recordedOrigin({ discovery }: RuntimeParts, { calls, effects }: RecordedCalls): RunOrigin {
  const own = new Set(discovery?.tools);
  const isReplaced = (tool: Tool): boolean =>
    effects !== 'live' && !own.has(tool) && (effects === 'recorded' || mayAct(tool.definition));
  return {
    resume(resolved, { principal }) {
      const { agent, toolSet, contextTokens, request: { chat } } = resolved;
      const tools = dryTools(toolSet.tools, recordedOutcomes(calls), isReplaced);
      const replaced = { ...toolSet, tools };
      const asked = chat.messages;
      const given = { agent, toolSet: replaced, discovery, contextTokens, principal, chatId: chat.id, asked };
      const stepTools = createStepTools(given);
      return Promise.resolve({ ...resolved, toolSet: replaced, stepTools });
    },
  };
}
