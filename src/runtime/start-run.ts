/**
 * The start of a run: from the request to the claim of its record, and to the run that executes it (`run.ts`).
 *
 * What must hold, and what breaks where an order changes:
 *
 * 1. One round trip to the storage comes before the model: the claim. It writes the key, the nonce, the record and the chat's pointer
 *    in one commit. What the run is resolved from is cached; the claim has a check of it, conflicts where it is out of date, and the
 *    run is resolved again. Only a plan, a stored chat and the continuation of a message read before the claim.
 * 2. What may refuse the request comes before the claim, so a refused request uses up no key. What was paid for it is taken back.
 * 3. What the models of the chat were sent is read beside the claim: after it, the read would be a second trip before the model; before
 *    it, requests that are refused would pay for it. The run waits for it, and can do without.
 * 4. Taking a plan has an effect, so the run of a known key is looked up first, the caches are refreshed instead of checked, and a run
 *    with a plan is resolved once. Only its chat can conflict then, which refuses it.
 * 5. The span starts before anything is looked up, so that refused requests are seen too. Its events are held until the claim: a replay
 *    emits nothing. Either a run takes the span over and ends it, or a refusal does.
 * 6. A definition may be invalidated between its resolution and the claim, when no run can be stopped for it yet. Counted before and
 *    after, such an invalidation stops the run at once.
 */

import { PinnaceError, toData, toPinnaceError } from '../base/errors.ts';
import { loadOnce } from '../base/load-once.ts';
import { type Principal, requireScope } from '../base/principal.ts';
import { throwIfAborted, untilAborted } from '../base/until-aborted.ts';
import type { Change } from '../contracts/storage.ts';
import { type Emit, type EmittedEvent, unobserved } from '../events/events.ts';
import { reportHidden } from '../events/report.ts';
import { type Span, statusOfError } from '../events/span.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { createRunRedaction, redactedEmit, type RunRedaction } from '../permission/redaction/run-redaction.ts';
import { requireProviderTools } from '../tools/availability.ts';
import { isProviderTool } from '../tools/provider-tool.ts';
import { type ChatOfRun, openChatOf, settleWhenEnded } from './chats.ts';
import type { ClaimOptions } from './claim-run.ts';
import { outputRequest } from './compose-loop.ts';
import { approvalsRequestedIn } from './decided-calls.ts';
import type { FollowedPlan, Resolution, RunIdentity, RunOrigin, RuntimeParts } from './run-context.ts';
import type { Agent, LimitOverrides } from '../base/schema.ts';
import { minLimits } from './limits.ts';
import { requirePrice } from './model-budget.ts';
import { modelMessages } from './model-messages.ts';
import { toPromptTools } from './model-prompt.ts';
import { readPrompt } from './prompt-chain.ts';
import { createRunAbort, type RunAbort } from './run-clock.ts';
import { checkInlineFiles } from './run-files.ts';
import { lastRunOf, type RunState, type RunStatus, spanOfRun, usageKey } from './run-record.ts';
import type { LiveRun } from './live-run.ts';
import { parseRunRequest, type RunRequest } from './run-request.ts';
import { Run } from './run.ts';
import type { Started, StartOptions } from './runtime.ts';
import { createStepTools } from './step-tools.ts';
import { notesOf, permittedSet, requireGuard } from './tool-sets.ts';
import { loadedIn } from './wrapped-calls.ts';
import { uncovered } from './message-parts.ts';
import { contextParts } from './turn-context.ts';

/** A plan has prompts of its own. */
const noPrompts = Promise.resolve(undefined);

const startingIt = 'start the run';

/** The time limit from the request to the run's record. The run's own time limit starts then. */
const startMs = 15_000;

/** How a run is started, and by whom. */
interface StartTerms extends StartOptions {
  readonly principal: Principal;
  readonly origin?: RunOrigin;
  /** The run that this instance has taken over, which goes on under its own id. */
  readonly taken?: { readonly runId: string; readonly state: RunState };
}

/**
 * Starts a run that continues without a reader, or finds the run of its idempotency key. That takes no longer than 15 s, and no longer
 * than its caller waits. Rejects with a `PinnaceError`, whatever was thrown.
 */
