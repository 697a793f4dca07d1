/** The events that must follow the end of an agent, in the same commit. */

import type { ErrorData } from '../../base/errors.ts';
import type { OnFailure } from '../model/action.ts';
import { leavingDoubt } from '../model/failure.ts';
import type { EventOf, NewEvent, PlanEvent } from '../model/plan-event.ts';
import {
  type AgentState,
  childOfKey,
  hasEnded,
  livingBelow,
  none,
  type PlanState,
  stepId,
} from '../model/plan-state.ts';

/** The reason of agents that are cancelled because one above them has ended: no other agent waits for them. */
export const withParent = 'parent_ended';
/** The reason of agents that a revised plan no longer needs. */
export const dropped = 'dropped';

/** Whether the event ends an agent: then others may follow from it. */
export function isEnd(event: PlanEvent): event is EventOf<'agent.done' | 'agent.failed' | 'agent.cancelled'> {
  return event.type === 'agent.done' || event.type === 'agent.failed' || event.type === 'agent.cancelled';
}

/** Gives the events that must follow an event, in the same commit. */
export function followUps(state: PlanState, event: PlanEvent): readonly NewEvent[] {
  if (!isEnd(event)) return [];
  const agent = state.agents.get(event.id);
  if (!agent) return [];
  if (!agent.parent) return [endOfRun(state, agent, event)];
  const isCascade = event.type === 'agent.cancelled' && (event.reason === withParent || event.reason === dropped);
  if (hasEnded(agent.parent) || (isCascade && event.reason === withParent)) return [];
  if (event.type !== 'agent.done' && !isCascade && policyOf(state, agent) === 'fail') {
    return failParent(state, agent, agent.parent);
  }
  return isGivenRoot(state, agent.parent) && agent.parent.open === 0 ? [endOfGiven(state, agent.parent)] : none;
}

/** Tasks of a given plan fail it unless they say otherwise; an agent receives the failures of those that it created. */
function policyOf(state: PlanState, { spec, parent }: AgentState): OnFailure {
  return spec.onFailure ?? (parent && isGivenRoot(state, parent) ? 'fail' : 'collect');
}

function isGivenRoot({ created }: PlanState, agent: AgentState): boolean {
  return !agent.parent && created?.terms.given === true;
}

function failParent(state: PlanState, { id, error }: AgentState, parent: AgentState): readonly NewEvent[] {
  if (!error) return [];
  const reason = typeof error.details?.['reason'] === 'string' ? error.details['reason'] : 'child_failed';
  return [
    ...livingBelow(state, parent).map((below) => cancelled(below, withParent)),
    failed(parent, { ...error, details: { ...error.details, reason, from: error.details?.['from'] ?? id } }),
  ];
}

function endOfRun(
  state: PlanState,
  root: AgentState,
  event: EventOf<'agent.done' | 'agent.failed' | 'agent.cancelled'>,
): NewEvent {
  if (event.type === 'agent.failed') return { type: 'run.failed', error: event.error };
  if (event.type === 'agent.cancelled') return { type: 'run.cancelled', reason: event.reason };
  return {
    type: 'run.done',
    result: event.result,
    cites: event.cites ?? doneBelow(state, root).map(({ id }) => id),
    ...(event.refs && { refs: event.refs }),
  };
}

function doneBelow({ agents }: PlanState, agent: AgentState): readonly AgentState[] {
  return agents.childrenOf(agent).filter(({ status }) => status === 'done');
}

/** The end of a given plan, whose tasks have all ended: the result of the task that it names, or those of all by key. */
function endOfGiven(state: PlanState, root: AgentState): NewEvent {
  const named = state.created?.terms.resultOf;
  if (named !== undefined) {
    const task = childOfKey(state, root, named);
    if (task?.error) return { type: 'agent.failed', id: root.id, error: task.error };
    const facts = { type: 'agent.done' as const, id: root.id, cites: sourcesOf(state, task) };
    return task?.result?.ref
      ? { ...facts, result: task.result.ref, refs: ['result'] }
      : { ...facts, result: task?.result?.value };
  }
  const done = doneBelow(state, root);
  const result = Object.fromEntries(done.map(({ spec, id, result: own }) => [spec.key ?? id, own?.ref ?? own?.value]));
  return { type: 'agent.done', id: root.id, result };
}

/** The task and all that it came after. */
function sourcesOf(state: PlanState, task: AgentState | undefined): readonly string[] {
  const found = new Set<AgentState>(task ? [task] : []);
  for (const next of found) { // grows while it is walked
    for (const id of next.spec.after ?? []) {
      const source = state.agents.get(id);
      if (source?.status === 'done') found.add(source);
    }
  }
  return [...found].toSorted((a, b) => a.order - b.order).map(({ id }) => id);
}

/** The event of a failed agent. With unsafe calls in progress its error is `outcome_unknown`: its work must not be repeated unasked. */
export function failed(agent: AgentState, error: ErrorData): Omit<EventOf<'agent.failed'>, 'at'> {
  const unknown = underWay(agent);
  if (unknown.length === 0) return { type: 'agent.failed', id: agent.id, error };
  return { type: 'agent.failed', id: agent.id, error: leavingDoubt(error, unknown) };
}

/** The event of a cancelled agent. */
export function cancelled(agent: AgentState, reason: string): Omit<EventOf<'agent.cancelled'>, 'at'> {
  const unknown = underWay(agent);
  return { type: 'agent.cancelled', id: agent.id, reason, ...(unknown.length > 0 && { unknown }) };
}

/** The unsafe activities in progress. */
function underWay(agent: AgentState): readonly string[] {
  return [
    ...(agent.started ? [stepId(agent)] : []),
    ...[...agent.calls?.values() ?? []].filter(({ started }) => started).map(({ id }) => id),
  ];
}
