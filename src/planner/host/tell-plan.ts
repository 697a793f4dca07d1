/**
 * Tells of a plan as everything that happens here is told of: the plan, within it its agents, within them their steps. What is on
 * record is told when it is; a step when it is taken, which may be a moment before the record of its agent.
 */

import { type ErrorData, toData } from '../../base/errors.ts';
import { type Span, type SpanEnd, type SpanOptions, startSpan } from '../../events/span.ts';
import type { ActionInput } from '../model/action.ts';
import { tellDenied } from '../decide/authorize-create.ts';
import type { PlanEvent } from '../model/plan-event.ts';
import type { NumberedEvent } from '../journal/plan-journal.ts';
import { type Activity, agentOfStep, type AgentState, type PlanState } from '../model/plan-state.ts';
import { spanIdOf } from '../model/span-id.ts';

/** What is told of one plan, by the process that has it. */
export interface PlanTelling {
  /** Tells of what is on record now. */
  readonly onCommit: (events: readonly NumberedEvent[]) => void;
  /** Tells that a step begins; for a tool call, which tells of itself, gives the agent's span. */
  readonly begin: (activity: Activity) => { readonly span: Span; readonly end: (how: SpanEnd) => void };
  /** Tells that an agent may not do what it wants: create another. */
  readonly denied: (agent: AgentState, action: ActionInput | undefined) => void;
  /** The plan is left to others: what was being done here has ended. */
  readonly leave: () => void;
}

/** What is known of a plan when a process has it. */
export interface ToldPlan {
  readonly state: PlanState;
  /** What is on record and was not told. */
  readonly events: readonly NumberedEvent[];
}

/** Begins to tell of a plan that was just made, or goes on where another process has left it. */
export function tellPlan({ state, events }: ToldPlan, options: SpanOptions): PlanTelling {
  const { created } = state;
  if (!created) throw new Error('A plan that has not begun cannot be told of');
  const spans = createPlanSpans({ state, events, created }, options);
  const steps = new Set<Span>();
  const onCommit: PlanTelling['onCommit'] = (committed) => {
    for (const { event } of committed) {
      tellEvent(event, { state, spans });
    }
  };
  onCommit(events);
  return {
    onCommit,
    begin({ agent, call, step }) {
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
      tellDenied(spans.ofAgent(agent), action?.type === 'create' ? action.agentId : undefined);
    },
    leave() {
      for (const span of steps) span.end({ status: 'cancelled', payload: { left: true } });
    },
  };
}

interface PlanSpans {
  readonly plan: Span;
  readonly ofAgent: (agent: AgentState) => Span;
  /** That of the agent at this address; the plan's, where nobody is there. */
  readonly at: (address: string) => Span;
}

function createPlanSpans(
  { state, events, created: { planId, terms, owner, at } }: ToldPlan & {
    readonly created: NonNullable<PlanState['created']>;
  },
  options: SpanOptions,
): PlanSpans {
  const fresh = new Set(events.flatMap(({ event }) => event.type === 'agent.created' ? [event.id] : []));
  const toldBefore = new Set([...state.agents.keys()].filter((address) => !fresh.has(address)));
  const plan = startSpan({
    traceId: terms.traceId,
    parentSpanId: terms.parentSpanId,
    spanId: spanIdOf(planId, ''),
    ...(!fresh.has('1') && { startedAt: at }),
    tenant: owner.tenant,
    actor: { type: 'user', id: owner.subject },
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
      ...(toldBefore.has(agent.id) && { startedAt: agent.startedAt }),
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

interface Telling {
  readonly state: PlanState;
  readonly spans: PlanSpans;
}

function tellEvent(event: PlanEvent, { state, spans }: Telling): void {
  switch (event.type) {
    case 'run.created':
    case 'step.started':
    case 'step.done':
    case 'call.done':
      return; // told of as spans
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
      return tellInstant(event, { state, spans });
  }
}

/** A node of the plan that has failed is told of once more, as an error of its own. */
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

function tellInstant(event: Instant, { state, spans }: Telling): void {
  const ask = 'ask' in event ? event.ask : undefined;
  const isApproval = event.type === 'ask.opened' && event.kind === 'approval';
  const place = spans.at(addressOf(event, state));
  const error = 'error' in event ? toData(event.error) : null;
  place.emit({
    action: isApproval ? 'approval.request' : `plan.${event.type}`,
    ...('by' in event && { actor: { type: 'user', id: event.by } }),
    target: ask === undefined ? targetAt(addressOf(event, state), state) : { type: 'approval', id: ask },
    status: error ? 'error' : 'ok',
    error,
    payload: 'attempt' in event ? { attempt: event.attempt } : {},
  });
}

/** The agent that an event is about; none, where it is about the plan. */
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

/** Its id in the registry, where it has one: a model may have made it up. */
function nameOf({ id, spec: { agentId = id } }: AgentState): string {
  return agentId.slice(0, 128);
}
