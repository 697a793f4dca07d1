/** Folds questions to people and their answers. */

import { deliver, settle } from '../decide/agent-changes.ts';
import { deliveredOf, type Refusal } from './folding.ts';
import type { AskFacts, EventOf } from '../model/plan-event.ts';
import { type AgentState, callOf, hasEnded, type PlanState, stepOf } from '../model/plan-state.ts';

/** Applies an event about one question. */
export function reduceAsk(
  state: PlanState,
  event: EventOf<'ask.opened' | 'ask.answered' | 'ask.expired'>,
): Refusal | undefined {
  if (event.type === 'ask.opened') return open(state, event);
  const ask = state.asks.get(event.ask);
  const agent = ask && state.agents.get(ask.agent);
  if (!ask || !agent) return 'the question is closed';
  state.asks.delete(event.ask);
  if (ask.kind === 'question') agent.pending--;
  if (ask.kind === 'question') deliverAnswer(agent, ask, event);
  else if (event.type === 'ask.answered' && ask.kind === 'approval' && isApproval(event.answer)) {
    allow(state, agent, ask);
  } else if (event.type === 'ask.answered' && ask.kind === 'lost_call') settleLost(state, agent, ask, event.answer);
  settle(state, agent);
  return undefined;
}

function open(state: PlanState, event: EventOf<'ask.opened'>): Refusal | undefined {
  const agent = state.agents.get(event.agent);
  if (!agent || hasEnded(agent)) return 'there is no such living agent';
  if (state.asks.has(event.ask)) return 'there is such a question';
  state.asks.set(event.ask, event);
  state.askCount++;
  state.dues.add({ at: event.expiresAt, kind: 'ask', id: event.ask });
  // An approval counts as its call, a lost call as the call or the step that was lost.
  if (event.kind === 'question') agent.pending++;
  return undefined;
}

/** Whether a person has approved. What follows a refusal is an event of its own. */
export function isApproval(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'approved' in answer && answer.approved === true;
}

function deliverAnswer(agent: AgentState, ask: AskFacts, event: EventOf<'ask.answered' | 'ask.expired'>): void {
  deliver(agent, {
    type: 'answer',
    askId: ask.ask,
    ...(ask.callId !== undefined && { callId: ask.callId }),
    ...(event.type === 'ask.answered' && { answer: deliveredOf(event, 'answer'), by: event.by }),
  });
}

function allow(state: PlanState, agent: AgentState, ask: AskFacts): void {
  const call = ask.step === undefined ? undefined : agent.calls?.get(ask.step);
  if (!call || call.status !== 'approval') return;
  call.status = 'ready';
  state.fresh.push(callOf(agent, call));
}

/** A person has looked into a lost activity. It is run again when that person says so; any other answer is followed by its end. */
function settleLost(state: PlanState, agent: AgentState, { step }: AskFacts, answer: unknown): void {
  const call = step === undefined ? undefined : agent.calls?.get(step);
  if (call) call.started = false;
  else agent.started = false;
  if (decisionOf(answer) === 'repeat') state.fresh.push(call ? callOf(agent, call) : stepOf(agent));
}

/** What a person says of a lost activity: `repeat`, `done` or `fail`. */
export function decisionOf(answer: unknown): unknown {
  return typeof answer === 'object' && answer !== null && 'decision' in answer ? answer.decision : undefined;
}
