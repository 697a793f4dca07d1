/**
 * A run whose instance is gone, continued by this one: under its own id, from its committed log.
 *
 * What must hold:
 *
 * 1. What can refuse the run is decided before it is taken over, or ends it after. Taking it over raises its fence, so the log that is
 *    read then is complete, and the former owner can neither write nor act any more.
 * 2. Nothing acts twice. A call that may have acted and has no output gets an unknown outcome; only calls that read, or carry their own
 *    key, or never started, are made, under their own ids and asked for again.
 * 3. The model never reads the half of an answer. A torn step without a made call is reset in the stream and asked for again; a torn
 *    step with one counts as far as it was committed.
 * 4. The run has the rights of its request at most, cut to what its agent and its caller may do today, and what is left of its time and
 *    of its budgets.
 * 5. A run that loses its process twice without a new word or step may be what kills it: it is executed as the one suspect of its
 *    instance, and ended where that, or an instance that had no other run, dies again. What shares its process then is not counted.
 */

import { toData } from '../base/errors.ts';
import { createPrincipal, type Principal } from '../base/principal.ts';
import type { Agent } from '../base/schema.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import { type LeftInstance, ownedKey } from '../log/instances.ts';
import { readJournal, type StoredJournal } from '../log/journal-record.ts';
import { type Guard, guardEmitted } from '../permission/guarded.ts';
import { codeRunId } from '../tools/run-scope.ts';
import { approvalsRequestedIn } from './decided-calls.ts';
import { defaultLimits, minLimits } from './limits.ts';
import type { NotRecovered } from './live-run.ts';
import { agentOf, equipped, messagesOf, toolsToday } from './resume-run.ts';
import { deletion, readBasis, type RunBasis } from './run-basis.ts';
import type { RecoveredPart, Resolution, ResumedRun, RunOrigin, RuntimeParts } from './run-context.ts';
import {
  cancelKey,
  type RecordedChunk,
  type RunEnd,
  runPrefix,
  type RunState,
  startedCalls,
  usageKey,
} from './run-record.ts';
import { openingChunks } from './run.ts';
import { continueRun } from './start-run.ts';
import { acceptedMessages } from './steering.ts';
import { endLostRun, endTakenRun, readLog, type StoredRunOptions } from './stored-run.ts';
import { cutTorn, openCallsOf, progressOf, type TornRun, usageOf } from './torn-run.ts';

/** Another instance may have the code of the run: it is given so long. */
const fitsWithinMs = 30_000;

/** Which run to continue. */
interface Recovering {
  readonly runId: string;
  readonly left: LeftInstance;
  readonly stored: StoredRunOptions;
}

/** Continues a run that another instance has left, or ends it with the reason. */
export async function recoverRun(
  runtime: RuntimeParts,
  { runId, left, stored }: Recovering,
  guard: Guard,
): Promise<void> {
  const { storage, runs, closing } = runtime;
  const found = await readJournal<RunState>(storage, runPrefix(runId));
  if (!found || closing.aborted) return;
  const [basis, items] = await Promise.all([
    readBasis(runId, storage),
    readLog(runId, storage, found.head.state.parent),
  ]);
  const steps = progressOf(items);
  const { state } = found.head;
  const mayBeCause = left.cause === 'dead' && basis !== undefined && isSuspicious(state, basis, steps);
  const why = refusalOf(runtime, { basis, state, left }) ??
    (mayBeCause && left.culprit === runId ? 'recovery_limit' : undefined);
  if (why === 'wait') return;
  if (why || !basis?.by) return void await endLostRun(runId, stored, { left, why: why ?? 'not_recorded' });
  const ending = [
    { key: usageKey(runId) },
    ...runtime.keep === 'inputs' ? [] : deletion(await basisChanges(runtime, runId)),
  ];
  const isAlone = mayBeCause && left.culprit === undefined;
  const release = isAlone ? runs.instances.suspect(runId) : () => undefined;
  if (!release) return; // after the suspect of now
  const isCounted = left.cause === 'dead' && (left.culprit ?? runId) === runId;
  const count = (state.recovery?.count ?? 0) + 1;
  let taken: StoredJournal<RunState> | undefined;
  try {
    const next = (before: RunState) => isCounted ? { ...before, recovery: { count, steps } } : before;
    taken = await runs.takeOver({ runId, left, next });
  } finally {
    if (!taken) release(); // also where the storage is away: others wait for it
  }
  if (!taken) return;
  runtime.metrics.count('pinnace_runs_recovered_total', { cause: left.cause });
  try {
    await goOn(runtime, { runId, basis: { ...basis, by: basis.by }, taken, left, ending, guard, release });
  } catch (thrown) {
    release();
    if (closing.aborted) return; // the next instance takes it
    const end: RunEnd = thrown === cancelled
      ? { type: 'cancelled', reason: 'cancelled' }
      : { type: 'interrupted', error: toData(thrown) };
    const changes = [{ key: ownedKey(runs.instances.id, runId) }, ...ending];
    await endTakenRun(runId, stored, { taken, end, changes });
  }
}

