/**
 * Folds events into the state of a plan. It depends on nothing but its arguments, so every process that reads the journal has the
 * same state. The state is changed in place: copying ten thousand agents for each event would be quadratic.
 */

import { createAccount } from '../model/account.ts';
import { bookUsage, createAgent, deliver, endAgent, wake } from '../decide/agent-changes.ts';
import { deliveredOf, type Refusal } from './folding.ts';
import type { EventOf, PlanEvent } from '../model/plan-event.ts';
import { turnClock } from '../model/plan-clock.ts';
import { hasEnded, livingBelow, type PlanState, rootOf } from '../model/plan-state.ts';
import { reduceAsk } from './reduce-ask.ts';
import { reduceStep } from './reduce-step.ts';

/**
 * Applies one event. An event that cannot be, such as a second end of an agent, changes nothing: the answer says why. Never throws
 * for events in the form of {@link PlanEvent}.
 */
export function reduce(state: PlanState, event: PlanEvent): Refusal | undefined {
  const refusal = apply(state, event);
  if (refusal !== undefined) return refusal;
  state.at = Math.max(state.at, event.at);
  turnClock(state);
  return undefined;
}

function apply(state: PlanState, event: PlanEvent): Refusal | undefined {
  if (event.type === 'run.created') return startPlan(state, event);
  if (state.phase === 'new') return 'the plan has not begun';
  if (state.phase !== 'running') return 'the plan has ended';
  switch (event.type) {
    case 'agent.created':
      return createAgent(state, event);
    case 'agent.done':
    case 'agent.failed':
    case 'agent.cancelled':
      return end(state, event);
    case 'plan.revised':
      return revise(state, event);
    case 'msg.sent':
      return send(state, event);
    case 'wait.expired':
      return expireWait(state, event);
    case 'stall.found':
      return stall(state, event);
    case 'step.started':
    case 'step.done':
    case 'call.done':
    case 'step.failed':
    case 'timer.set':
    case 'timer.fired':
    case 'step.late':
      return reduceStep(state, event);
    case 'ask.opened':
    case 'ask.answered':
    case 'ask.expired':
      return reduceAsk(state, event);
    case 'cancel.requested':
      return state.agents.get(event.target) ? undefined : 'there is no such agent';
    case 'run.paused':
    case 'run.resumed':
      state.paused = event.type === 'run.paused';
      return undefined;
    case 'run.done':
    case 'run.failed':
    case 'run.cancelled':
      return finish(state, event);
    default:
      return unknownEvent(event);
  }
}

/** A journal may have been written by a later version. */
function unknownEvent(_event: never): Refusal {
  return 'this version does not know the event';
}

function startPlan(state: PlanState, event: EventOf<'run.created'>): Refusal | undefined {
  if (state.phase !== 'new') return 'the plan has begun';
  state.phase = 'running';
  state.created = event;
  state.account = createAccount(event.terms.budget);
  state.dues.add({ at: event.terms.deadlineAt, kind: 'deadline', id: '1' });
  return undefined;
}

function end(
  state: PlanState,
  event: EventOf<'agent.done' | 'agent.failed' | 'agent.cancelled'>,
): Refusal | undefined {
  const agent = state.agents.get(event.id);
  if (!agent) return 'there is no such agent';
  if (hasEnded(agent)) return 'the agent has ended';
  if (agent.open > 0 && livingBelow(state, agent).length > 0) return 'an agent below it has not ended';
  if (event.type === 'agent.done' && (agent.parent || !state.created?.terms.given)) {
    bookUsage(state, agent, event.usage);
  }
  endAgent(state, agent, event);
  return undefined;
}

function finish(state: PlanState, event: EventOf<'run.done' | 'run.failed' | 'run.cancelled'>): Refusal | undefined {
  const root = rootOf(state);
  if (root && !hasEnded(root)) return 'the first agent has not ended';
  state.asks.clear();
  state.fresh = [];
  if (event.type === 'run.done') {
    state.phase = 'done';
    state.result = deliveredOf(event, 'result');
    state.cites = event.cites;
  } else if (event.type === 'run.failed') {
    state.phase = 'failed';
    state.error = event.error;
  } else {
    state.phase = 'cancelled';
    state.reason = event.reason;
  }
  return undefined;
}

function revise(state: PlanState, event: EventOf<'plan.revised'>): Refusal | undefined {
  const agent = state.agents.get(event.agent);
  if (!agent || hasEnded(agent)) return 'there is no such living agent';
  if (event.rev !== agent.revision + 1) return 'the revision is not the next';
  agent.revision = event.rev;
  agent.outline = event.outline;
  agent.facts = event.facts;
  return undefined;
}

function send(state: PlanState, event: EventOf<'msg.sent'>): Refusal | undefined {
  const [from, to] = [state.agents.get(event.from), state.agents.get(event.to)];
  if (!from || !to) return 'there is no such agent';
  if (hasEnded(from) || hasEnded(to)) return 'the agent has ended';
  if (event.until !== undefined) {
    (from.replies ??= new Map()).set(event.id, event.until);
    state.dues.add({ at: event.until, kind: 'reply', id: `${event.from} ${event.id}` });
  }
  if (event.replyTo !== undefined) to.replies?.delete(event.replyTo);
  deliver(to, {
    type: 'message',
    id: event.id,
    from: event.from,
    body: deliveredOf(event, 'body'),
    ...(event.replyTo !== undefined && { replyTo: event.replyTo }),
    expectsReply: event.until !== undefined,
  });
  wake(state, to);
  return undefined;
}

function expireWait(state: PlanState, event: EventOf<'wait.expired'>): Refusal | undefined {
  const agent = state.agents.get(event.agent);
  if (!agent || hasEnded(agent)) return 'there is no such living agent';
  agent.replies?.delete(event.waitedFor);
  deliver(agent, { type: 'timeout', waitedFor: event.waitedFor });
  wake(state, agent);
  return undefined;
}

function stall(state: PlanState, event: EventOf<'stall.found'>): Refusal | undefined {
  const agent = state.agents.get(event.agent);
  if (!agent || hasEnded(agent)) return 'there is no such living agent';
  agent.stalls++;
  agent.repeats = 0;
  deliver(agent, { type: 'stall', reason: event.reason });
  return undefined;
}
