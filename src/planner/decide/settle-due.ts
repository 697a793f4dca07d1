/** Turns times that have come into events. */

import type { Draft } from './draft.ts';
import type { Due } from './due-heap.ts';
import { fail } from './ending.ts';
import { failure } from '../model/failure.ts';
import { planDeadlineAt } from '../model/plan-clock.ts';
import { agentOfStep, type AgentState, hasEnded, type PlanState } from '../model/plan-state.ts';
import { settleUnanswered } from './settle-ask.ts';

/** Whether anything still waits for the time. */
export function isValid(state: PlanState, { kind, id, at }: Due): boolean {
  if (kind === 'ask') return state.asks.has(id);
  if (kind === 'retry') {
    const agent = agentOfStep(state, id);
    return agent !== undefined && !hasEnded(agent) &&
      (agent.retryAt === at || agent.calls?.get(id)?.status === 'retry');
  }
  const [address = '', what = ''] = id.split(' ');
  const agent = state.agents.get(address);
  if (!agent || hasEnded(agent)) return false;
  if (kind === 'reply') return agent.replies?.has(what) === true;
  if (kind === 'deadline') return agent.parent !== undefined || at === planDeadlineAt(state);
  return isWaitOf(agent, what);
}

/** Whether the agent waits as this step wanted it to. */
function isWaitOf(agent: AgentState, step: string): boolean {
  return agent.status === 'waiting' && step === `${agent.id}#${agent.step - 1}` &&
    (agent.awaited > 0 || agent.wait.mode === 'message');
}

/** Records what follows from a time that has come, when anything still waits for it. */
export function fireDue(draft: Draft, due: Due): void {
  if (due.kind === 'retry') {
    draft.add({ type: 'timer.fired', step: due.id });
    return;
  }
  if (due.kind === 'ask') {
    const ask = draft.state.asks.get(due.id);
    if (ask) settleUnanswered(draft, ask);
    return;
  }
  const [address = '', what = ''] = due.id.split(' ');
  const agent = draft.state.agents.get(address);
  if (!agent) return;
  if (due.kind === 'deadline') {
    const whose = agent.parent ? 'agent' : 'plan';
    const error = failure('deadline_exceeded', `The time of the ${whose} is over`, { reason: `${whose}_timeout` });
    return fail(draft, agent, { ...error, retryable: false });
  }
  draft.add({ type: 'wait.expired', agent: agent.id, waitedFor: due.kind === 'reply' ? what : 'wait' });
}
