/** The runtime's methods about runs: start, read, cancel, send, decide and reply. */

import { type Guard, guardEmitted } from '../permission/guarded.ts';
import { PinnaceError, toData, toPinnaceError } from '../base/errors.ts';
import { sha256 } from '../base/hash.ts';
import { type Principal, requireScope } from '../base/principal.ts';
import { actorOf, statusOfError } from '../events/span.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { readJournal } from '../log/journal-record.ts';
import { decide } from '../permission/decide.ts';
import {
  type Decision,
  type EditedInput,
  editSummary,
  type Interruption,
  ownerOfInterruption,
} from '../permission/interruption.ts';
import type { OwnedRecord } from '../permission/ownership.ts';
import { chunksOf } from './stored-run.ts';
import { runPrefix, type RunState } from './run-record.ts';
import type { RunOrigin, RuntimeParts } from './run-context.ts';
import type {
  ForkEntry,
  ForkListOptions,
  HostedRuntime,
  RecordedCalls,
  RecordedRun,
  RunCall,
  Started,
  StartOptions,
} from './runtime.ts';
import type { Page } from '../base/page.ts';
import type { RunRequest } from './run-request.ts';
import { startRun } from './start-run.ts';
import { parseSteeringMessage, runFollowsPlan } from './steering.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Inbox } from './inbox.ts';
import type { UndoReport } from './undo-types.ts';
import type { Emit } from '../events/events.ts';
import { summaryOf } from '../events/payload-summary.ts';

/** Starts a counted run, from where an earlier one has come. */
type StartFrom = (request: RunRequest, options: StartOptions & { readonly origin: RunOrigin }) => Promise<Started>;

/** Loads the room of forks: the core imports no optional room, the composition hands it in. */
export type LoadForks = () => Promise<{
  readonly startFork: (
    runtime: RuntimeParts,
    forking: {
      readonly runId: string;
      readonly input: unknown;
      readonly principal: Principal;
      readonly options: StartOptions;
    },
    services: { readonly guard: Guard; readonly start: StartFrom },
  ) => Promise<Started>;
  readonly readRecorded: (runtime: RuntimeParts, principal: Principal, runId: string) => Promise<RecordedRun>;
  readonly recordedOrigin: (runtime: RuntimeParts, how: RecordedCalls) => RunOrigin;
  readonly listForks: (
    runtime: RuntimeParts,
    runId: string,
    principal: Principal,
    options: ForkListOptions,
  ) => Promise<Page<ForkEntry>>;
}>;

/** Loads the inbox: the core imports no optional room, the composition hands it in. */
export type LoadInbox = () => Promise<{
  readonly openInbox: (parts: RuntimeParts, services: InboxServices) => Inbox;
  readonly wakeQuestion: (
    parts: RuntimeParts,
    services: InboxServices,
    question: { readonly id: string; readonly at: number },
  ) => Promise<boolean>;
}>;

/** Takes back what a person has approved. */
export interface ApprovedUndos {
  /** @throws PinnaceError `conflict` (`preview_changed`) where it is no longer what was asked for. */
  readonly checkUndo: (parts: RuntimeParts, record: Interruption) => Promise<void>;
  /** Resolves to `undefined` where there is nothing to do, or another instance does it. */
  readonly carryOutUndo: (
    parts: RuntimeParts,
    access: { readonly guard: Guard },
    due: { readonly id: string; readonly at: number },
  ) => Promise<UndoReport | undefined>;
}

/** What the inbox needs besides the parts of the runtime. */
export interface InboxServices {
  readonly guard: Guard;
  /** Loads the room that takes back what runs have done. */
  readonly undo: () => Promise<ApprovedUndos>;
  readonly start: HostedRuntime['start'];
}

