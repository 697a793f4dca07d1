/** The planner: takes goals, makes plans of agents, and keeps them going wherever a process is left that shares the storage. */

import type { UIMessageChunk } from '../contracts/ai-types.ts';
import { PinnaceError } from '../base/errors.ts';
import { type Emit, unobserved } from '../events/events.ts';
import type { Metrics } from '../base/metrics.ts';
import { watchKey } from '../log/news.ts';
import { steadyStorage } from '../log/outage.ts';
import type { Principal } from '../base/principal.ts';
import type { FollowOptions } from '../contracts/plans.ts';
import type { Storage, Watchable } from '../contracts/storage.ts';
import { claimPlan, foundPlan, type OwnedPlan } from './journal/found-plan.ts';
import { type AuthorizeCreate, requireFirst } from './decide/authorize-create.ts';
import { cancelPlan, pausePlan, replyToPlan, requireScope } from './host/inbound.ts';
import { createPlanCounter } from './host/count-plan.ts';
import { type LivePlan, runPlan } from './host/live-plan.ts';
import { readValue } from './journal/outline.ts';
import type { AskFacts } from './model/plan-event.ts';
import type { NumberedEvent } from './journal/plan-journal.ts';
import { defaultPlanLimits, type PlanLimits } from './model/plan-limits.ts';
import { type PlanOutcome, readOutcome } from './view/plan-outcome.ts';
import { bellKey, readInbound, readPlan, readPlanEvents, requireOwner } from './journal/plan-record.ts';
import { type PlanRequestInput, readPlanRequest } from './model/plan-request.ts';
import { streamPlan } from './view/plan-stream.ts';
import { followPlan, type PlanStep } from './view/plan-updates.ts';
import { type PlanView, viewOf } from './view/plan-view.ts';
import { createProviderPlaces } from './decide/provider-places.ts';
import { readState } from './journal/read-state.ts';
import type { PlanOwner, RunAgent, ValueRef } from './host/run-agent.ts';
import { runToOutcome } from './host/run-to-outcome.ts';
import { type SpanContext, traceAt } from '../events/span.ts';
import { duePlans } from './host/sweep.ts';
import { tellPlan } from './host/tell-plan.ts';

