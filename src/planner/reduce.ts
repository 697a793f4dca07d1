/**
 * Folds events into the state of a plan. It depends on nothing but its arguments, so every process that reads the journal has the
 * same state. The state is changed in place: copying ten thousand agents for each event would be quadratic.
 */

import { createAccount } from './account.ts';
import { bookUsage, createAgent, deliver, endAgent, markReady, settle, wake } from './agent-changes.ts';
import {
  addDue,
  agentOfStep,
  type AgentState,
  callOf,
  type CallState,
  hasEnded,
  livingBelow,
  noTimer,
  type PlanState,
  rootOf,
  stepId,
  stepOf,
  turnClock,
} from './plan-state.ts';
import { join, type Label, parseLabel, unlabelled } from '../permission/label.ts';
import {
  type AskFacts,
  deliveredOf,
  type EventOf,
  isApproval,
  type PlanEvent,
  type Refusal,
  type Waiting,
} from './plan-event.ts';

/**
 * Applies one event. An event that cannot be, such as a second end of an agent, changes nothing: the answer says why. Never throws
 * for events in the form of {@link PlanEvent}.
 */
export function reduce(state: PlanState, event: PlanEvent): Refusal | undefined {
  const refusal = apply(state, event);
  if (refusal !== undefined) return refusal;
  state.at = Math.max(state.at, event.at);
  state.read = readWith(state, event);
  turnClock(state);
  return undefined;
}

/** What the plan has read with this event. An outcome without a label, from an earlier version, may be of anybody. */
function readWith({ read, created }: PlanState, event: PlanEvent): Label {
  if (event.type === 'run.created') return parseLabel(event.read);
  if (event.type === 'call.done') return join(read, parseLabel(event.read));
  const isOfOther = event.type === 'ask.answered' && event.by !== created?.owner.subject &&
    (!isApproval(event.answer) || 'input' in event.answer);
  return isOfOther ? join(read, unlabelled) : event.read === undefined ? read : join(read, parseLabel(event.read));
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
  addDue(state, { at: event.terms.deadlineAt, kind: 'deadline', id: '1' });
  return undefined;
}

function end(
  state: PlanState,
  event: EventOf<'agent.done' | 'agent.failed' | 'agent.cancelled'>,
): Refusal | undefined {
  const agent = state.agents.get(event.id);
  if (!agent) return 'there is no such agent';
  if (hasEnded(agent)) return 'the agent has ended';
  if (agent.open > 0 && livingBelow(agent).length > 0) return 'an agent below it has not ended';
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
    (from.replies ??= new Set()).add(event.id);
    addDue(state, { at: event.until, kind: 'reply', id: `${event.from} ${event.id}` });
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

type StepEvent = EventOf<
  'step.started' | 'step.done' | 'call.done' | 'step.failed' | 'timer.set' | 'timer.fired' | 'step.late'
>;

/** Applies an event about one activity. */
function reduceStep(state: PlanState, event: StepEvent): Refusal | undefined {
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
    if (agent.retryAt !== noTimer) return 'nothing has failed';
    agent.retryAt = event.dueAt;
    addDue(state, { at: event.dueAt, kind: 'retry', id: event.step });
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
    agent.retryAt = noTimer;
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
  if (wait.until !== undefined) addDue(state, { at: wait.until, kind: 'wait', id: `${agent.id} ${step}` });
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
      addDue(state, { at: event.dueAt, kind: 'retry', id: event.step });
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
  const edited = call.edited && { edited: { before: call.edited.before, after: call.spec.input } };
  const facts = { type: 'outcome' as const, ...(callId !== undefined && { callId }), ...edited };
  if (done) deliver(agent, { ...facts, ok: true, output: deliveredOf(done, 'output') });
  else if (error) deliver(agent, { ...facts, ok: false, error });
  agent.calls?.delete(call.id);
  agent.pending--;
  settle(state, agent);
}

/** Applies an event about one question. */
function reduceAsk(
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
    allow(state, { agent, ask }, event.answer);
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
  addDue(state, { at: event.expiresAt, kind: 'ask', id: event.ask });
  // An approval counts as its call, a lost call as the call or the step that was lost.
  if (event.kind === 'question') agent.pending++;
  const call = event.kind === 'approval' && event.step !== undefined ? agent.calls?.get(event.step) : undefined;
  if (!call) return undefined;
  // What a person has changed waits for another one.
  call.status = 'approval';
  call.started = false;
  return undefined;
}

function deliverAnswer(agent: AgentState, ask: AskFacts, event: EventOf<'ask.answered' | 'ask.expired'>): void {
  deliver(agent, {
    type: 'answer',
    askId: ask.ask,
    ...(ask.callId !== undefined && { callId: ask.callId }),
    ...(event.type === 'ask.answered' && { answer: deliveredOf(event, 'answer'), by: event.by }),
  });
}

function allow(
  state: PlanState,
  { agent, ask }: { readonly agent: AgentState; readonly ask: AskFacts },
  answer: { readonly input?: unknown },
): void {
  const call = ask.step === undefined ? undefined : agent.calls?.get(ask.step);
  if (!call || call.status !== 'approval') return;
  const isEdited = answer.input !== undefined;
  if (isEdited || call.edited) {
    const { approvers, fourEyes, about: { quote } = {} } = ask;
    const by = { ...(approvers && { approvers }), ...(fourEyes && { fourEyes }), quote };
    call.edited = { before: call.edited ? call.edited.before : call.spec.input, ...by };
  }
  if (isEdited) call.spec = { ...call.spec, input: answer.input };
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