/** Creates the methods. */
export function createRunMethods(
  parts: RuntimeParts,
  { guard, forks: loadForks }: { readonly guard: Guard; readonly forks: LoadForks },
) {
  const { runs } = parts;
  const start: HostedRuntime['start'] = (input, principal, given) =>
    startCounted(parts, input, { ...given, principal });
  const cancel = cancelOf(parts, guard);
  const startFork: HostedRuntime['startFork'] = async (runId, input, principal, options) => {
    const { startFork: forkRun } = await loadForks();
    return await forkRun(parts, { runId, input, principal, options }, {
      guard,
      start: (request, given) => startCounted(parts, request, { ...given, principal }),
    });
  };
  const read = async (
    principal: Principal,
    { signal, idempotencyKey: key }: RunCall,
    { input, begin }: { readonly input: unknown; readonly begin: (options: StartOptions) => Promise<Started> },
  ) => {
    const idempotency = key === undefined ? undefined : { key, fingerprint: await fingerprintOf(input) };
    const left = new AbortController();
    const { runId } = await begin({ signals: [signal, left.signal], idempotency });
    return chunksOf(await runs.answer(principal, runId), () => left.abort('client_gone'));
  };
  return {
    start,
    startFork,
    cancel,
    fork: (runId, options, principal, call = {}) =>
      read(principal, call, {
        input: [runId, options],
        begin: (given) => startFork(runId, options, principal, given),
      }),
    recorded: async (runId, principal) => await (await loadForks()).readRecorded(parts, principal, runId),
    async startRecorded(request, principal, how) {
      const origin = (await loadForks()).recordedOrigin(parts, how);
      return await startCounted(parts, request, { signals: [how.signal], principal, origin });
    },
    async forks(runId, principal, options = {}) {
      return await (await loadForks()).listForks(parts, runId, principal, options);
    },
    send: sendOf(parts, guard),
    run: (input, principal, call = {}) =>
      read(principal, call, { input, begin: (given) => start(input, principal, given) }),
    async resume(runId, after, { principal, signal }) {
      const cursor = await runs.cursor(principal, runId, after);
      const stop = (): void => void cancel(runId, principal).catch(() => undefined); // its stream shows how it ends
      if (signal?.aborted) stop();
      signal?.addEventListener('abort', stop, { once: true });
      return chunksOf(cursor, stop);
    },
    decide: async (runId, id, { approved, reason }, principal) =>
      await decideOnCall(parts, [runId, id, { approved, reason }, principal]),
    reply: (...given) => replyToPlan(parts, ...given),
  } satisfies Partial<HostedRuntime>;
}

/** A long request by its hash: a storage takes no more than 4 MiB, and files are stored once. */
async function fingerprintOf(input: unknown): Promise<string> {
  const text = JSON.stringify(input) ?? '';
  return text.length > longestFingerprint ? await sha256(text) : text;
}

const longestFingerprint = 65_536;

async function startCounted(
  parts: RuntimeParts,
  input: unknown,
  options: Parameters<typeof startRun>[2],
): Promise<Started> {
  const started = parts.startGate.enter();
  try {
    requireScope(options.principal, 'run:create');
    parts.requireOpen();
    return await startRun(parts, input, options);
  } catch (error) {
    if (toPinnaceError(error).code !== 'signature_replayed') countRefusedRun(parts.metrics, error);
    throw error;
  } finally {
    started();
  }
}

function cancelOf({ runs }: RuntimeParts, guard: Guard): HostedRuntime['cancel'] {
  return async (runId, principal, { trace } = {}) => {
    const { state, subject, agentId, traceId } = await runs.status(principal, runId, 'run:cancel');
    if (state !== 'running') return;
    const facts = { action: 'run.cancel', target: { type: 'run', id: runId } };
    const request = { ...facts, subject, principal, trace: trace ?? { traceId }, context: { agentId } };
    await guardEmitted(guard, { ...request, attempt: 'Cannot cancel the run' }, () => runs.cancel(principal, runId));
  };
}

/** A message is input for the agent, as the request was that started the run: a caller who may run the agent may send one. */
function sendOf({ runs, metrics }: RuntimeParts, guard: Guard): HostedRuntime['send'] {
  return async (runId, input, principal, { trace, signal } = {}) => {
    const message = parseSteeringMessage(input);
    const { state, subject, agentId, traceId, planId } = await runs.status(principal, runId, 'run:create');
    if (state !== 'running') return await runs.send(principal, { runId, message });
    const facts = { action: 'run.send', target: { type: 'run', id: runId }, payload: { messageId: message.id } };
    const request = { ...facts, subject, principal, trace: trace ?? { traceId }, context: { agentId } };
    return await guard({ ...request, attempt: 'Cannot send the message' }, async (at) => {
      try {
        if (planId !== undefined) throw runFollowsPlan();
        const sent = await runs.send(principal, { runId, message, signal });
        at.emit({ ...facts, status: 'ok' });
        return sent;
      } catch (thrown) {
        const error = toData(thrown);
        metrics.count('pinnace_steering_messages_total', { state: 'refused' });
        at.emit({ ...facts, status: statusOfError(error), error });
        throw thrown;
      }
    });
  };
}

