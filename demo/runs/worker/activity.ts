/** Reads runs and plans from an endpoint's events. */

import type { ObservedEvent } from '../../../src/contracts/event-sink.ts';
import { readSummary } from '../../../src/events/payload-summary.ts';
import type { Activity, SeenPlan, SeenRun } from '../../control/server-control.ts';

/** Collects events into runs and plans. */
export interface ActivityLog {
  /** Returns whether it changed anything. */
  take(event: ObservedEvent): boolean;
  /** Some events were missed. */
  miss(): void;
  now(): Activity;
}

/** The most of each. */
const most = 200;

/** Creates an empty log. */
export function createActivityLog(): ActivityLog {
  const runs = new Map<string, SeenRun>();
  const plans = new Map<string, SeenPlan>();
  let gap: Activity['gap'];

  function keep<T>(all: Map<string, T>, id: string, value: T): void {
    if (put(all, id, value)) gap ??= 'cut';
  }

  function takeRun(event: ObservedEvent): boolean {
    const { runId, state = 'running' } = readSummary(event.payloadSummary);
    if (typeof runId !== 'string') return false;
    if (state === 'known') return runs.delete(runId); // another request for a run that there is
    const before = runs.get(runId);
    const { traceId, target, actor, timestamp, latency, error } = event;
    const ended = event.action === 'run.end' && { durationMs: latency, ...(error && { error: error.code }) };
    keep(runs, runId, {
      runId,
      traceId,
      agentId: target.id,
      by: actor.id,
      startedAt: before?.startedAt ?? Date.parse(timestamp) - (event.action === 'run.end' ? latency : 0),
      ...ended,
      status: event.action === 'run.end' ? event.status : 'pending',
      ...(event.action === 'run.end' && { end: String(state) }),
    });
    return true;
  }

  function takePlan({ traceId, target, actor, timestamp, action, status }: ObservedEvent): boolean {
    const before = plans.get(target.id);
    const state = action === 'plan.start' ? 'running' : status === 'ok' ? 'ended' : status;
    keep(plans, target.id, {
      planId: target.id,
      traceId,
      by: actor.id,
      startedAt: before?.startedAt ?? timestamp,
      state,
    });
    return true;
  }

  return {
    take(event) {
      if (event.action === 'run.start' || event.action === 'run.end') return takeRun(event);
      return event.action === 'plan.start' || event.action === 'plan.end' ? takePlan(event) : false;
    },
    miss: () => void (gap = 'dropped'),
    now: () => ({ runs: latestFirst(runs), plans: latestFirst(plans), gap }),
  };
}

/** Returns whether the oldest went for it. */
function put<T>(all: Map<string, T>, id: string, value: T): boolean {
  all.set(id, value);
  const [oldest] = all.keys();
  return all.size > most && oldest !== undefined && all.delete(oldest);
}

function latestFirst<T>(all: ReadonlyMap<string, T>): readonly T[] {
  return [...all.values()].toReversed();
}