/** What a planner is composed of. */
export interface CreatePlannerOptions {
  /** Where plans are kept: what one instance has begun, every instance with the same storage can go on with. */
  readonly storage: Storage & Partial<Watchable>;
  /** Does one activity of an agent. */
  readonly runAgent: RunAgent;
  readonly limits?: Partial<PlanLimits>;
  /** Is asked before an agent is created: the first of a plan, given tasks, and those that agents create. Without it, all is allowed. */
  readonly authorize?: AuthorizeCreate;
  /** Is told what is on record. */
  readonly emit?: Emit;
  /** Where plans are counted. */
  readonly metrics?: Pick<Metrics, 'count' | 'gauge'>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Plans, and what can be done with them. A plan of another tenant is `not_found`. */
export interface Planner {
  /**
   * Begins a plan; it goes on by itself. The same `idempotencyKey` with the same request is the same plan.
   *
   * @throws PinnaceError `invalid_argument` for a request that breaks its schema, `idempotency_key_reused` (422).
   */
  start(
    request: PlanRequestInput,
    principal: Principal,
    options?: { readonly idempotencyKey?: string },
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
  /** Rejects with `not_found` unless the plan works for this very subject, where the methods ask for its tenant alone. */
  requireOwner(planId: string, principal: Principal): Promise<void>;
  /** How the plan stands, as people see it. */
  view(planId: string, principal: Principal): Promise<PlanView>;
  /** The questions that wait for a person. */
  questions(planId: string, principal: Principal): Promise<readonly AskFacts[]>;
  /**
   * Answers a question, or with `{ approved, reason? }` decides on a call. The plan goes on here when nobody else has it.
   *
   * @throws PinnaceError `invalid_argument` for an answer that breaks the question's schema (the question stays open), `forbidden`
   * without the scope `tool:approve`, `not_found`, `already_decided` (409), `approval_expired` (410), `conflict` when nobody waits
   * for it any more.
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
  /** Reads a large value that stands as a reference. */
  read(planId: string, principal: Principal, ref: ValueRef): Promise<unknown>;
  /**
   * Goes on with plans whose time has come or whose process is gone, and tells how many: to be called now and then, by a scheduler or
   * at the start of a request.
   */
  sweep(): Promise<number>;
  /** Leaves all plans as they are; another process goes on with them when their lease is over, or is told by a sweep. */
  close(): Promise<void>;
}

/**
 * Gives a planner. Between plans it holds no timer and no connection.
 *
 * @example
 * const planner = createPlanner({ storage, runAgent: async ({ goal }) => ({ type: 'done', result: goal.length }) });
 * const outcome = await planner.run({ goal: 'Count the letters' }, localPrincipal());
 */
export function createPlanner(options: CreatePlannerOptions): Planner {
  const { runAgent, authorize, emit, metrics, now = Date.now } = options;
  const limits: PlanLimits = { ...defaultPlanLimits, ...options.limits };
  const storage = steadyStorage(options.storage, limits.storageGraceMs);
  const live = new Map<string, LivePlan>();
  metrics?.gauge('pinnace_open_plans', () => live.size);
  const places = createProviderPlaces(limits.providers, () => {
    for (const plan of live.values()) plan.pump();
  });
  const claiming = new Map<string, Promise<LivePlan | undefined>>();
  const later = new Set<ReturnType<typeof setTimeout>>();
  let closed = false;

  const own = (owned: OwnedPlan): LivePlan => {
    const { planId } = owned;
    const telling = emit && emit !== unobserved ? tellPlan(owned, { emit, now }) : undefined;
    const counting = metrics && createPlanCounter(owned.state, metrics);
    const plan = runPlan({ ...owned, storage, runAgent, authorize, limits, places, now, telling, counting });
    live.set(planId, plan);
    const takeInbound = async (): Promise<void> => {
      const inbound = await readInbound(storage, planId);
      if (inbound.items.length > 0) plan.take(inbound);
    };
    const onNews = (): void => void takeInbound().catch(() => undefined); // the next news, or the next owner, tries again
    const stop = watchKey(storage, bellKey(planId), onNews);
    onNews();
    const leave = async (): Promise<void> => {
      const how = await plan.released;
      stop();
      telling?.leave();
      live.delete(planId);
      // What came while the plan was being left, its owner has not seen: whoever brought it has seen that there was an owner.
      if (how === 'lost' && !closed) goOnLater(planId);
      if (how === 'suspended' && !closed && (await readInbound(storage, planId)).items.length > 0) await claim(planId);
    };
    void leave().catch(() => undefined); // the next to look at the plan goes on with it
    return plan;
  };
  const claimOnce = async (planId: string): Promise<LivePlan | undefined> => {
    const owned = closed ? undefined : await claimPlan(planId, { storage, limits, now });
    return owned && own(owned);
  };
  /** The storage may have failed for a moment: when the lease is over and nobody else has it, the plan goes on here. */
  const goOnLater = (planId: string): void => {
    const timer = setTimeout(() => {
      later.delete(timer);
      void claim(planId).catch(() => closed || goOnLater(planId));
    }, limits.leaseMs + 1);
    later.add(timer);
  };
  /** Goes on with the plan here, unless somebody does elsewhere. */
  const claim = async (planId: string): Promise<LivePlan | undefined> => {
    const known = live.get(planId) ?? claiming.get(planId);
    if (known) return await known;
    const claimed = claimOnce(planId).finally(() => claiming.delete(planId));
    claiming.set(planId, claimed);
    return await claimed;
  };
  /** Lets whoever has the plan take what was put before it. */
  const bring = async (planId: string): Promise<void> => {
    const plan = live.get(planId) ?? await claim(planId);
    if (plan) plan.take(await readInbound(storage, planId));
  };
  const placeOf = (
    terms: { readonly traceId: string; readonly parentSpanId?: string | undefined },
    owner: PlanOwner,
  ): SpanContext => {
    const { tenant, subject: id } = owner;
    const { traceId, parentSpanId } = terms;
    return traceAt({ traceId, parentSpanId, tenant, actor: { type: 'user', id } }, { emit: emit ?? unobserved, now });
  };
  const inbound = { storage, limits, now, bring };
  const planner: Planner = {
    async start(request, principal, { idempotencyKey } = {}) {
      if (closed) throw new PinnaceError('unavailable', 'Cannot start a plan: the planner is closed');
      const { terms, tasks } = readPlanRequest(request, { limits, now: now() });
      const { traceId: _, parentSpanId: __, ...asked } = request; // a request that is sent again has a trace of its own
      const { tenant, subject, agents, scopes } = requireScope(principal, 'run:create');
      const owner = { tenant, subject, agents, scopes };
      if (authorize) await requireFirst({ first: terms, tasks }, { authorize, owner, place: placeOf(terms, owner) });
      const found = await foundPlan({ storage, limits, now }, {
        owner,
        terms,
        tasks,
        idempotency: idempotencyKey === undefined ? undefined : { key: idempotencyKey, request: asked },
      });
      if ('known' in found) return { planId: found.known };
      own(found);
      return { planId: found.planId };
    },
    run: (request, principal, given) => runToOutcome(planner, { ...given, request, principal }),
    outcome: (planId, { tenant }, { signal } = {}) =>
      readOutcome({ storage, planId, tenant, signal, live: () => live.get(planId) }),
    async events(planId, { tenant }, { after = 0 } = {}) {
      await readPlan(storage, planId, tenant);
      return await readPlanEvents(storage, planId, after);
    },
    stream: (planId, { tenant }, given = {}) => streamPlan({ ...given, storage, planId, tenant }),
    follow: (planId, { tenant }, given = {}) => followPlan({ ...given, storage, planId, tenant }),
    requireOwner: (planId, principal) => requireOwner(storage, planId, principal),
    async view(planId, { tenant }) {
      const { state: { status } } = await readPlan(storage, planId, tenant);
      const { state, seq } = await readState(storage, planId);
      const view = viewOf(state, { seq, isSuspended: status === 'waiting' });
      if (!view) throw new PinnaceError('internal', 'Cannot show the plan: its journal does not begin');
      return view;
    },
    async questions(planId, { tenant }) {
      await readPlan(storage, planId, tenant);
      const open = await storage.list({ prefix: ['plan', planId, 'ask'], limit: 100 });
      return open.map(({ value }) => value as AskFacts); // written with the events
    },
    reply: (planId, principal, reply) => replyToPlan(inbound, { planId, principal, ...reply }),
    cancel: (planId, principal, cancelling = {}) => cancelPlan(inbound, { planId, principal, ...cancelling }),
    pause: (planId, principal) => pausePlan(inbound, { planId, principal, type: 'pause' }),
    resume: (planId, principal) => pausePlan(inbound, { planId, principal, type: 'resume' }),
    async read(planId, { tenant }, ref) {
      await readPlan(storage, planId, tenant);
      return await readValue(storage, planId, ref);
    },
    async sweep() {
      for (const plan of live.values()) plan.pump();
      let count = 0;
      for (const planId of await duePlans(storage, now())) {
        // One that cannot be read keeps nobody from the others; it is looked at again by the next sweep.
        if (!live.has(planId) && await claim(planId).catch(() => undefined)) count++;
      }
      return count;
    },
    async close() {
      closed = true;
      for (const timer of later) clearTimeout(timer);
      for (const plan of live.values()) plan.close();
      await Promise.all([...live.values()].map(({ released }) => released));
    },
  };
  return planner;
}