/** Why the run is not continued; `wait` where another instance may. */
function refusalOf(
  { agents }: Pick<RuntimeParts, 'agents'>,
  { basis, state, left }: {
    readonly basis: RunBasis | undefined;
    readonly state: RunState;
    readonly left: LeftInstance;
  },
): NotRecovered | 'wait' | undefined {
  if (state.parent || basis?.isDerived) return 'fork';
  if (!basis?.by) return 'not_recorded';
  if (basis.hasCode && !agents.has(basis.agent.id)) return left.sinceMs < fitsWithinMs ? 'wait' : 'no_instance_fits';
  return mostRecoveries(basis) === 0 ? 'recovery_off' : undefined;
}

/** Whether the run may be what kills its processes: it was lost too often, or twice at the same word. */
function isSuspicious({ recovery }: RunState, basis: RunBasis, steps: number): boolean {
  return recovery !== undefined && (recovery.count >= mostRecoveries(basis) || recovery.steps === steps);
}

/** How often the run may be continued. A machine that dies is no fault of it, so not from the same word twice. */
function mostRecoveries({ limits }: Pick<RunBasis, 'limits'>): number {
  return limits.recoveries ?? defaultLimits.recoveries; // records of version 0.2 have no such limit
}

async function basisChanges({ storage }: RuntimeParts, runId: string) {
  const key = [...runPrefix(runId), 'basis', 0];
  const value = (await storage.get(key))?.value;
  return value === undefined ? [] : [{ key, value }];
}

/** Its run was cancelled while no instance had it. */
const cancelled = Symbol('cancelled');

interface Continuing {
  readonly runId: string;
  readonly basis: RunBasis & { readonly by: Principal };
  readonly taken: StoredJournal<RunState>;
  readonly left: LeftInstance;
  readonly ending: readonly { readonly key: readonly (string | number)[] }[];
  readonly guard: Guard;
  /** It is no suspect any more. */
  readonly release: () => void;
}

async function goOn(runtime: RuntimeParts, continuing: Continuing): Promise<void> {
  const { storage, runs, resolver } = runtime;
  const { runId, basis: { by, request }, taken, left, ending, guard, release } = continuing;
  const { state } = taken.head;
  const [isCancelled, items, messages] = await Promise.all([
    storage.get(cancelKey(runId)),
    readLog(runId, storage, state.parent),
    acceptedMessages(runId, storage),
    resolver.refresh(), // what was revoked or disabled meanwhile counts
  ]);
  if (isCancelled) throw cancelled;
  const { deployment: _, ...rights } = by; // is asked for by a request alone
  const principal = createPrincipal(rights);
  const facts = { action: 'run.recover', target: { type: 'run', id: runId } };
  const payload = { cause: left.cause, recovery: state.recovery?.count ?? 0, from: left.id, to: runs.instances.id };
  const { subject } = principal;
  const asked = { ...facts, payload, subject, principal, trace: { traceId: state.traceId } };
  const attempt = 'Cannot continue the run';
  await guardEmitted(guard, { ...asked, attempt, context: { agentId: state.agentId } }, async () => {
    const origin = originOf(runtime, { ...continuing, items });
    const planned = state.planId === undefined ? request : { ...request, planner: { planId: state.planId } };
    const refused = new AbortController();
    const stops = [...runs.watchers].map((watch) => watch(principal, refused));
    const unwatch = (): void => stops.forEach((stop) => stop());
    await continueRun(runtime, planned, {
      terms: { principal, origin, taken: { runId, state }, signals: [refused.signal] },
      open({ limits: { detachGraceMs } }, abort) {
        const live = runs.openTaken({
          runId,
          taken,
          messages,
          ending,
          detachGraceMs,
          abort: (reason) => abort.abort(reason),
        });
        void live.closed.then(unwatch).then(release);
        void storage.get(cancelKey(runId)).then((found) => found && abort.abort('cancelled'), () => undefined);
        return live;
      },
    }).catch((error: unknown) => {
      unwatch();
      throw error;
    });
  });
}

