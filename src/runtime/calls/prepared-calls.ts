/** The checked and permitted calls of a run, until they are made: the hook decides once on each. */

import { prepareCall, type PreparedCall, type PrepareOptions } from '../../tools/prepare-call.ts';
import type { Tool } from '../../tools/tool.ts';

/** Prepares requested calls, and returns each once. */
export interface PreparedCalls {
  prepare(tool: Tool, input: unknown, toolCallId: string): Promise<PreparedCall>;
  /** Returns `undefined` for a call that was not prepared, as for another input under the same id. */
  take(tool: Tool, input: unknown, toolCallId: string): PreparedCall | undefined;
}

/** Creates a store without calls. */
export function createPreparedCalls(
  { agent, principal, authorize }: Pick<PrepareOptions, 'principal' | 'authorize'> & {
    readonly agent: { readonly id: string };
  },
): PreparedCalls {
  const calls = new Map<string, { readonly tool: Tool; readonly input: unknown; readonly prepared: PreparedCall }>();
  return {
    async prepare(tool, input, toolCallId) {
      const prepared = await prepareCall(tool, input, { toolCallId, agentId: agent.id, principal, authorize });
      calls.set(toolCallId, { tool, input, prepared });
      return prepared;
    },
    take(tool, input, toolCallId) {
      const call = calls.get(toolCallId);
      if (call?.tool !== tool || !Object.is(call.input, input)) return undefined;
      calls.delete(toolCallId);
      return call.prepared;
    },
  };
}
