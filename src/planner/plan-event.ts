/**
 * What a plan's journal says. The journal is the plan: its state is folded from these events, and streams, audit and playground are
 * projections of them. Only the first has `planId` and `traceId`; the number of an event is its place in the journal.
 */

import type { CallQuestion } from '../contracts/steps.ts';
import type { ErrorData } from '../base/errors.ts';
import type { JsonSchema } from '../base/schema.ts';
import type { ArgumentFacts } from '../base/principal.ts';
import type { Budget, CallAction, Effect, OnFailure, OnTimeout, Retry } from './action.ts';
import type { PlanTerms } from './plan-request.ts';
import type { Delivered, PlanOwner, Usage, ValueRef } from './run-agent.ts';

/** The version of the events' form. A reader knows all up to its own. */
export const eventVersion = 1;

/**
 * A value in an event. Large ones are stored out of line: then `refs` names the field, which holds a {@link ValueRef}. What agents and
 * people say can thus never pass for a reference.
 */
type Outlined = unknown;

/** What an agent is made with. */
export interface AgentSpec {
  readonly goal: string;
  readonly key?: string;
  readonly agentId?: string;
  readonly role?: string;
  readonly context?: Outlined;
  readonly constraints?: string;
  readonly tools?: readonly string[];
  /** `pure` when absent. */
  readonly effect?: Effect;
  readonly provider?: string;
  /** Addresses of agents that must have ended before. */
  readonly after?: readonly string[];
  /** `collect` when absent. */
  readonly onFailure?: OnFailure;
  readonly retry?: Retry;
  readonly budget?: Budget;
  /** Milliseconds since 1970; the plan's own when absent. */
  readonly deadlineAt?: number;
}

/** What a step's action came to at once. */
export type ActionOutcome =
  | { readonly callId?: string; readonly ok: true; readonly output: unknown }
  | { readonly callId?: string; readonly ok: false; readonly error: ErrorData };

/** A tool call that a step requested. */
export interface CallSpec {
  readonly callId?: string;
  readonly tool: string;
  readonly input: unknown;
  readonly effect: Effect;
  readonly provider?: string;
  readonly retry?: Retry;
  /** The question by which a person approves it. */
  readonly ask?: string;
}

/** What an agent waits for, with children as addresses. */
export interface Waiting {
  readonly mode: 'all' | 'any' | 'race' | 'message' | 'none';
  readonly of?: readonly string[];
  readonly until?: number;
}

interface Base {
  /** Milliseconds since 1970; never smaller than the event's before. */
  readonly at: number;
  /** Fields whose value is stored out of line. */
  readonly refs?: readonly string[];
  /** Who has said what came in with it, and who may read that: from then on, all of the plan may be made of it. */
  readonly read?: ArgumentFacts;
}

/** A question to a person. */
export interface AskFacts {
  readonly ask: string;
  readonly agent: string;
  /** A question of an agent; the approval of a call; whether a lost call has acted. */
  readonly kind: 'question' | 'approval' | 'lost_call';
  readonly callId?: string;
  /** The activity that it is about, for an approval and a lost call. */
  readonly step?: string;
  readonly question: string;
  /** Of an approval: the call, as `ThoughtCall` has it. */
  readonly about?: CallAction['about'];
  /** When it was asked, in milliseconds since 1970. */
  readonly at?: number;
  /** Who decides in place of the owner, as the permission hook has named them. */
  readonly approvers?: readonly string[];
  /** Another person than the one who has asked must decide. */
  readonly fourEyes?: true;
  /** Of an approval: what the person may change. */
  readonly edit?: CallQuestion['edit'];
  readonly schema?: JsonSchema;
  readonly options?: readonly string[];
  readonly expiresAt: number;
  readonly onTimeout: OnTimeout;
}