/** Where the run goes on. */
function originOf(
  runtime: RuntimeParts,
  { runId, basis, taken: { head: { state } }, items }: Continuing & { readonly items: readonly RecordedChunk[] },
): RunOrigin {
  const { storage, now } = runtime;
  const parent = { runId, state, basis, items };
  let today: Agent | undefined;
  return {
    agent: (found) => agentOf(today = found, basis.agent),
    async resume(resolved, { principal }) {
      const limits = minLimits(resolved.limits, today?.limits);
      const totalMs = Math.max(1, Math.min(limits.totalMs, state.startedAt + limits.totalMs - now()));
      const left = { ...resolved, limits: { ...limits, totalMs }, continues: state.continues };
      const first = items.length > 0 ? [] : openingOf(runId, { state, basis, resolved });
      if (resolved.plan) return { ...left, resumed: { ...followAgain, opening: first } };
      const [started, used, lost] = await Promise.all([
        startedCalls(runId, storage),
        storage.get(usageKey(runId)),
        items.some(isOfProgram) ? (await runtime.programs()).findLostPrograms(parent, storage) : [],
      ]);
      const programs = lost.filter(({ toolCallId }) => openCallsOf(items).includes(toolCallId));
      const { toolSet } = resolved;
      const hasOutput = wantsOutput(basis);
      const torn = cutTorn(items, { toolSet, started, programs, traceId: state.traceId, hasOutput });
      const place = { parent, basis, cut: torn.cut };
      const allowed = await toolsToday(runtime, left, { today, principal });
      const ready = equipped(runtime, place, { resolved: left, toolSet: allowed, principal });
      const { request, model, answerId, toModel } = await messagesOf(runtime, place, ready);
      const usage = usageOf(items, { note: used?.value as RecoveredPart['usage'] | undefined, torn, basis }); // a `usageNote`
      const { calls, isTorn, waiting, isComplete } = torn;
      const callIds = items.flatMap(({ chunk }) => 'toolCallId' in chunk ? [chunk.toolCallId] : []);
      const resumed: ResumedRun = {
        step: torn.cut.step,
        shownIds: shownIn(items),
        used: { tokens: 0 },
        answerId,
        opening: [
          ...first,
          ...torn.cut.completing,
          ...torn.closing,
          recoveryChunk(state, { torn, of: mostRecoveries(basis) }),
        ],
        programs,
        toModel,
        recovered: { usage, calls, isTorn, waiting, isComplete, callIds },
      };
      return { ...ready, request, messages: model, resumed };
    },
  };
}

function shownIn(items: readonly RecordedChunk[]): readonly string[] {
  return items.flatMap(({ chunk: { type, ...chunk } }) =>
    (type === 'text-start' || type === 'reasoning-start') && 'id' in chunk ? [`${type.slice(0, -6)}:${chunk.id}`] : []
  );
}

/** The chunks before all others, where nothing of the log was committed but its head. */
function openingOf(
  runId: string,
  { state: { traceId }, basis: { request }, resolved }: {
    readonly state: RunState;
    readonly basis: RunBasis;
    readonly resolved: Resolution;
  },
): readonly UIMessageChunk[] {
  const last = request.chat.messages.at(-1);
  const messageId = last && approvalsRequestedIn(last).length > 0 ? last.id : `msg_${runId.slice(4)}`;
  return openingChunks({ runId, traceId, messageId }, resolved.toolSet);
}

/** A plan has an owner of its own: the run only follows it again. */
const followAgain: ResumedRun = {
  step: 1,
  shownIds: [],
  used: { tokens: 0 },
  answerId: '',
  opening: [],
  programs: [],
  toModel: () => [],
};

function isOfProgram({ chunk }: RecordedChunk): boolean {
  return chunk.type === 'tool-input-available' && chunk.toolName === codeRunId;
}

function wantsOutput({ request, agent }: RunBasis): boolean {
  return (request.output ?? agent.output) !== undefined;
}

/** The chunk that shows that another instance goes on. */
function recoveryChunk(
  { recovery }: RunState,
  { torn: { cut: { step }, superseded, unknown, closing }, of }: { readonly torn: TornRun; readonly of: number },
): UIMessageChunk {
  const data = { step, recovery: recovery?.count ?? 0, of, again: closing.length > 0, superseded, unknown };
  return { type: 'data-recovery', data };
}
