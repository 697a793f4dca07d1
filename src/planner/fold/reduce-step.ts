/** Folds what activities do: steps of agents, and calls of tools. */

import { bookUsage, deliver, markReady, settle } from '../decide/agent-changes.ts';
import { deliveredOf, type Refusal } from './folding.ts';
import type { EventOf, Waiting } from '../model/plan-event.ts';
import {
  agentOfStep,
  type AgentState,
  callOf,
  type CallState,
  hasEnded,
  type PlanState,
  stepId,
} from '../model/plan-state.ts';

type StepEvent = EventOf<
  'step.started' | 'step.done' | 'call.done' | 'step.failed' | 'timer.set' | 'timer.fired' | 'step.late'
>;

/** Applies an event about one activity. */
export function reduceStep(state: PlanState, event: StepEvent): Refusal | undefined {
  const agent = agentOfStep(state, event.step);
  if (!agent) return 'there is no such agent';
  if (event.type === 'step.late') {
    bookUsage(state, agent, event.usage);
    return undefined;
  }
  if (hasEnded(agent)) return 'the agent has ended';
  const call = agent.calls?.get(event.step);
  if (!call && event.step !== stepId(agent)) return 'the activity is not the current one';
  if (event.type === 'call.done' || call) {
    return call ? reduceCall(state, event, { agent, call }) : 'there is no such call';
  }
  return reduceThought(state, event, agent);
}

/** An event about the agent's own step. */
function reduceThought(
  state: PlanState,
  event: Exclude<StepEvent, EventOf<'call.done' | 'step.late'>>,
  agent: AgentState,
): Refusal | undefined {
  if (event.type === 'timer.fired') {
    if (agent.retryAt === undefined) return 'nothing waits for the timer';
    markReady(state, agent);
    return undefined;
  }
  if (event.type === 'timer.set') {
    if (agent.retryAt !== Infinity) return 'nothing has failed';
    agent.retryAt = event.dueAt;
    state.dues.add({ at: event.dueAt, kind: 'retry', id: event.step });
    return undefined;
  }
  if (agent.status !== 'ready') return 'the agent has no step under way';
  if (event.type === 'step.started') {
    agent.started = true;
    return undefined;
  }
  agent.started = false;
  bookUsage(state, agent, event.usage);
  if (event.type === 'step.failed') {
    agent.attempt = event.attempt + 1;
    agent.status = 'waiting';
    agent.retryAt = Infinity; // until a timer says when, or the agent ends
    return undefined;
  }
  finishStep(state, event, agent);
  return undefined;
}

function finishStep(state: PlanState, event: EventOf<'step.done'>, agent: AgentState): void {
  agent.inbox = agent.inbox.slice(event.seen);
  agent.woken = agent.inbox.some(({ type }) => type === 'message' || type === 'stall');
  agent.step++;
  agent.attempt = 1;
  agent.memory = event.memory === undefined ? undefined : deliveredOf(event, 'memory');
  agent.repeats = event.digest !== undefined && event.digest === agent.digest ? agent.repeats + 1 : 1;
  agent.digest = event.digest;
  for (const outcome of event.outcomes ?? []) {
    deliver(
      agent,
      outcome.ok ? { type: 'outcome', ...outcome, output: { value: outcome.output } } : { type: 'outcome', ...outcome },
    );
  }
  startCalls(state, event, agent);
  startWait(state, event, agent);
  agent.status = 'waiting';
  settle(state, agent);
}

function startCalls(state: PlanState, event: EventOf<'step.done'>, agent: AgentState): void {
  event.calls?.forEach((spec, i) => {
    const call: CallState = {
      id: `${event.step}.${i + 1}`,
      spec,
      status: spec.ask === undefined ? 'ready' : 'approval',
      attempt: 1,
      started: false,
    };
    (agent.calls ??= new Map()).set(call.id, call);
    agent.pending++;
    if (call.status === 'ready') state.fresh.push(callOf(agent, call));
  });
}

/** Counts what is awaited. With `any` and `race`, one that has already ended is enough, unless the agent has received its result before. */
function startWait(state: PlanState, { wait, step }: EventOf<'step.done'>, agent: AgentState): void {
  agent.wait = wait;
  agent.awaitedIds = wait.of && new Set(wait.of);
  agent.awaited = countAwaited(state, wait, agent);
  if (wait.until !== undefined) state.dues.add({ at: wait.until, kind: 'wait', id: `${agent.id} ${step}` });
}

function countAwaited(state: PlanState, { mode, of }: Waiting, agent: AgentState): number {
  if (mode === 'message' || mode === 'none') return 0;
  const named = of?.map((id) => state.agents.get(id)).filter((child) => child !== undefined);
  if (mode !== 'all') {
    const news = named ??
      agent.inbox.flatMap((item) => item.type === 'result' ? state.agents.get(item.from) ?? [] : []);
    if (news.some((child) => mode === 'any' ? child.status === 'done' : hasEnded(child))) return 0;
  }
  return named ? named.filter((child) => !hasEnded(child)).length : agent.open;
}

/** An event about a call. */
function reduceCall(
  state: PlanState,
  event: Exclude<StepEvent, EventOf<'step.late'>>,
  { agent, call }: { readonly agent: AgentState; readonly call: CallState },
): Refusal | undefined {
  switch (event.type) {
    case 'timer.fired':
      if (call.status !== 'retry') return 'nothing waits for the timer';
      call.status = 'ready';
      state.fresh.push(callOf(agent, call));
      return undefined;
    case 'timer.set':
      if (call.status !== 'retry') return 'nothing has failed';
      state.dues.add({ at: event.dueAt, kind: 'retry', id: event.step });
      return undefined;
    case 'step.done':
      return 'a call ends with call.done';
    default:
  }
  if (event.type === 'step.failed' && call.status === 'approval') return endCall(state, { agent, call }, event.error);
  if (call.status !== 'ready') return 'the call is not under way';
  if (event.type === 'step.started') {
    call.started = true;
    return undefined;
  }
  call.started = false;
  bookUsage(state, agent, event.usage);
  if (event.type === 'call.done') return endCall(state, { agent, call }, undefined, event);
  call.attempt = event.attempt + 1;
  if (call.spec.retry && event.error.retryable && event.attempt < call.spec.retry.attempts) {
    call.status = 'retry';
    return undefined;
  }
  return endCall(state, { agent, call }, event.error);
}

function endCall(
  state: PlanState,
  { agent, call }: { readonly agent: AgentState; readonly call: CallState },
  error: EventOf<'step.failed'>['error'] | undefined,
  done?: EventOf<'call.done'>,
): undefined {
  const { callId } = call.spec;
  const facts = { type: 'outcome' as const, ...(callId !== undefined && { callId }) };
  if (done) deliver(agent, { ...facts, ok: true, output: deliveredOf(done, 'output') });
  else if (error) deliver(agent, { ...facts, ok: false, error });
  agent.calls?.delete(call.id);
  agent.pending--;
  settle(state, agent);
}
