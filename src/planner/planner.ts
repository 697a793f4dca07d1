/** The planner: takes goals, makes plans of agents, and keeps them running in any process that shares the storage. */

import type { EditingReply } from '../contracts/plans.ts';
import type { AgentSteps } from '../contracts/steps.ts';
import type { Guards } from '../permission/guarded.ts';
import type { Amount } from './account.ts';
import type { AgentState, PlanPhase } from './plan-state.ts';
import type { ErrorData } from '../base/errors.ts';
import type { FollowOptions, PlanBounds, PlanEnd } from '../contracts/plans.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { Storage, Watchable } from '../contracts/storage.ts';
import type { Metrics } from '../base/metrics.ts';
import type { ArgumentFacts, Principal } from '../base/principal.ts';
import type { Emit } from '../events/events.ts';
import type { NoticeMaker } from '../contracts/notices.ts';
import type { OnError, Report } from '../events/report.ts';
import type { Instances, Take } from '../log/instances.ts';
import type { AuthorizeCreate } from './authorize-create.ts';
import type { RunAgent, ValueRef } from './run-agent.ts';
import type { AskFacts, NumberedEvent } from './plan-event.ts';
import type { PlanHead } from './plan-record.ts';
import type { PlanLimits } from './plan-limits.ts';
import type { PlanRequestInput } from './plan-request.ts';