export async function startRun(runtime: RuntimeParts, input: unknown, terms: StartTerms): Promise<Started> {
  const request = parseRunRequest(input, runtime.limits);
  requireScope(terms.principal, 'run:create', request.agentId);
  const abort = createRunAbort([...terms.signals ?? [], runtime.closing]);
  abort.startClock(startMs);
  const within = { signal: abort.starting, action: startingIt };
  try {
    const started = await untilAborted(() => findOrStart(runtime, request, { terms, abort }), within);
    if (started.known) abort.release();
    return started;
  } catch (thrown) {
    abort.release();
    throw toPinnaceError(thrown);
  }
}

/** A request whose start has an effect before the claim is looked up, and uses up its nonce, first. */
async function findOrStart(
  runtime: RuntimeParts,
  request: RunRequest,
  { terms, abort }: { readonly terms: StartTerms; readonly abort: RunAbort },
): Promise<Started> {
  const { principal, idempotency, nonce } = terms;
  const isSeparate = nonce !== undefined && (request.planner || !runtime.isSameStorage(nonce.storage));
  if (isSeparate) await nonce.commit();
  const known = request.planner && await runtime.runs.find(principal, idempotency);
  if (known) return { runId: known.runId, known };
  return await new StartingRun(runtime, request, { terms, abort, nonce: isSeparate ? undefined : nonce }).start();
}

/** How often a run is resolved again because something was invalidated meanwhile. */
const maxStale = 3;

/**
 * Goes on with a run that this instance has taken over from another. `open` opens its log. Rejects with what refuses the run now; then
 * nothing was executed.
 */
export async function continueRun(
  runtime: RuntimeParts,
  request: RunRequest,
  { terms, open }: {
    readonly terms: StartTerms & Required<Pick<StartTerms, 'origin' | 'taken'>>;
    readonly open: (resolution: Resolution, abort: RunAbort) => LiveRun;
  },
): Promise<void> {
  const abort = createRunAbort([...terms.signals ?? [], runtime.closing]);
  try {
    await new StartingRun(runtime, request, { terms, abort, nonce: undefined }).goOn(open);
  } catch (thrown) {
    abort.release();
    throw thrown;
  }
}

/** A run until its claim. */
class StartingRun implements RunIdentity {
  readonly runtime: RuntimeParts;
  readonly runId: string;
  readonly traceId: string;
  readonly span: Span;
  readonly startedAt: number;
  readonly principal: Principal;
  readonly abort: RunAbort;
  readonly redaction: RunRedaction = createRunRedaction();
  readonly #request: RunRequest;
  readonly #terms: StartTerms;
  /** The nonce of the terms, unless it was used up before. */
  readonly #nonce: StartOptions['nonce'];
  readonly #events: HeldEvents;
  /** Takes back what was paid for the run, once, however often it is resolved. */
  #takeBack: (() => void) | undefined;

  constructor(
    runtime: RuntimeParts,
    request: RunRequest,
    { terms, abort, nonce }: {
      readonly terms: StartTerms;
      readonly abort: RunAbort;
      readonly nonce: StartOptions['nonce'];
    },
  ) {
    this.runtime = runtime;
    this.principal = terms.principal;
    this.abort = abort;
    this.#request = request;
    this.#terms = terms;
    this.#nonce = nonce;
    this.#events = new HeldEvents(runtime.emit);
    this.runId = terms.taken?.runId ?? `run_${crypto.randomUUID().replaceAll('-', '')}`;
    this.startedAt = terms.taken?.state.startedAt ?? runtime.now();
    this.traceId = terms.taken?.state.traceId ?? terms.trace?.traceId ?? createTraceId();
    this.span = this.#startSpan();
  }

