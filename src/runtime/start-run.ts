/** The steps of one request: parse, replay, resolve, assemble, run. Its stream is read from the run log. */

import type { RunSettings } from '../base/agent/run-settings.ts';
import { PinnaceError, toData, toPinnaceError } from '../base/errors.ts';
import { loadOnce } from '../base/load-once.ts';
import { reportAt, reportHidden } from '../events/report.ts';
import { reportedHook } from '../events/reported-port.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { type Span, statusOfError } from '../events/span.ts';
import { approvalsRequestedIn } from './decided-calls.ts';
import { checkInlineFiles } from './run-files.ts';
import { toModelMessages, withContext } from './model-messages.ts';
import { executeRun } from './execute-run.ts';
import { type ChatOfRun, openChatOf, settleWhenEnded } from './chats.ts';
import { keepBasis } from './forks/keep-inputs.ts';
import type { RunOrigin } from './forks/run-origin.ts';
import { requirePrice } from './model-budget.ts';
import { minLimits } from './limits.ts';
import { createStepTools } from './step-tools.ts';
import { type Principal, requireScope } from '../base/principal.ts';
import { createRunAbort, type RunAbort } from './run-abort.ts';
import { createRunRedaction, redactedEmit, type RunRedaction } from '../permission/redaction/run-redaction.ts';
import { lastRunOf, type RunState, type RunStatus } from './run-record.ts';
import { spanOfRun } from './run-spans.ts';
import { throwIfAborted, untilAborted } from '../base/until-aborted.ts';
import { parseRunRequest, type RunRequest } from './run-request.ts';
import type { Change } from '../contracts/storage.ts';
import type { LiveRun } from './live-run.ts';
import type { ResolvedRun, RunOptions } from './run-options.ts';
import type { ClaimOptions } from './claim-run.ts';
import type { RuntimeParts } from './runtime-options.ts';
import type { Started, StartOptions } from './runtime.ts';
import { type Emit, type EmittedEvent, unobserved } from '../events/events.ts';
import type { Plans } from '../contracts/plans.ts';
import { type FollowedPlan, noPlan, type PlanOwner } from './followed-plan.ts';

const startingIt = 'start the run';

/** The time limit from the request to the run's record. The run's own time limit starts then. */
const startMs = 15_000;

/**
 * Starts a run that continues without a reader, or finds the run of its idempotency key. That takes no longer than 15 s, and no longer
 * than its caller waits. Rejects with a `PinnaceError`, whatever was thrown.
 */
export async function startRun(
  parts: RuntimeParts,
  input: unknown,
  { signals = [], ...given }: StartOptions & { readonly principal: Principal; readonly origin?: RunOrigin },
): Promise<Started> {
  const request = parseRunRequest(input, parts.limits);
  requireScope(given.principal, 'run:create', request.agentId);
  const abort = createRunAbort([...signals, parts.closing]);
  abort.startClock(startMs);
  const within = { signal: abort.starting, action: startingIt };
  try {
    return await untilAborted(() => findOrStart(parts, request, { ...given, abort }), within);
  } catch (thrown) {
    abort.release();
    throw toPinnaceError(thrown);
  }
}

type Starting =
  & Pick<StartOptions, 'idempotency' | 'trace' | 'nonce'>
  & { readonly principal: Principal; readonly abort: RunAbort; readonly origin?: RunOrigin };

/** A request whose start has an effect before the claim is looked up, and uses up its nonce, first. */
async function findOrStart(parts: RuntimeParts, request: RunRequest, starting: Starting): Promise<Started> {
  const { principal, idempotency, nonce, abort } = starting;
  const isSeparate = nonce !== undefined && (request.planner || !parts.isSameStorage(nonce.storage));
  if (isSeparate) await nonce.commit();
  const known = request.planner && await parts.runs.find(principal, idempotency);
  const started: Started = known
    ? { runId: known.runId, known }
    : await start(parts, request, { ...starting, nonce: isSeparate ? undefined : nonce });
  if (started.known) abort.release();
  return started;
}