/** What a planner is composed of. */
export interface CreatePlannerOptions {
  /** Stores plans: any instance with the same storage can continue a plan. */
  readonly storage: Storage & Partial<Watchable>;
  /** Does one activity of an agent. */
  readonly runAgent: RunAgent;
  /** Bounds of plans, in place of the defaults. */
  readonly limits?: Partial<PlanLimits>;
  /** Called before an agent is created: the first of a plan, given tasks, and those that agents create. Without it, all are allowed. */
  readonly authorize?: AuthorizeCreate | undefined;
  /** Receives the events of recorded changes. */
  readonly emit?: Emit;
  /** Where plans are counted. */
  readonly metrics?: Pick<Metrics, 'count' | 'gauge'>;
  /** Receives what activities, the hook and the storage throw, with its stack; a plan records a code and a fixed text. */
  readonly onError?: OnError;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** The options of a planner whose ports report their failures. */
export interface OpenPlannerOptions extends Omit<CreatePlannerOptions, 'onError'> {
  readonly report?: Report;
  /** Has the plans that are due at this time woken then: the planner's own index when absent. */
  readonly arm?: (at: number) => void;
  /** The instances that share the storage: the planner's own when absent. */
  readonly instances?: Instances | undefined;
  /** Makes the notices of questions; absent where nobody is sent any. */
  readonly notices?: NoticeMaker | undefined;
  /** Is called before an administrator reads the plan of another; rejects where that is refused. */
  readonly readAs?: (planId: string, principal: Principal, plan: PlanHead) => Promise<void>;
}

/**
 * Plans, and what can be done with them. A plan of another person is `not_found`, except for administrators of its tenant: the planner
 * of a runtime asks its permission hook for `plan.read` before they read, and audits it.
 */
export interface Planner {
  /**
   * Begins a plan; it goes on by itself. The same `idempotencyKey` with the same request is the same plan.
   *
   * @throws PinnaceError `invalid_argument` for a request that breaks its schema, `idempotency_key_reused` (422).
   */
  start(
    request: PlanRequestInput,
    principal: Principal,
    options?: {
      readonly idempotencyKey?: string;
      /** Each lowers the planner's limits for this plan; the first request of a key decides. */
      readonly bounds?: readonly (PlanBounds | undefined)[];
      /** An abort stops the reading of the request; a plan that has started continues. */
      readonly signal?: AbortSignal;
    },
  ): Promise<{ readonly planId: string }>;
  /** Begins a plan and waits until it has ended or is suspended. An abort cancels it. */
  run(
    request: PlanRequestInput,
    principal: Principal,
    options?: { readonly signal?: AbortSignal; readonly idempotencyKey?: string },
  ): Promise<PlanOutcome>;
  /** Waits until the plan has ended or is suspended, wherever it is run. An abort ends the waiting. */
  outcome(planId: string, principal: Principal, options?: { readonly signal?: AbortSignal }): Promise<PlanOutcome>;
  /** What is on record behind `after`, some at a time; none when there is no more for now. */
  events(
    planId: string,
    principal: Principal,
    options?: { readonly after?: number },
  ): Promise<readonly NumberedEvent[]>;
  /**
   * The plan as a stream of UI message chunks that every AI SDK client reads: `data-run`, `data-plan` with every change, the result
   * as text. It ends when the plan has ended or is suspended, with `throughWaits` when it has ended; an abort ends the stream alone.
   */
  stream(
    planId: string,
    principal: Principal,
    options?: FollowOptions,
  ): ReadableStream<UIMessageChunk>;
  /** Yields the same as data: every change, and the end last. */
  follow(planId: string, principal: Principal, options?: FollowOptions): AsyncIterable<PlanStep>;
  /** Returns the plan's view for people. */
  view(planId: string, principal: Principal): Promise<PlanView>;
  /** The questions that wait for a person. */
  questions(planId: string, principal: Principal): Promise<readonly AskFacts[]>;
  /**
   * Answers a question, or with `{ approved, reason? }` decides on a call. A plan without an owner continues here.
   *
   * @throws PinnaceError `invalid_argument` for an answer that breaks the question's schema (the question stays open), `forbidden`
   * without the scope `tool:approve`, `not_found`, `already_decided` (409), `approval_expired` (410), `conflict` when the plan
   * no longer waits for it.
   */
  reply(
    planId: string,
    principal: Principal,
    reply: { readonly askId: string; readonly answer: unknown },
  ): Promise<'accepted' | 'replayed'>;
  /** Cancels the plan, or one agent with all below it. Doing so again, or after the end, changes nothing. */
  cancel(
    planId: string,
    principal: Principal,
    options?: { readonly address?: string; readonly reason?: string },
  ): Promise<void>;
  /** Starts no more activities, until `resume`. Deadlines go on. */
  pause(planId: string, principal: Principal): Promise<void>;
  resume(planId: string, principal: Principal): Promise<void>;
  /** Reads a large value by its reference. */
  read(planId: string, principal: Principal, ref: ValueRef): Promise<unknown>;
  /**
   * Continues plans that are due, and returns how many. Also looks for instances that have died, whose plans follow within a few
   * seconds. Call it regularly, from a scheduler or at the start of a request.
   */
  sweep(): Promise<number>;
  /** Releases all plans; another process continues them when this one is silent, with `handOver` (false) within a second. */
  close(options?: { readonly handOver?: boolean }): Promise<void>;
}

/** A planner as the runtime uses it: requests of unknown form are parsed. */
export interface OpenPlanner extends Omit<Planner, 'start' | 'reply'> {
  /** As `Planner.reply`, with what the person has changed of a call. */
  reply(planId: string, principal: Principal, reply: EditingReply): Promise<'accepted' | 'replayed'>;
  start(
    request: unknown,
    principal: Principal,
    options?: {
      readonly idempotencyKey?: string;
      readonly bounds?: readonly (PlanBounds | undefined)[];
      readonly signal?: AbortSignal;
      /** Who has said the request, and who may read it. Absent: the caller. */
      readonly read?: ArgumentFacts;
    },
  ): Promise<{ readonly planId: string }>;
  /** Cancels without a scope of the caller and without the permission hook. */
  stop(planId: string, principal: Principal, options: { readonly reason: string }): Promise<void>;
  /** Claims a plan that is due. Resolves to whether it was claimed here. */
  wake(planId: string): Promise<boolean>;
  /** Takes over a plan that another instance has left. */
  take: Take;
  /** Returns how many plans this process runs. */
  openPlans(): number;
}

/** A planner whose code is loaded. The index of due things is outside of it. */
export interface LoadedPlanner extends Omit<OpenPlanner, 'sweep'> {
  /** Looks at the time and at free places for every plan. */
  pump(): void;
}

/** A change of the plan, or its end. */
export type PlanStep =
  | { readonly type: 'view'; readonly view: PlanView }
  | { readonly type: 'end'; readonly end: PlanEnd; readonly read: ArgumentFacts };

/** What became of a plan, so far or for good. */
export type PlanOutcome =
  /** `cites` are the addresses of the agents whose work the result rests on. */
  | { readonly planId: string; readonly state: 'done'; readonly result: unknown; readonly cites: readonly string[] }
  | { readonly planId: string; readonly state: 'failed'; readonly error: ErrorData }
  | { readonly planId: string; readonly state: 'cancelled'; readonly reason: string }
  /** Nothing can go on until a question is answered or a time comes. */
  | {
    readonly planId: string;
    readonly state: 'suspended';
    readonly questions: readonly AskFacts[];
    readonly dueAt?: number;
  };

/** One agent as people see it. */
export interface PlanTaskView {
  readonly address: string;
  readonly key?: string;
  /** The first 200 characters. */
  readonly goal: string;
  readonly agentId?: string;
  readonly role?: string;
  readonly status: AgentState['status'];
  /** Addresses of agents that it comes after. */
  readonly after: readonly string[];
  readonly attempt: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt?: number;
  /** What its own steps and calls have used; absent where that is nothing. */
  readonly used?: { readonly tokens: number; readonly cost: number };
  readonly error?: Pick<ErrorData, 'code' | 'retryable' | 'retryAfterMs'>;
}

/** A plan as people see it. */
export interface PlanView {
  readonly planId: string;
  readonly traceId: string;
  readonly state: PlanPhase | 'suspended';
  readonly paused: boolean;
  readonly goal: string;
  /** The number of the last event that it shows. */
  readonly seq: number;
  readonly revision: number;
  readonly outline: readonly string[];
  readonly facts: readonly string[];
  /** How many agents there are in each state. */
  readonly counts: Readonly<Record<AgentState['status'], number>>;
  /** Those at work first; as many as fit. */
  readonly tasks: readonly PlanTaskView[];
  /** How many more there are. */
  readonly omitted: number;
  readonly questions: readonly Omit<AskFacts, 'schema'>[];
  readonly used: Amount;
  /** The currency of the cost; absent where part of it has no price, or another currency. */
  readonly currency?: string;
  readonly deadlineAt: number;
}

/** What the planner of a runtime is composed of. */
export interface RuntimePlannerOptions extends GuardPlannerOptions {
  readonly storage: Storage & Partial<Watchable>;
  /** The steps of the runtime's agents. */
  readonly steps: AgentSteps;
  readonly metrics: Pick<Metrics, 'count' | 'gauge'>;
  readonly report: Report;
  readonly limits: Partial<PlanLimits>;
  /** Has the plans that are due at this time woken then. */
  readonly arm?: (at: number) => void;
  readonly instances: Instances;
  /** Makes the notices of questions; absent where nobody is sent any. */
  readonly notices: NoticeMaker | undefined;
}

/** The permission hook, the audit, and where events are emitted. */
export interface GuardPlannerOptions extends Guards {
  /** The planner's. */
  readonly storage: Storage;
  readonly emit: Emit;
  readonly now: () => number;
}
