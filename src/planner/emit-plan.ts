/**
 * Emits the events of a plan: a span for the plan, in it one for each agent, in these one for each step. Recorded events are emitted
 * after their commit; a step when it starts, which may be before its agent is recorded.
 */

import { type ErrorData, toData } from '../base/errors.ts';
import type { Metrics } from '../base/metrics.ts';
import { actorOf, type Span, type SpanEnd, type SpanOptions, startSpan } from '../events/span.ts';
import type { ActionInput } from './action.ts';
import { emitDenied } from './authorize-create.ts';
import type { PlanEvent } from './plan-event.ts';
import { type Activity, agentOfStep, type AgentState, type PlanState } from './plan-state.ts';

/** The events of one plan, emitted by its owner. */
export interface PlanEvents {
  /** Emits committed events. */
  readonly onCommit: (events: readonly PlanEvent[]) => void;
  /** Emits the start of a step. A tool call emits its own events: for it, returns the agent's span. */
  readonly start: (activity: Activity) => { readonly span: Span; readonly end: (how: SpanEnd) => void };
  /** Emits that an agent may not create another. */
  readonly denied: (agent: AgentState, action: ActionInput | undefined) => void;
  /** Ends the open steps: this process released the plan. */
  readonly leave: () => void;
}

/** A plan whose events are emitted. */
interface ObservedPlan {
  readonly state: PlanState;
  /** Recorded and not emitted yet. */
  readonly events: readonly PlanEvent[];
}

/** Starts to emit the events of a new plan, or continues where another process stopped. */
export function emitPlan({ state, events }: ObservedPlan, options: SpanOptions): PlanEvents {
  const { created } = state;
  if (!created) throw new Error('A plan without its first event has no events to emit');
  const spans = createPlanSpans({ state, events, created }, options);
  const steps = new Set<Span>();
  const onCommit: PlanEvents['onCommit'] = (committed) => {
    for (const event of committed) emitEvent(event, { state, spans });
  };
  onCommit(events);
  return {
    onCommit,
    start({ agent, call, step }) {
      const around = spans.ofAgent(agent);
      if (call) return { span: around, end: () => undefined };
      const payload = { step, attempt: agent.attempt, address: agent.id };
      const span = around.start({ action: 'step', target: targetOf(agent), payload });
      steps.add(span);
      return {
        span,
        end(how) {
          steps.delete(span);
          span.end(how);
        },
      };
    },
    denied(agent, action) {
      emitDenied(spans.ofAgent(agent), action?.type === 'create' ? action.agentId : undefined);
    },
    leave() {
      for (const span of steps) span.end({ status: 'cancelled', payload: { left: true } });
    },
  };
}

interface PlanSpans {
  readonly plan: Span;
  readonly ofAgent: (agent: AgentState) => Span;
  /** The span of the agent at this address; the plan's when there is none. */
  readonly at: (address: string) => Span;
}

function createPlanSpans(
  { state, events, created: { planId, terms, owner, at } }: ObservedPlan & {
    readonly created: NonNullable<PlanState['created']>;
  },
  options: SpanOptions,
): PlanSpans {
  // Those of the events are the last.
  const emittedBefore = state.agents.size - events.filter(({ type }) => type === 'agent.created').length;
  const plan = startSpan({
    traceId: terms.traceId,
    parentSpanId: terms.parentSpanId,
    spanId: spanIdOf(planId, ''),
    ...(emittedBefore > 0 && { startedAt: at }),
    tenant: owner.tenant,
    actor: actorOf(owner),
    action: 'plan.start',
    endAction: 'plan.end',
    target: { type: 'plan', id: planId },
    payload: { given: terms.given },
  }, options);
  const agents = new Map<string, Span>();
  const ofAgent = (agent: AgentState): Span => {
    const known = agents.get(agent.id);
    if (known) return known;
    const span = (agent.parent ? ofAgent(agent.parent) : plan).start({
      spanId: spanIdOf(planId, agent.id),
      ...(agent.order < emittedBefore && { startedAt: agent.startedAt }),
      actor: { type: 'agent', id: nameOf(agent) },
      action: 'agent.create',
      endAction: 'agent.end',
      target: targetOf(agent),
      payload: { planId, address: agent.id },
    });
    agents.set(agent.id, span);
    return span;
  };
  return {
    plan,
    ofAgent,
    at(address) {
      const agent = state.agents.get(address);
      return agent ? ofAgent(agent) : plan;
    },
  };
}

interface Observed {
  readonly state: PlanState;
  readonly spans: PlanSpans;
}