  #startSpan(): Span {
    const { runtime: { now }, runId, traceId, redaction, principal: { tenant, subject, actor } } = this;
    const { agentId, chat, runtimeId, settings } = this.#request;
    const facts = {
      traceId,
      parentSpanId: this.#terms.trace?.parentSpanId,
      ...(this.#terms.taken && { ...this.#terms.taken.state.span, startedAt: this.startedAt }), // its start was emitted before
      runId,
      tenant,
      subject,
      actor,
      agentId,
      messages: chat.messages.length,
      runtimeId,
      settings: settings && Object.keys(settings).toSorted().join(','),
    };
    return spanOfRun(facts, { emit: redactedEmit(this.#events.emit, redaction), now });
  }

  /** Claims and executes the run. A refused request is a replay where the key has a run. */
  async start(): Promise<Started> {
    try {
      return await this.#claimAndExecute();
    } catch (thrown) {
      this.#takeBack?.();
      const known = await this.#findKnown(thrown);
      if (known) return { runId: known.runId, known };
      if (toPinnaceError(thrown).code === 'signature_replayed') throw thrown; // a replay emits nothing of a run
      this.#events.release();
      reportHidden(this.runtime.report, thrown, { kind: 'run', runId: this.runId, traceId: this.traceId });
      const error = toData(thrown);
      this.span.end({ status: statusOfError(error), error, payload: { state: 'refused' } });
      throw thrown;
    }
  }

  /** Goes on with the run that was taken over. */
  async goOn(open: (resolution: Resolution, abort: RunAbort) => LiveRun): Promise<void> {
    const named = await this.#resolve(this.#request);
    const resolution = await this.#terms.origin?.resume(named, this) ?? named;
    const live = open(resolution, this.abort);
    this.#events.release();
    new Run(this, { resolution, live, otherCallIds: resolution.resumed?.recovered?.callIds }).execute();
  }

  async #claimAndExecute(): Promise<Started> {
    const { runtime, runId, principal } = this;
    const { resolver } = runtime;
    for (let stale = 0;; stale++) {
      const { invalidations } = resolver;
      // After some conflicts, what is invalidated from now on stops the run instead.
      const [check, chat] = await Promise.all([
        this.#request.planner || stale === maxStale ? resolver.refresh() : resolver.currentCheck(),
        this.#terms.origin ? undefined : openChatOf(runtime, this.#request, { principal, isStale: stale > 0 }),
      ]);
      const request = chat?.request ?? this.#request;
      const named = await this.#resolve(request);
      const resolution = await this.#terms.origin?.resume(named, this) ?? named;
      const basis = await this.#recordBasis(request, resolution);
      await chat?.opened.prepare({ isPaid: stale > 0 });
      const claimed = await this.#claim(resolution, { check: check ?? undefined, basis, chat });
      if ('isStale' in claimed) {
        if (claimed.isStale === 'chat') requireAnotherTry(stale, resolution);
        else await resolver.refresh();
        continue;
      }
      if ('known' in claimed) {
        this.#takeBack?.();
        return { runId: claimed.known.runId, known: claimed.known };
      }
      this.#events.release();
      const { live } = claimed;
      const { otherCallIds, isStored } = chat?.opened ?? {};
      new Run(this, { resolution, live, otherCallIds, isStored }).execute();
      if (chat) settleWhenEnded(runtime, { chat, live, runId });
      // An invalidation before the claim could not stop this run.
      if (resolver.invalidations !== invalidations) runtime.dismiss([resolution.agent.id]);
      const { plan } = resolution;
      const settled = plan ? live.closed.then(() => plan.settled(runtime.closing)) : live.closed;
      return { runId, ended: live.closed, settled };
    }
  }

  /** Looks up all that the request names. */
  async #resolve(requested: RunRequest): Promise<Resolution> {
    const { runtime, principal, redaction, span } = this;
    const { settings } = requested;
    // A run that continues another one has the recorded agent, with the settings of that record.
    const as = this.#terms.origin?.agent ?? (settings && await agentWith(settings, principal));
    const { tools, servers, ...found } = await runtime.resolver.resolve(requested.agentId, principal, span, as);
    const { agent, provider, contextTokens } = found;
    requirePrice(provider, requested.budget?.cost);
    if (found.secret) redaction.add(found.secret);
    const { authorize, sandbox } = runtime;
    const toolSet = await permittedSet(await runtime.toolSetOf(agent, tools, servers), {
      agentId: agent.id,
      principal,
      authorize,
    });
    if (toolSet.tools.some(isProviderTool)) requireProviderTools(toPromptTools(toolSet.tools), found.model);
    requireGuard(agent, { tools: toolSet.tools, canRun: sandbox !== undefined && 'open' in sandbox });
    const { chat } = requested;
    const request = { ...requested, context: [...notesOf(toolSet, chat.messages), ...requested.context] };
    const output = outputRequest(request, found);
    const contexts = redaction.data(contextParts(request, { agent, output, now: runtime.now() }));
    const messages = modelMessages(request, contexts);
    const limits = minLimits(runtime.limits, agent.limits, request.limits);
    await checkInlineFiles(chat.messages.at(-1), limits);
    if (runtime.budgets && !this.#terms.taken) {
      const spender = { tenant: principal.tenant, subject: principal.subject, agentId: agent.id };
      this.#takeBack ??= await runtime.budgets.startRun(spender, provider);
    }
    const owner = {
      principal,
      agent,
      limits: runtime.givenLimits,
      key: this.#terms.idempotency?.key,
      span,
      signal: this.abort.signal,
    };
    const plan = await takePlan(runtime, request, owner);
    const { discovery } = runtime;
    const loaded = loadedIn(uncovered(chat.messages));
    const stepTools = createStepTools({ agent, toolSet, discovery, contextTokens, principal, loaded });
    const continues = approvalsRequestedIn(chat.messages.at(-1)).length > 0
      ? await lastRunOf(runtime.storage, principal, chat.id)
      : undefined;
    const { storage, recentPrompts: recent } = runtime;
    const prompts = plan ? noPrompts : readPrompt({ storage, recent, principal, chatId: chat.id }, chat.messages);
    void prompts.catch(() => undefined); // the run waits for it
    return { ...found, toolSet, stepTools, prompts, contexts, messages, limits, request, plan, continues };
  }

  /** Records what the run is started from, where the composition keeps it, or another instance may continue the run. */
  async #recordBasis(request: RunRequest, resolution: Resolution): Promise<readonly Change[]> {
    const { keep, recovery } = this.runtime;
    const isDerived = this.#terms.origin !== undefined;
    // A plan has no steps of its own to go back to.
    const isKept = keep === 'inputs' && !resolution.plan;
    if (!isKept && (!recovery || isDerived)) return [];
    return await (await loadBasis()).recordBasis(this, { request, resolution, isDerived });
  }

