/** The planner itself: `createPlanner` loads this file with the first plan. */

import { PinnaceError } from '../base/errors.ts';
import { readData } from '../base/json.ts';
import { invalid } from '../base/parse.ts';
import { type ArgumentFacts, createPrincipal, type Principal, requireScope, type Scope } from '../base/principal.ts';
import type { Change } from '../contracts/storage.ts';
import { unobserved } from '../events/events.ts';
import { unreported } from '../events/report.ts';
import { actorOf, traceAt } from '../events/span.ts';
import { steadyStorage } from '../log/commits.ts';
import { answerInterruption, type EditedInput, ownerOfInterruption } from '../permission/interruption.ts';
import { join, labelOf, parseLabel, trusted } from '../permission/label.ts';
import { owns } from '../permission/ownership.ts';
import { compileJsonSchema } from '../tools/json-schema/json-schema.ts';
import { requireFirst } from './authorize-create.ts';
import { foundPlan } from './found-plan.ts';
import { LivePlans } from './live-plans.ts';
import { type AskFacts, isApproval } from './plan-event.ts';
import { defaultPlanLimits, limitsOfPlan, type PlanLimits } from './plan-limits.ts';
import { followPlan, readOutcome, streamPlan } from './plan-reader.ts';
import type { LoadedPlanner, OpenPlanner, OpenPlannerOptions, PlanOutcome } from './planner.ts';
import {
  askKey,
  bellKey,
  type InboundItem,
  inboundKey,
  isOver,
  type PlanHead,
  readPlan,
  readPlanEvents,
  readValue,
} from './plan-record.ts';
import { readPlanRequest } from './plan-request.ts';
import { openQuestions, readView } from './plan-view.ts';
import type { PlanHost } from './plan-host.ts';
import type { PlanOwner } from './run-agent.ts';

/** Creates a planner. Its requests may come from callers: it parses them. */
export function openPlanner(options: OpenPlannerOptions & Pick<PlanHost, 'instances'>): LoadedPlanner {
  const host = hostOf(options);
  const { storage } = host;
  const live = new LivePlans(host);
  const find = async (planId: string, principal: Principal): Promise<PlanHead> => {
    const { state } = await readPlan(storage, planId, principal);
    if (!owns(principal, state)) await options.readAs?.(planId, principal, state);
    return state;
  };
  const planner: LoadedPlanner = {
    async start(request, principal, { idempotencyKey, bounds = [], signal, read } = {}) {
      requireScope(principal, 'run:create');
      const limitsOfIt = limitsOfPlan(options.limits, { via: principal.via, bounds });
      return await startPlan(live, { request, principal, idempotencyKey, limits: limitsOfIt, signal, read });
    },
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
    reply: (planId, principal, reply) => replyToPlan(live, { planId, principal, ...reply }),
    cancel: (planId, principal, cancelling = {}) => cancelPlan(live, { planId, principal, ...cancelling }),
    stop: (planId, principal, how) => planner.cancel(planId, asCanceller(principal), how),
    pause: (planId, principal) => pausePlan(live, { planId, principal, type: 'pause' }),
    resume: (planId, principal) => pausePlan(live, { planId, principal, type: 'resume' }),
    async read(planId, principal, ref) {
      await find(planId, principal);
      return await readValue(storage, planId, ref);
    },
    wake: (planId) => live.wake(planId),
    take: (planId, left) => live.take(planId, left),
    pump: () => live.pump(),
    close: (how) => live.close(how),
    openPlans: () => live.size,
  };
  return planner;
}

function hostOf(
  { emit = unobserved, report = unreported, now = Date.now, ...options }: Parameters<typeof openPlanner>[0],
): PlanHost {
  const { runAgent, authorize, metrics, notices, instances, arm = () => undefined } = options;
  const limits: PlanLimits = { ...defaultPlanLimits, ...options.limits };
  const storage = steadyStorage(options.storage, limits.storageGraceMs);
  return { storage, runAgent, limits, authorize, emit, metrics, report, arm, instances, notices, now };
}

/** What the runtime stops by itself needs no scope of the caller. */
function asCanceller(principal: Principal): Principal {
  const scopes: readonly Scope[] = principal.scopes.includes('admin') ? ['run:cancel', 'admin'] : ['run:cancel'];
  return createPrincipal({ ...principal, scopes, via: 'in-process' });
}