function emitEvent(event: PlanEvent, { state, spans }: Observed): void {
  switch (event.type) {
    case 'run.created':
    case 'step.started':
    case 'step.done':
    case 'call.done':
      return; // emitted as spans
    case 'agent.created':
      return void spans.at(event.id);
    case 'agent.done':
    case 'agent.failed':
    case 'agent.cancelled':
      return endSpan(spans.at(event.id), event, { type: 'agent', id: event.id });
    case 'run.done':
    case 'run.failed':
    case 'run.cancelled':
      return endSpan(spans.plan, event, { type: 'plan', id: state.created?.planId ?? '' });
    case 'msg.sent':
      return spans.at(event.from).emit({
        action: 'agent.send',
        target: targetAt(event.to, state),
        status: 'ok',
        payload: { from: event.from, to: event.to },
      });
    default:
      return emitInstant(event, { state, spans });
  }
}

/** A failed plan or agent also emits an error. */
function endSpan(span: Span, event: PlanEvent, target: { readonly type: string; readonly id: string }): void {
  const error: ErrorData | null = 'error' in event ? toData(event.error) : null;
  const status = error ? 'error' : event.type.endsWith('.cancelled') ? 'cancelled' : 'ok';
  if (error) span.emit({ action: 'error', target, status: 'error', error });
  span.end({ status, error });
}

type Instant = Exclude<
  PlanEvent,
  { readonly type: `run.${'created' | 'done'}` | `agent.${string}` | 'msg.sent' | 'step.started' | 'step.done' }
>;

function emitInstant(event: Instant, { state, spans }: Observed): void {
  const ask = 'ask' in event ? event.ask : undefined;
  const isApproval = event.type === 'ask.opened' && event.kind === 'approval';
  const span = spans.at(addressOf(event, state));
  const error = 'error' in event ? toData(event.error) : null;
  span.emit({
    action: isApproval ? 'approval.request' : `plan.${event.type}`,
    ...('by' in event && { actor: { type: 'user', id: event.by } }),
    target: ask === undefined ? targetAt(addressOf(event, state), state) : { type: 'approval', id: ask },
    status: error ? 'error' : 'ok',
    error,
    payload: 'attempt' in event ? { attempt: event.attempt } : {},
  });
}

/** The address of the agent that an event is about; empty for the plan. */
function addressOf(event: Instant, state: PlanState): string {
  if ('agent' in event) return event.agent;
  if ('step' in event && event.step !== undefined) return agentOfStep(state, event.step)?.id ?? '';
  return event.type === 'cancel.requested' ? event.target : '';
}

function targetAt(address: string, state: PlanState): { readonly type: string; readonly id: string } {
  const agent = state.agents.get(address);
  return agent ? targetOf(agent) : { type: 'plan', id: state.created?.planId ?? '' };
}

function targetOf(agent: AgentState): { readonly type: string; readonly id: string } {
  return { type: 'agent', id: nameOf(agent) };
}

/** The id in the registry, if any; a model may have invented it, so it is cut. */
function nameOf({ id, spec: { agentId = id } }: AgentState): string {
  return agentId.slice(0, 128);
}

const endings: Partial<Record<PlanEvent['type'], string>> = {
  'run.done': 'done',
  'run.failed': 'failed',
  'run.cancelled': 'cancelled',
};

/** Gives what counts one commit of the plan. Only the process that ends a plan counts its end. */
export function createPlanCounter(
  state: PlanState,
  metrics: Pick<Metrics, 'count'>,
): (events: readonly PlanEvent[]) => void {
  return (events) => {
    metrics.count('pinnace_journal_commits_total', { of: 'plan' });
    const ending = events.map(({ type }) => endings[type]).find((name) => name !== undefined);
    if (ending === undefined) return;
    metrics.count('pinnace_plans_total', { state: ending });
    const { limit, used } = state.account;
    if (limit.tokens === Infinity) return;
    metrics.count('pinnace_budget_tokens_total', { of: 'plan', kind: 'granted' }, limit.tokens);
    metrics.count('pinnace_budget_tokens_total', { of: 'plan', kind: 'used' }, used.tokens);
  };
}

/** 16 hexadecimal digits for an agent of a plan (FNV-1a over its address, twice with different offsets). */
export function spanIdOf(planId: string, address: string): string {
  const text = `${planId}/${address}`;
  return hash(text, 0x811c9dc5) + hash(text, 0x01000193);
}

function hash(text: string, offset: number): string {
  let value = offset;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value ^= value >>> 16;
  value = Math.imul(value, 0x85ebca6b);
  value ^= value >>> 13;
  return (value >>> 0).toString(16).padStart(8, '0');
}
