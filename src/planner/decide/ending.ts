/** Ends agents: first all agents below, leaves first. */

import type { ErrorData } from '../../base/errors.ts';
import type { NewEvent } from '../model/plan-event.ts';
import { type AgentState, livingBelow } from '../model/plan-state.ts';
import type { Draft } from './draft.ts';
import { cancelled, failed, withParent } from './follow-ups.ts';

/** Ends an agent, first of all those below it, leaves first. */
export function end(
  draft: Draft,
  agent: AgentState,
  event: NewEvent & { readonly type: 'agent.done' | 'agent.failed' | 'agent.cancelled' },
): void {
  cancelBelow(draft, agent);
  draft.add(event);
}

/** Ends an agent as failed. */
export function fail(draft: Draft, agent: AgentState, error: ErrorData): void {
  end(draft, agent, failed(agent, error));
}

/** Ends an agent as cancelled. */
export function cancel(draft: Draft, agent: AgentState, reason: string): void {
  end(draft, agent, cancelled(agent, reason));
}

function cancelBelow(draft: Draft, agent: AgentState): void {
  if (agent.open === 0) return;
  for (const below of livingBelow(draft.state, agent)) draft.add(cancelled(below, withParent));
}