  async #claim(
    resolution: Resolution,
    { check, basis, chat }: {
      readonly check: Change | undefined;
      readonly basis: readonly Change[];
      readonly chat: ChatOfRun | undefined;
    },
  ): ReturnType<RuntimeParts['runs']['claim']> {
    const { runtime, runId, principal, abort } = this;
    const { limits: { detachGraceMs }, resumed } = resolution;
    throwIfAborted(abort.signal, startingIt); // the caller has left
    return await runtime.runs.claim({
      runId,
      principal,
      state: this.#stateOf(resolution),
      idempotency: this.#terms.idempotency,
      nonce: this.#nonce,
      detachGraceMs,
      abort: (reason) => abort.abort(reason),
      check,
      beside: [...basis, ...resumed?.claim?.beside ?? []],
      ending: await this.#endingOf(basis, resolution),
      chat: chat?.opened.changes(runId),
      answer: chat?.opened.answer,
      log: resumed?.claim?.log,
    });
  }

  /** What only another instance would have needed goes with the end of the run. */
  async #endingOf(basis: readonly Change[], { plan }: Resolution): Promise<readonly Change[]> {
    if (basis.length === 0) return [];
    const isKept = this.runtime.keep === 'inputs' && !plan;
    return [{ key: usageKey(this.runId) }, ...isKept ? [] : (await loadBasis()).deletion(basis)];
  }

  #stateOf({ request: { agentId, chat, runtimeId }, plan, continues, resumed }: Resolution): ClaimOptions['state'] {
    const { runtime: { now }, principal: { tenant, subject, actor }, traceId, span: { spanId } } = this;
    const parentSpanId = this.#terms.trace?.parentSpanId;
    const state: RunState = {
      state: 'running',
      tenant,
      subject,
      agentId,
      chatId: chat.id,
      traceId,
      ...(actor !== undefined && { actor }),
      ...(plan && { planId: plan.planId }),
      ...(continues !== undefined && { continues }),
      ...(runtimeId !== undefined && { runtimeId }),
      startedAt: now(),
      ...resumed?.claim?.state,
      span: { spanId, ...(parentSpanId !== undefined && { parentSpanId }) },
    };
    return state;
  }

  /**
   * Finds the run of a request that would be refused now. Reads nothing for a replayed request, a caller who has left, and a storage
   * that is out of reach.
   */
  async #findKnown(refusal: unknown): Promise<RunStatus | undefined> {
    const { code, details } = toPinnaceError(refusal);
    const isOutage = code === 'internal' || String(details?.['reason']).startsWith('storage_');
    if (!this.#terms.idempotency || isOutage || withoutRun.has(code)) return undefined;
    await this.#nonce?.commit();
    return await this.runtime.runs.find(this.principal, this.#terms.idempotency).catch((error: unknown) => {
      if (toPinnaceError(error).code === 'idempotency_key_reused') throw error;
      return undefined;
    });
  }
}