/** Replays of a key emit nothing: the events of its run are those of the first request. */
async function start(parts: RuntimeParts, request: RunRequest, starting: Starting): Promise<Started> {
  const redaction = createRunRedaction();
  const held = holdEvents(parts.emit);
  const claimant: Claimant = {
    ...starting,
    ...startSpanOf({ ...parts, emit: held.emit }, request, { ...starting, redaction }),
    redaction,
    held,
    paid: {},
  };
  try {
    return await claimAndExecute(parts, request, claimant);
  } catch (thrown) {
    claimant.paid.takeBack?.();
    const known = await findKnown(parts, thrown, starting);
    if (known) return { runId: known.runId, known };
    if (toPinnaceError(thrown).code === 'signature_replayed') throw thrown; // a replay emits nothing of a run
    held.release();
    reportHidden(parts.report, thrown, { kind: 'run', runId: claimant.runId, traceId: claimant.span.traceId });
    const error = toData(thrown);
    claimant.span.end({ status: statusOfError(error), error, payload: { state: 'refused' } });
    throw thrown;
  }
}

/**
 * Finds the run of a request that would be refused now. Reads nothing for a replayed request, a caller who has left, and a storage that
 * is out of reach.
 */
async function findKnown(
  { runs }: RuntimeParts,
  refusal: unknown,
  { principal, idempotency, nonce }: Starting,
): Promise<RunStatus | undefined> {
  const { code, details } = toPinnaceError(refusal);
  const isOutage = code === 'internal' || String(details?.['reason']).startsWith('storage_');
  if (!idempotency || isOutage || withoutRun.has(code)) return undefined;
  await nonce?.commit();
  return await runs.find(principal, idempotency).catch((error: unknown) => {
    if (toPinnaceError(error).code === 'idempotency_key_reused') throw error;
    return undefined;
  });
}

const withoutRun: ReadonlySet<string> = new Set(['signature_replayed', 'idempotency_key_reused', 'cancelled']);

interface Claimant extends Starting {
  /** The events of the run until it is claimed. */
  readonly held: HeldEvents;
  /** What was paid for the run, once, however often it is resolved; taken back where none is started. */
  readonly paid: { takeBack?: () => void };
  readonly redaction: RunRedaction;
  readonly runId: string;
  readonly span: Span;
  readonly startedAt: number;
  /** The facts of `span` in the record, for an instance that must emit its end later. */
  readonly spanFacts: NonNullable<RunState['span']>;
}

/** Emits the run span before resolving, so rejected runs are observable too. */
function startSpanOf(
  { emit, now }: RuntimeParts,
  { agentId, chat, runtimeId, settings }: RunRequest,
  { principal: { tenant, subject, actor }, trace, redaction }: Pick<Claimant, 'principal' | 'redaction' | 'trace'>,
): Pick<Claimant, 'runId' | 'span' | 'spanFacts' | 'startedAt'> {
  const startedAt = now();
  const { traceId = createTraceId(), parentSpanId } = trace ?? {};
  const runId = `run_${crypto.randomUUID().replaceAll('-', '')}`;
  const facts = {
    traceId,
    parentSpanId,
    runId,
    tenant,
    subject,
    actor,
    agentId,
    messages: chat.messages.length,
    runtimeId,
    settings: settings && Object.keys(settings).toSorted().join(','),
  };
  const span = spanOfRun(facts, { emit: redactedEmit(emit, redaction), now });
  const spanFacts = { spanId: span.spanId, ...(parentSpanId !== undefined && { parentSpanId }) };
  return { runId, span, spanFacts, startedAt };
}

/** How often a run is resolved again because something was invalidated meanwhile. */
const maxStale = 3;

/**
 * Resolves the request, claims it and executes it. What the run is resolved from is cached; the claim conflicts where it is out of date,
 * so that nothing is read before it. Resolves again then.
 */
