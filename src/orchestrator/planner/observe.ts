/** Tells of a plan's events as everything that happens here is told of. */

import type { Emit, EventStatus } from '../../events.ts';
import { toData } from '../../errors.ts';
import type { PlanEvent } from './plan-event.ts';
import type { NumberedEvent } from './plan-journal.ts';
import type { PlanState } from './plan-state.ts';
import { spanIdOf } from './span-id.ts';

/** Gives the function that is told which events are committed. */
export function observe(state: PlanState, emit: Emit): (events: readonly NumberedEvent[]) => void {
  return (events) => {
    const { created } = state;
    if (!created) return;
    for (const { seq, event } of events) {
      const agentId = agentOf(event);
      const agent = state.agents.get(agentId);
      const error = 'error' in event ? event.error : null;
      tell(emit, {
        traceId: created.terms.traceId,
        spanId: spanIdOf(created.planId, agentId),
        ...(agent?.parent && { parentSpanId: spanIdOf(created.planId, agent.parent.id) }),
        actor: actorOf(event, agentId, created.owner.subject),
        action: `plan.${event.type}`,
        target: { type: 'agent', id: agentId },
        status: statusOf(event),
        latency: agent && endings.has(event.type) ? Math.max(0, event.at - agent.startedAt) : 0,
        error: error && toData(error),
        payloadSummary: `${created.planId}:${seq}`,
      });
    }
  };
}

/** Whoever is told cannot break a plan. */
function tell(emit: Emit, event: Parameters<Emit>[0]): void {
  try {
    emit(event);
  } catch {
    // Only this event is lost.
  }
}

const endings: ReadonlySet<string> = new Set([
  'agent.done',
  'agent.failed',
  'agent.cancelled',
  'run.done',
  'run.failed',
]);

/** The agent that an event is about; the first, where it is about the plan. */
function agentOf(event: PlanEvent): string {
  if ('id' in event && event.type !== 'msg.sent') return event.id;
  if ('agent' in event) return event.agent;
  if ('step' in event && event.step !== undefined) return event.step.slice(0, event.step.indexOf('#'));
  if (event.type === 'msg.sent') return event.to;
  if (event.type === 'cancel.requested') return event.target;
  return '1';
}

function actorOf(
  event: PlanEvent,
  agentId: string,
  subject: string,
): { readonly type: 'agent' | 'user'; readonly id: string } {
  if ('by' in event) return { type: 'user', id: event.by };
  if (event.type === 'run.created') return { type: 'user', id: subject };
  return { type: 'agent', id: event.type === 'msg.sent' ? event.from : agentId };
}

function statusOf({ type }: PlanEvent): EventStatus {
  if (type.endsWith('.failed')) return 'error';
  if (type.endsWith('.cancelled')) return 'cancelled';
  return pending.has(type) ? 'pending' : 'ok';
}

const pending: ReadonlySet<string> = new Set([
  'run.created',
  'agent.created',
  'step.started',
  'ask.opened',
  'timer.set',
]);