const withoutRun: ReadonlySet<string> = new Set(['signature_replayed', 'idempotency_key_reused', 'cancelled']);

/** A plan is taken once. @throws PinnaceError `conflict` when others write the chat without a pause, or the run has a plan. */
function requireAnotherTry(tries: number, { plan }: Resolution): void {
  if (!plan && tries <= maxStale) return;
  throw new PinnaceError('conflict', 'Cannot start the run: other requests are writing its chat; try again', {
    details: { reason: 'chat_busy' },
  });
}

/* Most requests have no settings and no plan, and most compositions keep no inputs. */
const loadBasis = /* @__PURE__ */ loadOnce(() => import('./run-basis.ts'));
const loadSettings = /* @__PURE__ */ loadOnce(() => import('./run-settings.ts'));
const loadPlans = /* @__PURE__ */ loadOnce(() => import('./follow-plan.ts'));

/** Returns what makes the agent of the request out of its record. */
async function agentWith(
  settings: NonNullable<RunRequest['settings']>,
  principal: Principal,
): Promise<RunOrigin['agent']> {
  const { withSettings } = await loadSettings();
  return (today) => withSettings(today, settings, principal);
}

/** Who starts or follows a plan, and where. */
export interface PlanOwner {
  readonly principal: Principal;
  /** The agent that plans: its record allows plans over HTTP, and bounds them. */
  readonly agent: Pick<Agent, 'id' | 'plans' | 'limits'>;
  /** The limits of runs that the composition has set, which bound plans over HTTP. */
  readonly limits: LimitOverrides | undefined;
  /** The idempotency key of the run. */
  readonly key: string | undefined;
  readonly span: Pick<Span, 'traceId' | 'spanId'>;
  /** Aborts when the caller leaves before the run has started. */
  readonly signal: AbortSignal;
}

/**
 * Starts the plan that a request defines, or finds the one that it names; `undefined` for a request without a plan.
 *
 * @throws PinnaceError `invalid_argument` for terms that the planner does not take, for a last message without text or with a file, and
 * where there is no planner; `not_found` for an unknown plan; `forbidden` (`plans_not_allowed`) over HTTP, where the agent's record does
 * not allow plans.
 */
async function takePlan(
  { plans }: Pick<RuntimeParts, 'plans'>,
  request: RunRequest,
  owner: PlanOwner,
): Promise<FollowedPlan | undefined> {
  const { planner } = request;
  if (planner === undefined) return undefined;
  requireAllowed(owner);
  if (!plans) throw noPlan('this runtime has no planner', 'no_planner');
  const { findPlan } = await loadPlans();
  return await findPlan(plans, { ...owner, request, planner });
}

/** The error for a request whose plan cannot be started. */
export function noPlan(why: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot plan: ${why}`, { details: { reason } });
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

/** Events that are held back until it is known whether there is anything to observe; what is never released is never emitted. */
class HeldEvents {
  readonly emit: Emit;
  readonly #emit: Emit;
  #held: EmittedEvent[] | undefined = [];

  constructor(emit: Emit) {
    this.#emit = emit;
    this.emit = emit === unobserved ? emit : (event) => void (this.#held ? this.#held.push(event) : emit(event));
  }

  /** Emits what was held, and from now on everything at once. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    held.forEach(this.#emit);
  }
}
