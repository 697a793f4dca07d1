/** Binds a tool to agents from the tool's side: the agents' own lists are what is changed. */

import { PinnaceError } from '../base/errors.ts';
import { sharedRecord } from '../contracts/shared-record.ts';
import type { Draft } from './draft.ts';
import { withoutTool, withTool } from './uses.ts';

/**
 * Makes these agents, and no others, name the tool.
 *
 * @throws PinnaceError `invalid_argument` for an unknown agent, `forbidden` for a shared one when the draft is a tenant's.
 */
export async function bindTool(
  draft: Draft,
  toolId: string,
  { from, to }: { readonly from: readonly string[]; readonly to: readonly string[] },
): Promise<void> {
  for (const [at, agentId] of to.entries()) {
    const agent = await draft.get('agent', agentId);
    if (!agent && await draft.find('agent', agentId)) throw sharedRecord(`bind the tool to agent "${agentId}"`);
    if (!agent) throw unknownAgent(at);
    await draft.put('agent', withTool(agent, toolId), 'bind');
  }
  for (const agentId of from.filter((id) => !to.includes(id))) {
    const agent = await draft.get('agent', agentId);
    if (agent) await draft.put('agent', withoutTool(agent, toolId), 'unbind');
  }
}

/** Says the place and not the id: what a caller sends is not repeated. */
function unknownAgent(at: number): PinnaceError {
  const issue = { path: `boundAgents.${at}`, message: 'is no agent that is known here: register it first' };
  return new PinnaceError('invalid_argument', `Cannot bind the tool: "${issue.path}" ${issue.message}`, {
    details: { reason: 'unknown_agent', issues: [issue] },
  });
}