/** Stores a decision on a call. */
export async function decideOnCall(
  parts: RuntimeParts,
  [runId, id, decision, principal]: [
    runId: string,
    id: string,
    decision: Decision & { readonly edited?: EditedInput | undefined; readonly goesOnAt?: number },
    principal: Principal,
  ],
): Promise<void> {
  requireScope(principal, 'tool:approve');
  // Of a question that the caller must not know, nothing is said to the hook either: `decide` rejects.
  const asked = await ownerOfInterruption(principal, { runId, id }, parts.storage).catch(() => undefined);
  const run = asked && (await readJournal<RunState>(parts.storage, runPrefix(runId)))?.head.state;
  const { approved, edited } = decision;
  const facts = { principal, traceId: run?.traceId ?? createTraceId(), ...aboutOf(asked), id };
  const payload = { runId: asked && runId, approved, ...(edited && editSummary(edited)) };
  const deciding = { ...facts, input: { runId, approved, ...(edited && { input: edited.input }) }, payload };
  await decide(deciding, parts, () => parts.interruptions.decide(principal, runId, id, decision));
}

function aboutOf(asked: OwnedRecord | undefined): Pick<OwnedRecord, 'agentId' | 'subject'> {
  return asked ? { agentId: asked.agentId, subject: asked.subject } : {};
}

async function replyToPlan(
  { runs, plans }: RuntimeParts,
  ...[runId, reply, principal]: Parameters<HostedRuntime['reply']>
): Promise<void> {
  requireScope(principal, 'tool:approve');
  // A question of an agent that a tool of the run has called: its id starts with that of the plan. So does that of an approver.
  const named = /^(plan_\w+)\./.exec(reply.askId)?.[1];
  const run = await runs.status(principal, runId, 'tool:approve').catch((error: unknown) => {
    if (named === undefined) throw error;
    return undefined;
  });
  const planId = run?.planId ?? named;
  if (planId === undefined || !plans) throw new PinnaceError('not_found', 'Cannot reply: this run follows no plan');
  await plans.reply(planId, principal, { askId: reply.askId, answer: reply.answer });
}

/** At most so many events a second: of callers that no authenticator has verified, and of all others. */
const mostUnverified = 5;
const mostVerified = 100;

/**
 * Returns the function that emits `request.refused`: one event a second for each tenant, code and reason. The next one counts those
 * that were left out (`coalesced`). Nothing of the request itself is in it, and it is never part of the audit.
 */
export function createRequestRefusals(
  { emit, now }: { readonly emit: Emit; readonly now: () => number },
): HostedRuntime['refused'] {
  let second = NaN;
  let emitted = new Set<string>();
  let unverified = 0;
  let coalesced = new Map<string, number>();
  let before = new Map<string, number>();
  return (thrown, { traceId, parentSpanId, principal }) => {
    const current = Math.floor(now() / 1000);
    if (current !== second) {
      // Counts of causes that had an event in neither of two seconds are dropped: the metrics have all.
      [second, emitted, unverified, before, coalesced] = [current, new Set(), 0, coalesced, new Map()];
    }
    const error = toData(thrown);
    const tenant = principal?.tenant;
    const cause = JSON.stringify([tenant ?? null, error.code, error.details?.['reason'] ?? null]);
    const isFull = principal ? emitted.size - unverified >= mostVerified : unverified >= mostUnverified;
    if (emitted.has(cause) || isFull) {
      if (emitted.has(cause)) coalesced.set(cause, (coalesced.get(cause) ?? 0) + 1);
      return;
    }
    emitted.add(cause);
    if (!principal) unverified++;
    emit({
      traceId,
      parentSpanId,
      tenant,
      actor: principal ? actorOf(principal) : { type: 'system', id: 'endpoint' },
      action: 'request.refused',
      target: { type: 'endpoint', id: 'http' },
      status: 'denied',
      latency: 0,
      error,
      payloadSummary: summaryOf({ coalesced: before.get(cause) }),
    });
  };
}

/** Adds to the metric of refused runs, under the error's code and its reason, which are fixed words. */
export function countRefusedRun(metrics: Metrics, thrown: unknown): void {
  const { code, details } = toPinnaceError(thrown);
  const reason = details?.['reason'];
  const isWord = typeof reason === 'string' && /^[a-z_]{1,64}$/.test(reason);
  metrics.count('pinnace_runs_refused_total', { code, reason: isWord ? reason : code });
}
