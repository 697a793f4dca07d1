/** The state of activities that a live plan requests. */

import { failure } from '../model/failure.ts';
import type { PlanEvent } from '../model/plan-event.ts';
import type { Activity } from '../model/plan-state.ts';

/** Whether the event ends agents besides the one that recorded it. */
export function endsOthers({ type }: PlanEvent): boolean {
  return type === 'agent.cancelled' || type === 'agent.failed';
}

/** Whether the start of the activity is recorded; only of unsafe ones. */
export function isStarted({ agent, call }: Activity): boolean {
  return call ? call.started : agent.started;
}

/** Whether the activity can still be run: its agent may have ended or continued since. */
export function isCurrent({ agent, call, step }: Activity): boolean {
  if (call) return agent.calls?.get(call.id) === call && call.status === 'ready';
  return agent.status === 'ready' && agent.step === step;
}

/** The provider whose places the activity takes. */
export function providerOf({ agent, call }: Activity): string | undefined {
  return (call?.spec ?? agent.spec).provider;
}

/** The reason with which the activity of an ended agent is aborted. */
export function failureOf({ agent }: Activity): unknown {
  return agent.error ?? failure('cancelled', 'The agent has ended');
}
