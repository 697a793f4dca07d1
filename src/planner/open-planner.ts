/** The planner itself: `createPlanner` loads this file with the first plan. */

import { PinnaceError } from '../base/errors.ts';
import { createPrincipal, type Principal, type Scope } from '../base/principal.ts';
import type { PlanBounds } from '../contracts/plans.ts';
import { unobserved } from '../events/events.ts';
import { unreported } from '../events/report.ts';
import { actorOf, traceAt } from '../events/span.ts';
import { steadyStorage } from '../log/outage.ts';
import { owns } from '../permission/ownership.ts';
import { requireFirst } from './decide/authorize-create.ts';
import { cancelPlan, pausePlan, replyToPlan } from './host/inbound.ts';
import { requireScope } from '../base/principal.ts';
import { LivePlans } from './host/live-plans.ts';
import { runToOutcome } from './host/run-to-outcome.ts';
import type { PlanOwner } from './host/run-agent.ts';
import { foundPlan } from './journal/found-plan.ts';
import { readValue } from './journal/outline.ts';
import { type PlanHead, readPlan, readPlanEvents } from './journal/plan-record.ts';
import { defaultPlanLimits, limitsOfPlan, type PlanLimits } from './model/plan-limits.ts';
import { readPlanRequest } from './model/plan-request.ts';
import type { OpenPlanner, OpenPlannerOptions } from './planner.ts';
import { readOutcome } from './view/plan-outcome.ts';
import { streamPlan } from './view/plan-stream.ts';
import { followPlan } from './view/plan-updates.ts';
import { openQuestions, readView } from './view/read-view.ts';

/** Creates a planner. Its requests may come from callers: it parses them. */
export function openPlanner(options: OpenPlannerOptions): OpenPlanner {
  const { authorize, emit, metrics, report = unreported, now = Date.now } = options;
  const limits: PlanLimits = { ...defaultPlanLimits, ...options.limits };
  const storage = steadyStorage(options.storage, limits.storageGraceMs);
  const parts: PlannerParts = { ...options, authorize, emit, metrics, report, now, limits, storage };
  const live = new LivePlans(parts);
  const inbound = { storage, limits, now, bring: (planId: string) => live.bring(planId) };
  const find = async (planId: string, principal: Principal): Promise<PlanHead> => {
    const { state } = await readPlan(storage, planId, principal);
    if (!owns(principal, state)) await options.readAs?.(planId, principal, state);
    return state;
  };
  const planner: OpenPlanner = {
    start: (request, principal, given) =>
      startPlan({ ...parts, live, given: options.limits }, { ...given, request, principal }),
    run: (request, principal, given) => runToOutcome(planner, { ...given, request, principal }),
    async outcome(planId, principal, { signal } = {}) {
      await find(planId, principal);
      const stop = live.guard(planId);
      return await readOutcome({ storage, planId, principal, signal, live: () => live.get(planId) }).finally(stop);
    },
    async events(planId, principal, { after = 0 } = {}) {
      await find(planId, principal);
      return await readPlanEvents(storage, planId, after);
    },
    stream: (planId, principal, given = {}) =>
      streamPlan({ ...given, storage, planId, principal, find: () => find(planId, principal) }),
    async *follow(planId, principal, given = {}) {
      await find(planId, principal);
      const stop = live.guard(planId, given.signal);
      try {
        yield* followPlan({ ...given, storage, planId, principal });
      } finally {
        stop();
      }
    },
    view: async (planId, principal) => await readView(storage, planId, await find(planId, principal)),
    async questions(planId, principal) {
      await find(planId, principal);
      return await openQuestions(storage, planId);
    },
    reply: (planId, principal, reply) => replyToPlan(inbound, { planId, principal, ...reply }),
    cancel: (planId, principal, cancelling = {}) => cancelPlan(inbound, { planId, principal, ...cancelling }),
    stop: (planId, principal, how) => planner.cancel(planId, asCanceller(principal), how),
    pause: (planId, principal) => pausePlan(inbound, { planId, principal, type: 'pause' }),
    resume: (planId, principal) => pausePlan(inbound, { planId, principal, type: 'resume' }),
    async read(planId, principal, ref) {
      await find(planId, principal);
      return await readValue(storage, planId, ref);
    },
    sweep: () => live.sweep(),
    close: () => live.close(),
    openPlans: () => live.size,
  };
  return planner;
}

/** What the runtime stops by itself needs no scope of the caller. */
function asCanceller(principal: Principal): Principal {
  const scopes: readonly Scope[] = principal.scopes.includes('admin') ? ['run:cancel', 'admin'] : ['run:cancel'];
  return createPrincipal({ ...principal, scopes, via: 'in-process' });
}

type PlannerParts = ConstructorParameters<typeof LivePlans>[0];

async function startPlan(
  { storage, limits, given, now, authorize, emit = unobserved, live }: PlannerParts & {
    readonly live: LivePlans;
    /** The limits that the composition has set. */
    readonly given: OpenPlannerOptions['limits'];
  },
  { request, principal, idempotencyKey, bounds = [], signal }: {
    readonly request: unknown;
    readonly principal: Principal;
    readonly idempotencyKey?: string;
    readonly bounds?: readonly (PlanBounds | undefined)[];
    readonly signal?: AbortSignal | undefined;
  },
): Promise<{ readonly planId: string }> {
  if (live.isClosed) throw closed();
  requireScope(principal, 'run:create');
  const { terms, tasks } = await readPlanRequest(request, {
    limits: limitsOfPlan(given, { via: principal.via, bounds }),
    now: now(),
    signal,
  });
  const owner = ownerOf(principal);
  const { traceId, parentSpanId } = terms;
  const around = { traceId, parentSpanId, tenant: principal.tenant, actor: actorOf(principal) };
  if (authorize) {
    await requireFirst({ first: terms, tasks }, { authorize, owner, spanContext: traceAt(around, { emit, now }) });
  }
  const found = await foundPlan({ storage, limits, now }, {
    owner,
    terms,
    tasks,
    signal,
    idempotency: idempotencyKey === undefined ? undefined : { key: idempotencyKey, request: withoutTrace(request) },
  });
  if ('known' in found) return { planId: found.known };
  live.run(found);
  return { planId: found.planId };
}

function ownerOf({ tenant, subject, actor, roles, agents, scopes }: Principal): PlanOwner {
  return { tenant, subject, ...(actor !== undefined && { actor }), ...(roles && { roles }), agents, scopes };
}

/** A repeated request has a trace of its own and is still the same request. */
function withoutTrace(request: unknown): unknown {
  if (typeof request !== 'object' || request === null) return request;
  return Object.fromEntries(Object.entries(request).filter(([name]) => name !== 'traceId' && name !== 'parentSpanId'));
}

function closed(): PinnaceError {
  return new PinnaceError('unavailable', 'Cannot start a plan: the planner is closed', {
    details: { reason: 'planner_closed' },
  });
}