async function startPlan(live: LivePlans, { request, principal, idempotencyKey, limits, signal, read }: {
  readonly request: unknown;
  readonly principal: Principal;
  readonly idempotencyKey: string | undefined;
  readonly limits: PlanLimits;
  readonly signal: AbortSignal | undefined;
  readonly read: ArgumentFacts | undefined;
}): Promise<{ readonly planId: string }> {
  const { host, host: { now, authorize, emit } } = live;
  if (live.isClosed) throw closed();
  const { terms, tasks } = await readPlanRequest(request, { limits, now: now(), signal });
  const owner = ownerOf(principal);
  const { traceId, parentSpanId } = terms;
  const around = { traceId, parentSpanId, tenant: principal.tenant, actor: actorOf(principal) };
  if (authorize) {
    await requireFirst({ first: terms, tasks }, { authorize, owner, spanContext: traceAt(around, { emit, now }) });
  }
  const found = await foundPlan(host, {
    owner,
    terms,
    tasks,
    signal,
    // The caller has written the goal and the tasks; the context may be of anybody.
    read: join(read ? parseLabel(read) : trusted, terms.context.length > 0 ? labelOf(['*'], 'tenant') : trusted),
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

/** A plan to run, and its principal. */
interface RunToOutcome {
  readonly request: unknown;
  readonly principal: Principal;
  readonly signal?: AbortSignal;
  readonly idempotencyKey?: string;
}

/** Gives how the plan has ended, or that it is suspended. An abort cancels it. */
export async function runToOutcome(
  planner: Pick<OpenPlanner, 'start' | 'cancel' | 'outcome'>,
  { request, principal, signal, ...rest }: RunToOutcome,
): Promise<PlanOutcome> {
  const { planId } = await planner.start(request, principal, { ...rest, ...(signal && { signal }) });
  const abort = (): void => void planner.cancel(planId, principal, { reason: 'aborted' }).catch(() => undefined);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  try {
    return await planner.outcome(planId, principal);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

/** The changes that put something before a plan. The same id twice is the same thing. */
function inboundChanges({ planId, id, item, ttlMs }: {
  readonly planId: string;
  readonly id: string;
  readonly item: InboundItem;
  readonly ttlMs: number;
}): readonly Change[] {
  return [
    { key: inboundKey(planId, id), value: item, ttlMs },
    { key: bellKey(planId), value: crypto.randomUUID(), ttlMs },
  ];
}

/** Answers a question. The answer and its record are one commit. */
export async function replyToPlan(
  live: LivePlans,
  { planId, principal, askId, answer: given, edited }: {
    readonly planId: string;
    readonly principal: Principal;
    readonly askId: string;
    readonly answer: unknown;
    readonly edited?: EditedInput | undefined;
  },
): Promise<'accepted' | 'replayed'> {
  const { storage, limits, notices, now } = live.host;
  requireScope(principal, 'tool:approve');
  const decided = readData(given);
  // An approver answers the question, and does not reach the plan.
  if (!await ownerOfInterruption(principal, { runId: planId, id: askId }, storage)) {
    await readPlan(storage, planId, principal);
  }
  const entry = askId.length > 64 ? undefined : await storage.get(askKey(planId, askId));
  if (entry) await checkAnswer(entry.value as AskFacts, decided); // written with the events
  const answer = edited && isApproval(decided) ? { ...decided, input: edited.input } : decided;
  const ttlMs = limits.retentionMs;
  const item: InboundItem = { type: 'answer', ask: askId, by: principal.subject, answer };
  const result = await answerInterruption(principal, { runId: planId, id: askId }, {
    storage,
    now: now(),
    ttlMs,
    answer,
    changes: inboundChanges({ planId, id: askId, item, ttlMs }),
    notices,
  });
  await live.bring(planId);
  return result;
}

const approvalSchema = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string', maxLength: 500 } },
  required: ['approved'],
  additionalProperties: false,
};

async function checkAnswer({ kind, schema, options }: AskFacts, answer: unknown): Promise<void> {
  if (options && !options.some((option) => option === answer)) {
    throw invalid('the answer', [{ path: '', message: 'must be one of the options' }]);
  }
  const wanted = kind === 'approval' ? approvalSchema : schema ?? (options ? {} : { type: 'string' });
  const issues = await compileJsonSchema(wanted).inTurns(answer);
  if (issues.length > 0) throw invalid('the answer', issues);
}

/** Cancels a plan, or one agent of it. */
export async function cancelPlan(
  live: LivePlans,
  { planId, principal, address = '1', reason = 'requested' }: {
    readonly planId: string;
    readonly principal: Principal;
    readonly address?: string;
    readonly reason?: string;
  },
): Promise<void> {
  const item: InboundItem = {
    type: 'cancel',
    target: address,
    by: principal.subject,
    reason: reason.slice(0, 500).toWellFormed(),
  };
  await put(live, { planId, principal, item, id: `cancel ${address}` });
}

export async function pausePlan(
  live: LivePlans,
  { planId, principal, type }: {
    readonly planId: string;
    readonly principal: Principal;
    readonly type: 'pause' | 'resume';
  },
): Promise<void> {
  const id = `pause ${String(live.host.now()).padStart(16, '0')} ${crypto.randomUUID()}`; // taken in the order of time
  await put(live, { planId, principal, item: { type, by: principal.subject }, id });
}

async function put(
  live: LivePlans,
  { planId, principal, item, id }: {
    readonly planId: string;
    readonly principal: Principal;
    readonly item: InboundItem;
    readonly id: string;
  },
): Promise<void> {
  const { storage, limits } = live.host;
  requireScope(principal, 'run:cancel');
  const { state } = await readPlan(storage, planId, principal);
  if (isOver(state)) return;
  const changes = inboundChanges({ planId, id, item, ttlMs: limits.retentionMs });
  const result = await storage.commit(changes);
  if (!result.ok) throw new PinnaceError('internal', 'Cannot bring this to the plan: the storage refused it');
  await live.bring(planId);
}