async function claimAndExecute(parts: RuntimeParts, requested: RunRequest, claimant: Claimant): Promise<Started> {
  const { resolver } = parts;
  for (let stale = 0;; stale++) {
    const { invalidations } = resolver;
    // A plan is taken before the claim, once. After some conflicts, what is invalidated from now on stops the run instead.
    const [check, chat] = await Promise.all([
      requested.planner || stale === maxStale ? resolver.refresh() : resolver.currentCheck(),
      claimant.origin ? undefined : openChatOf(parts, requested, claimant.principal),
    ]);
    const request = chat?.request ?? requested;
    const named = await resolveRun(parts, request, claimant);
    const resolved = await claimant.origin?.resume(named, claimant) ?? named;
    const beside = await keepBasis(parts, { ...claimant, ...resolved, request });
    if (parts.budgets && chat && stale === 0) await chat.opened.pay();
    const claimed = await claim(parts, { ...claimant, ...resolved, check: check ?? undefined, beside, stored: chat });
    if ('isStale' in claimed) {
      if (claimed.isStale === 'chat') requireAnotherTry(stale, resolved);
      await resolver.refresh();
      continue;
    }
    if ('known' in claimed) {
      claimant.paid.takeBack?.();
      return { runId: claimed.known.runId, known: claimed.known };
    }
    claimant.held.release();
    const { live } = claimed;
    execute(parts, { ...claimant, ...resolved, live, otherCallIds: chat?.opened.otherCallIds });
    if (chat) settleWhenEnded(parts, { chat, live, runId: claimant.runId });
    // An invalidation before the claim could not stop this run.
    if (resolver.invalidations !== invalidations) parts.dismiss([resolved.agent.id]);
    const { plan } = resolved;
    const settled = plan ? live.closed.then(() => plan.settled(parts.closing)) : live.closed;
    return { runId: claimant.runId, ended: live.closed, settled };
  }
}

/** A plan is taken once. @throws PinnaceError `conflict` when others write the chat without a pause, or the run has a plan. */
function requireAnotherTry(tries: number, { plan }: ResolvedRun): void {
  if (!plan && tries <= maxStale) return;
  throw new PinnaceError('conflict', 'Cannot start the run: other requests are writing its chat; try again', {
    details: { reason: 'chat_busy' },
  });
}

/* Most requests have no settings. */
const runSettings = /* @__PURE__ */ loadOnce(() => import('./run-settings.ts'));

/** Returns what makes the agent of the request out of its record. */
async function agentWith(settings: RunSettings, principal: Principal): Promise<RunOrigin['agent']> {
  const { withSettings } = await runSettings();
  return (today) => withSettings(today, settings, principal);
}

/** Validates before claiming the idempotency key, so a rejected request does not consume it. */
async function resolveRun(
  parts: RuntimeParts,
  requested: RunRequest,
  { principal, idempotency, redaction, span, origin, paid, abort }: Claimant,
): Promise<ResolvedRun> {
  // A run that goes on from another one has the recorded agent, with the settings of then.
  const { settings } = requested;
  const as = origin?.agent ?? (settings && await agentWith(settings, principal));
  const { tools, servers, ...found } = await parts.resolver.resolve(requested.agentId, principal, span, as);
  const { agent } = found;
  requirePrice(found.provider, requested.budget?.cost);
  if (found.secret) redaction.add(found.secret);
  const toolSet = await parts.toolSetOf(agent, tools, servers);
  const request = { ...requested, context: [...toolSet.notes, ...requested.context] };
  const messages = withContext(toModelMessages(request.chat.messages), request.context);
  const limits = minLimits(parts.limits, agent.limits, request.limits);
  await checkInlineFiles(request.chat.messages.at(-1), limits);
  if (parts.budgets) {
    const spender = { tenant: principal.tenant, subject: principal.subject, agentId: agent.id };
    paid.takeBack ??= await parts.budgets.startRun(spender, found.provider);
  }
  const plan = await takePlan(parts.plans, request, {
    principal,
    agent,
    limits: parts.givenLimits,
    key: idempotency?.key,
    span,
    signal: abort.signal,
  });
  const { chat } = request;
  const { discovery } = parts;
  const { contextTokens } = found;
  const asked = chat.messages;
  const stepTools = createStepTools({ agent, toolSet, discovery, contextTokens, principal, chatId: chat.id, asked });
  if (!plan && !origin) void stepTools.restore().catch(() => undefined); // beside the claim; the run waits for it, or tries again
  const continues = approvalsRequestedIn(chat.messages.at(-1)).length > 0
    ? await lastRunOf(parts.storage, principal, chat.id)
    : undefined;
  return { ...found, toolSet, stepTools, messages, limits, request, plan, continues };
}

