/** The steps of one request: parse, replay, resolve, assemble, run. Its stream is read from the run log. */

import { toData, toPinnaceError } from '../base/errors.ts';
import { reportAt, reportHidden } from '../events/report.ts';
import { reportedHook } from '../events/reported-port.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { type Span, statusOfError } from '../events/span.ts';
import { approvalsRequestedIn } from './calls/approvals.ts';
import { checkInlineFiles } from './attachments/run-files.ts';
import { toModelMessages, withContext } from './messages/model-messages.ts';
import { executeRun } from './execute-run.ts';
import { findContinued } from './messages/issued-metadata.ts';
import { requirePrice } from './model/model-price.ts';
import { minLimits } from './resolve/limits.ts';
import { type FollowedPlan, takePlan } from './plans.ts';
import { type Principal, requireScope } from '../base/principal.ts';
import { createRunAbort, type RunAbort } from './run-abort.ts';
import { createRunRedaction, redactedEmit, type RunRedaction } from './calls/run-redaction.ts';
import type { RunState } from './log/run-record.ts';
import { spanOfRun } from './run-span.ts';
import { throwIfAborted, untilAborted } from '../base/until-aborted.ts';
import { parseRunRequest, type RunRequest } from './run-request.ts';
import type { ClaimOptions } from './log/runs.ts';
import type { RuntimeParts } from './runtime-options.ts';
import type { Started, StartOptions } from './runtime.ts';

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
  { principal, signals = [], idempotency, trace }: StartOptions & { readonly principal: Principal },
): Promise<Started> {
  const request = parseRunRequest(input, parts.limits);
  requireScope(principal, 'run:create', request.agentId);
  const abort = createRunAbort([...signals, parts.closing]);
  abort.startClock(startMs);
  const within = { signal: abort.starting, action: startingIt };
  try {
    return await untilAborted(() => findOrStart(parts, request, { principal, idempotency, trace, abort }), within);
  } catch (thrown) {
    abort.release();
    throw toPinnaceError(thrown);
  }
}

async function findOrStart(
  parts: RuntimeParts,
  request: RunRequest,
  { principal, idempotency, trace, abort }:
    & Pick<StartOptions, 'idempotency' | 'trace'>
    & Pick<Claimant, 'principal' | 'abort'>,
): Promise<Started> {
  const [known] = await Promise.all([parts.runs.find(principal, idempotency), parts.resolver.refresh()]);
  if (known) {
    abort.release();
    return { runId: known.runId, known };
  }
  const redaction = createRunRedaction();
  const claimant = { ...startSpanOf(parts, request, { principal, trace, redaction }), principal, idempotency, abort };
  try {
    return await claimAndExecute(parts, request, { ...claimant, redaction });
  } catch (thrown) {
    reportHidden(parts.report, thrown, { kind: 'run', runId: claimant.runId, traceId: claimant.span.traceId });
    const error = toData(thrown);
    claimant.span.end({ status: statusOfError(error), error, payload: { state: 'refused' } });
    throw thrown;
  }
}

interface Claimant extends Pick<StartOptions, 'idempotency'> {
  readonly principal: Principal;
  readonly abort: RunAbort;
  readonly redaction: RunRedaction;
  readonly runId: string;
  readonly span: Span;
  /** The facts of `span` in the record, for an instance that must emit its end later. */
  readonly spanFacts: NonNullable<RunState['span']>;
}

/** Emits the run span before resolving, so rejected runs are observable too. */
function startSpanOf(
  { emit, now }: RuntimeParts,
  { agentId, chat, runtimeId }: RunRequest,
  { principal: { tenant, subject }, trace, redaction }: Pick<Claimant, 'principal' | 'redaction'> & {
    readonly trace: StartOptions['trace'];
  },
): Pick<Claimant, 'runId' | 'span' | 'spanFacts'> {
  const { traceId = createTraceId(), parentSpanId } = trace ?? {};
  const runId = `run_${crypto.randomUUID().replaceAll('-', '')}`;
  const facts = { traceId, parentSpanId, runId, tenant, subject, agentId, messages: chat.messages.length, runtimeId };
  const span = spanOfRun(facts, { emit: redactedEmit(emit, redaction), now });
  const spanFacts = { spanId: span.spanId, ...(parentSpanId !== undefined && { parentSpanId }), subject };
  return { runId, span, spanFacts };
}

/** Validates before claiming the idempotency key, so a rejected request does not consume it. */
async function claimAndExecute(
  parts: RuntimeParts,
  requested: RunRequest,
  { principal, idempotency, abort, redaction, runId, span, spanFacts }: Claimant,
): Promise<Started> {
  const { resolver, runs, toolSetOf } = parts;
  const { traceId } = span;
  const { invalidations } = resolver;
  const { tools, servers, ...found } = await resolver.resolve(requested.agentId, principal, span);
  const { agent } = found;
  requirePrice(found.provider, requested.budget?.cost);
  if (found.secret) redaction.add(found.secret);
  const toolSet = await toolSetOf(agent, tools, servers);
  const request = { ...requested, context: [...toolSet.notes, ...requested.context] };
  const messages = withContext(toModelMessages(request.chat.messages), request.context);
  const limits = minLimits(parts.limits, agent.limits, request.limits);
  await checkInlineFiles(request.chat.messages.at(-1), limits);
  const plan = await takePlan(parts.plans, request, { principal, key: idempotency?.key, span });
  const { chat } = request;
  const continues = approvalsRequestedIn(chat.messages.at(-1)).length > 0
    ? await findContinued(parts.storage, principal, chat.id)
    : undefined;
  const state = { ...startingState(request, { principal, now: parts.now, traceId, plan, continues }), span: spanFacts };
  const { detachGraceMs } = limits;
  const stop = (reason: unknown): void => abort.abort(reason);
  throwIfAborted(abort.signal, startingIt); // the caller has left
  const claimed = await runs.claim({ runId, principal, state, idempotency, detachGraceMs, abort: stop });
  if ('known' in claimed) {
    abort.release();
    span.end({ status: 'cancelled', payload: { state: 'known' } });
    return { runId: claimed.known.runId, known: claimed.known };
  }
  const { live } = claimed;
  const resolved = { ...found, toolSet, messages, limits, request, principal, plan, continues };
  const report = reportAt(parts.report, { runId, traceId });
  const authorize = reportedHook(parts.authorize, report, 'authorize');
  const observers = { span, report, authorize, redaction };
  const run = { ...parts, ...resolved, ...observers, runId, traceId, abort, resolveSecret: resolver.secret };
  executeRun(run, live);
  // An invalidation before the claim could not stop this run.
  if (resolver.invalidations !== invalidations) parts.dismiss([agent.id]);
  return { runId, ended: live.closed };
}

function startingState(
  { agentId, chat, runtimeId }: RunRequest,
  { principal: { tenant }, now, traceId, plan, continues }: {
    readonly principal: Principal;
    readonly now: () => number;
    readonly traceId: string;
    readonly plan: FollowedPlan | undefined;
    readonly continues: string | undefined;
  },
): ClaimOptions['state'] {
  const named = {
    ...(plan && { planId: plan.planId }),
    ...(continues !== undefined && { continues }),
    ...(runtimeId !== undefined && { runtimeId }),
  };
  return { state: 'running', tenant, agentId, chatId: chat.id, traceId, ...named, startedAt: now() };
}
