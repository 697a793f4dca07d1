/** A group of events in the making: each is applied at once, so that the next can be decided on; all are committed together. */

import type { ErrorData } from '../base/errors.ts';
import type { Change } from '../contracts/storage.ts';
import type { OnFailure } from './action.ts';
import { leavingDoubt } from './failure.ts';
import type { Outliner } from './plan-record.ts';
import type { AskFacts, EventOf, NewEvent, PlanEvent, Refusal } from './plan-event.ts';
import { type AgentState, hasEnded, livingBelow, type PlanState, stepId } from './plan-state.ts';
import { reduce } from './reduce.ts';

/** What decisions need to know beside the state. */
export interface DraftSettings {
  readonly allowHuman: boolean;
  readonly maxDepth: number;
  readonly askMs: number;
  readonly stallAfter: number;
}

/** What decisions are made on, and what they have come to. What throws half-way leaves what was added before in the draft. */
export class Draft {
  readonly state: PlanState;
  /** The time of all events of the draft. */
  readonly at: number;
  readonly settings: DraftSettings;
  readonly events: PlanEvent[] = [];
  /** The same as JSON texts. */
  readonly texts: string[] = [];
  /** The values that are stored out of line. */
  readonly changes: Change[] = [];
  readonly #outliner: Outliner;

  constructor(state: PlanState, { at, settings, outliner }: {
    readonly at: number;
    readonly settings: DraftSettings;
    readonly outliner: Outliner;
  }) {
    this.state = state;
    this.at = at;
    this.settings = settings;
    this.#outliner = outliner;
  }

  /** Applies the event, and what follows from it; a refused one is not recorded. */
  add(event: NewEvent): Refusal | undefined {
    const timed = { ...event, at: this.at } as PlanEvent; // with its time, it is an event
    const hasRoom = this.changes.length < mostValues;
    const stored = hasRoom ? this.#outliner.keep(timed) : this.#outliner.keepWhole(timed);
    const refusal = reduce(this.state, stored.event);
    if (refusal !== undefined) return refusal;
    this.events.push(stored.event);
    this.texts.push(stored.text);
    this.changes.push(...stored.changes);
    for (const follower of followUps(this.state, stored.event)) this.add(follower);
    return undefined;
  }
}

/** The maximum number of out-of-line values of one draft: the number of changes in a commit is limited. */
const mostValues = 20;

/** The number of the next question of this plan. */
export function nextAskId({ created, askCount }: PlanState): AskFacts['ask'] {
  return `${created?.planId}.${askCount + 1}`;
}

/** The reason of agents that are cancelled because one above them has ended: no other agent waits for them. */
const withParent = 'parent_ended';
/** The reason of agents that a revised plan no longer needs. */
export const dropped = 'dropped';

/** Whether the event ends an agent: then others may follow from it. */
export function isEnd(event: PlanEvent): event is EventOf<'agent.done' | 'agent.failed' | 'agent.cancelled'> {
  return event.type === 'agent.done' || event.type === 'agent.failed' || event.type === 'agent.cancelled';
}

/** Gives the events that must follow an event, in the same commit. */
function followUps(state: PlanState, event: PlanEvent): readonly NewEvent[] {
  if (!isEnd(event)) return [];
  const agent = state.agents.get(event.id);
  if (!agent) return [];
  if (!agent.parent) return [endOfRun(agent, event)];
  const isCascade = event.type === 'agent.cancelled' && (event.reason === withParent || event.reason === dropped);
  if (hasEnded(agent.parent) || (isCascade && event.reason === withParent)) return [];
  if (event.type !== 'agent.done' && !isCascade && policyOf(state, agent) === 'fail') {
    return failParent(agent, agent.parent);
  }
  return isGivenRoot(state, agent.parent) && agent.parent.open === 0 ? [endOfGiven(state, agent.parent)] : [];
}

/** Tasks of a given plan fail it unless they say otherwise; an agent receives the failures of those that it created. */
function policyOf(state: PlanState, { spec, parent }: AgentState): OnFailure {
  return spec.onFailure ?? (parent && isGivenRoot(state, parent) ? 'fail' : 'collect');
}

function isGivenRoot({ created }: PlanState, agent: AgentState): boolean {
  return !agent.parent && created?.terms.given === true;
}

function failParent({ id, error }: AgentState, parent: AgentState): readonly NewEvent[] {
  if (!error) return [];
  const reason = typeof error.details?.['reason'] === 'string' ? error.details['reason'] : 'child_failed';
  return [
    ...livingBelow(parent).map((below) => cancelled(below, withParent)),
    failed(parent, { ...error, details: { ...error.details, reason, from: error.details?.['from'] ?? id } }),
  ];
}

function endOfRun(
  root: AgentState,
  event: EventOf<'agent.done' | 'agent.failed' | 'agent.cancelled'>,
): NewEvent {
  if (event.type === 'agent.failed') return { type: 'run.failed', error: event.error };
  if (event.type === 'agent.cancelled') return { type: 'run.cancelled', reason: event.reason };
  return {
    type: 'run.done',
    result: event.result,
    cites: event.cites ?? doneBelow(root).map(({ id }) => id),
    ...(event.refs && { refs: event.refs }),
  };
}

function doneBelow(agent: AgentState): readonly AgentState[] {
  return agent.children.filter(({ status }) => status === 'done');
}

/** The end of a given plan, whose tasks have all ended: the result of the task that it names, or those of all by key. */
function endOfGiven(state: PlanState, root: AgentState): NewEvent {
  const named = state.created?.terms.resultOf;
  if (named !== undefined) {
    const task = root.keys?.get(named);
    if (task?.error) return { type: 'agent.failed', id: root.id, error: task.error };
    const facts = { type: 'agent.done' as const, id: root.id, cites: sourcesOf(state, task) };
    return task?.result?.ref
      ? { ...facts, result: task.result.ref, refs: ['result'] }
      : { ...facts, result: task?.result?.value };
  }
  const done = doneBelow(root);
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
function failed(agent: AgentState, error: ErrorData): Omit<EventOf<'agent.failed'>, 'at'> {
  const unknown = underWay(agent);
  if (unknown.length === 0) return { type: 'agent.failed', id: agent.id, error };
  return { type: 'agent.failed', id: agent.id, error: leavingDoubt(error, unknown) };
}

function cancelled(agent: AgentState, reason: string): Omit<EventOf<'agent.cancelled'>, 'at'> {
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

/** Ends an agent, first of all those below it, leaves first. */
export function end(
  draft: Draft,
  agent: AgentState,
  event: NewEvent & { readonly type: 'agent.done' | 'agent.failed' | 'agent.cancelled' },
): void {
  cancelBelow(draft, agent);
  draft.add(event);
}

/** Ends an agent as failed. */
export function fail(draft: Draft, agent: AgentState, error: ErrorData): void {
  end(draft, agent, failed(agent, error));
}

/** Ends an agent as cancelled. */
export function cancel(draft: Draft, agent: AgentState, reason: string): void {
  end(draft, agent, cancelled(agent, reason));
}

function cancelBelow(draft: Draft, agent: AgentState): void {
  if (agent.open === 0) return;
  for (const below of livingBelow(agent)) draft.add(cancelled(below, withParent));
}