async function claim(
  { runs, now }: RuntimeParts,
  { check, beside, stored, ...claiming }: Claimant & ResolvedRun & Required<Pick<ClaimOptions, 'beside'>> & {
    readonly check: Change | undefined;
    readonly stored: ChatOfRun | undefined;
  },
): ReturnType<RuntimeParts['runs']['claim']> {
  const { runId, principal, idempotency, nonce, abort, spanFacts, limits: { detachGraceMs }, resumed } = claiming;
  const { log, refuse } = resumed?.claim ?? {};
  const state = { ...startingState(claiming, now), ...resumed?.claim.state, span: spanFacts };
  const stop = (reason: unknown): void => abort.abort(reason);
  throwIfAborted(abort.signal, startingIt); // the caller has left
  const all = [...beside, ...resumed?.claim.beside ?? []];
  const changes = { check, log, beside: all, refuse, chat: stored?.opened.changes(runId) };
  return await runs.claim({ runId, principal, state, idempotency, nonce, ...changes, detachGraceMs, abort: stop });
}

function execute(
  parts: RuntimeParts,
  { live, idempotency: _, nonce: __, trace: ___, spanFacts: ____, held: _____, origin: ______, ...run }:
    & Claimant
    & ResolvedRun
    & Pick<RunOptions, 'otherCallIds'>
    & { readonly live: LiveRun },
): void {
  const { runId, span: { traceId } } = run;
  const report = reportAt(parts.report, { runId, traceId });
  const authorize = reportedHook(parts.authorize, report, 'authorize');
  executeRun({ ...parts, ...run, report, authorize, traceId, resolveSecret: parts.resolver.secret }, live);
}

function startingState(
  { request: { agentId, chat, runtimeId }, principal: { tenant, subject, actor }, span: { traceId }, plan, continues }:
    & Pick<Claimant, 'principal' | 'span'>
    & ResolvedRun,
  now: RuntimeParts['now'],
): ClaimOptions['state'] {
  const named = {
    ...(actor !== undefined && { actor }),
    ...(plan && { planId: plan.planId }),
    ...(continues !== undefined && { continues }),
    ...(runtimeId !== undefined && { runtimeId }),
  };
  return { state: 'running', tenant, subject, agentId, chatId: chat.id, traceId, ...named, startedAt: now() };
}

/** Events that are held back. */
interface HeldEvents {
  readonly emit: Emit;
  /** Emits what was held, and from now on everything at once. */
  release(): void;
}

/** Creates events that are held until `release`; what is never released is never emitted. */
function holdEvents(emit: Emit): HeldEvents {
  if (emit === unobserved) return { emit, release: () => undefined };
  let held: EmittedEvent[] | undefined = [];
  return {
    emit: (event) => void (held ? held.push(event) : emit(event)),
    release() {
      const all = held ?? [];
      held = undefined;
      all.forEach(emit);
    },
  };
}

const load = /* @__PURE__ */ loadOnce(() => import('./follow-plan.ts'));

/**
 * Starts the plan that a request defines, or finds the one that it names; `undefined` for a request without a plan.
 *
 * @throws PinnaceError `invalid_argument` for terms that the planner does not take, for a last message without text or with a file, and
 * where there is no planner; `not_found` for an unknown plan; `forbidden` (`plans_not_allowed`) over HTTP, where the agent's record does
 * not allow plans.
 */
async function takePlan(
  plans: Plans | undefined,
  request: RunRequest,
  owner: PlanOwner,
): Promise<FollowedPlan | undefined> {
  const { planner } = request;
  if (planner === undefined) return undefined;
  requireAllowed(owner);
  if (!plans) throw noPlan('this runtime has no planner', 'no_planner');
  const { findPlan } = await load();
  return await findPlan(plans, { ...owner, request, planner });
}

/** A plan is many model calls for one request, so strangers need the record's permission. */
function requireAllowed({ principal, agent }: PlanOwner): void {
  if (principal.via !== 'http' || agent.plans === true) return;
  throw new PinnaceError(
    'forbidden',
    `Cannot plan: agent "${agent.id}" does not allow plans over HTTP; set "plans": true in its record`,
    { details: { reason: 'plans_not_allowed' } },
  );
}