/** One event. */
export type PlanEvent =
  & Base
  & (
    | {
      readonly type: 'run.created';
      readonly v: number;
      readonly planId: string;
      readonly owner: PlanOwner;
      readonly terms: Omit<PlanTerms, 'context'>;
      readonly context?: Outlined;
    }
    | ({ readonly type: 'agent.created'; readonly id: string } & AgentSpec)
    | {
      readonly type: 'plan.revised';
      readonly agent: string;
      readonly rev: number;
      readonly outline: readonly string[];
      readonly facts: readonly string[];
      readonly drop: readonly string[];
    }
    | {
      readonly type: 'msg.sent';
      /** Also the number by which it is answered. */
      readonly id: string;
      readonly from: string;
      readonly to: string;
      readonly body: Outlined;
      readonly replyTo?: string;
      /** The sender waits for an answer, until then. */
      readonly until?: number;
    }
    | { readonly type: 'step.started'; readonly step: string; readonly effect: Effect }
    | {
      readonly type: 'step.done';
      readonly step: string;
      /** The number of inbox items that the step has received. */
      readonly seen: number;
      readonly memory?: Outlined;
      readonly wait: Waiting;
      readonly outcomes?: readonly ActionOutcome[];
      readonly calls?: readonly CallSpec[];
      /** The digest of its request: repetitions are no progress. */
      readonly digest?: string;
      readonly usage?: Usage;
    }
    | { readonly type: 'call.done'; readonly step: string; readonly output: Outlined; readonly usage?: Usage }
    | {
      readonly type: 'step.failed';
      readonly step: string;
      readonly error: ErrorData;
      readonly attempt: number;
      readonly usage?: Usage;
    }
    /** The activity is tried again then. */
    | { readonly type: 'timer.set'; readonly step: string; readonly dueAt: number }
    | { readonly type: 'timer.fired'; readonly step: string }
    /** The activity ended after its agent; its result is not used. */
    | { readonly type: 'step.late'; readonly step: string; readonly usage?: Usage }
    /** A wait, or the wait for the reply to a message, is over without success. */
    | { readonly type: 'wait.expired'; readonly agent: string; readonly waitedFor: string }
    | ({ readonly type: 'ask.opened' } & AskFacts)
    | { readonly type: 'ask.answered'; readonly ask: string; readonly by: string; readonly answer: Outlined }
    | { readonly type: 'ask.expired'; readonly ask: string }
    | { readonly type: 'stall.found'; readonly agent: string; readonly reason: string }
    | {
      readonly type: 'agent.done';
      readonly id: string;
      readonly result: Outlined;
      readonly cites?: readonly string[];
      readonly usage?: Usage;
    }
    | { readonly type: 'agent.failed'; readonly id: string; readonly error: ErrorData }
    | {
      readonly type: 'agent.cancelled';
      readonly id: string;
      readonly reason: string;
      /** Unsafe activities that were under way: what they did is not known. */
      readonly unknown?: readonly string[];
    }
    | { readonly type: 'cancel.requested'; readonly target: string; readonly by: string; readonly reason: string }
    | { readonly type: 'run.paused'; readonly by: string }
    | { readonly type: 'run.resumed'; readonly by: string }
    | { readonly type: 'run.done'; readonly result: Outlined; readonly cites: readonly string[] }
    | { readonly type: 'run.failed'; readonly error: ErrorData }
    | { readonly type: 'run.cancelled'; readonly reason: string }
  );

/** An event before it gets its time. */
export type NewEvent = PlanEvent extends infer E ? E extends PlanEvent ? Omit<E, 'at'> : never : never;

/** The event of one type. */
export type EventOf<T extends PlanEvent['type']> = Extract<PlanEvent, { readonly type: T }>;

/** Whether the field of this event holds a {@link ValueRef}. */
export function refOf(event: PlanEvent, field: string): ValueRef | undefined {
  if (event.refs?.includes(field) !== true) return undefined;
  return (event as unknown as Record<string, ValueRef>)[field]; // safe: a listed field holds a reference
}

/** Why an event was not applied. */
export type Refusal = string;

/** The value of an event's field, or its reference. */
export function deliveredOf(event: PlanEvent, field: string): Delivered {
  const ref = refOf(event, field);
  if (ref) return { ref };
  return { value: (event as unknown as Record<string, unknown>)[field] }; // a field that is not there has no value
}

/** An event with its number. */
export interface NumberedEvent {
  readonly seq: number;
  readonly event: PlanEvent;
}

/** Whether a person has approved. What follows a refusal is an event of its own. */
export function isApproval(answer: unknown): answer is { readonly approved: true; readonly input?: unknown } {
  return typeof answer === 'object' && answer !== null && 'approved' in answer && answer.approved === true;
}
