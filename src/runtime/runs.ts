/** The runs of a storage, on this and other instances: access, status, reading and canceling. */

import type { PinnaceError } from '../base/errors.ts';
import { type CommitTick, createCommitTick } from '../log/journal.ts';
import { groupCommits } from '../log/group-commit.ts';
import { steadyStorage } from '../log/commits.ts';
import type { Change } from '../contracts/storage.ts';
import { createRunSignals, type RunSignals, type Sending, type SentMessage } from './steering.ts';
import type { acceptRequested } from './send-message.ts';
import { LiveRun, type LiveRunOptions } from './live-run.ts';
import { type Principal, requireScope, type Scope } from '../base/principal.ts';
import { type Claim, type ClaimOptions, type ClaimParts, claimRun, findRun } from './claim-run.ts';
import { reach } from '../permission/ownership.ts';
import {
  badCursor,
  cancelKey,
  expired,
  lastRunOf,
  notFound,
  ownerOfRun,
  runPrefix,
  type RunState,
  type RunStatus,
  toStatus,
} from './run-record.ts';
import { loadOnce } from '../base/load-once.ts';
import {
  createCursor,
  earlierChunks,
  endLostRun,
  readRun,
  type RunCursor,
  type StoredRunOptions,
} from './stored-run.ts';
import type { Notice, NoticeMaker } from '../contracts/notices.ts';
import { Instances, type LeftInstance, ownedKey, type Take } from '../log/instances.ts';
import { type JournalHead, readJournal, type StoredJournal, takeOver } from '../log/journal-record.ts';

const loadSending = /* @__PURE__ */ loadOnce(() => import('./send-message.ts'));

/** An agent that a tenant runs. Two tenants may each have their own agent with one id. */
export interface RunningAgent {
  readonly agentId: string;
  readonly tenant: string;
}

/** The runs of one storage. */
export interface Runs {
  /** Finds the run of a known key. @throws PinnaceError `idempotency_key_reused` for another request. */
  find(principal: Principal, idempotency: ClaimOptions['idempotency']): Promise<RunStatus | undefined>;
  /**
   * Claims the key, uses up the nonce and creates the run, in one commit. When another request has claimed the key, returns that run.
   *
   * @throws PinnaceError `idempotency_key_reused`, and `signature_replayed` for a used nonce.
   */
  claim(
    options: ClaimOptions,
  ): Promise<{ readonly live: LiveRun } | Exclude<Claim, { readonly version: string }>>;
  /**
   * Runs of others are `not_found`, except for administrators of the tenant: with the scope `run:read`, which is the default, they
   * ask the hook for `run.read`, and are audited.
   *
   * @throws PinnaceError `not_found`, `run_expired` for a run past its retention, and as the hook decides.
   */
  status(principal: Principal, runId: string, scope?: Scope): Promise<RunStatus>;
  /** @throws PinnaceError as `status`, and `last_event_id_invalid` when the run has no event of this number. */
  cursor(principal: Principal, runId: string, after: number): Promise<RunCursor>;
  /** The status and the cursor by one look: the hook is asked once, and the audit has one record. Rejects as `cursor`. */
  follow(
    principal: Principal,
    runId: string,
    after: number,
  ): Promise<{ readonly status: Pick<RunStatus, 'state' | 'traceId' | 'lastSeq'>; readonly cursor: RunCursor }>;
  /** Takes over a run that another instance has left; `undefined` where another was faster. */
  takeOver(terms: TakenTerms): Promise<StoredJournal<RunState> | undefined>;
  /** Opens a run that was taken over. */
  openTaken(taken: OpenTaken): LiveRun;
  /** Watch the caller of each run that was taken over, whose request has gone, and abort where that is refused since. */
  readonly watchers: Set<(principal: Principal, stop: AbortController) => () => void>;
  /** Reads a run of any person, for the runtime itself. */
  read(runId: string): Promise<JournalHead<RunState> | undefined>;
  /** The whole record of a run. @throws PinnaceError as `status`. */
  state(principal: Principal, runId: string, scope?: Scope): Promise<RunState>;
  /** The run from its first chunk, as the answer to the request that started it: the scope that starts a run is enough. */
  answer(principal: Principal, runId: string): Promise<RunCursor>;
  /** Asks the run to stop, wherever it is executed. Doing so again, or after its end, changes nothing. */
  cancel(principal: Principal, runId: string): Promise<void>;
  /** Sends a message to the run, wherever it is executed. @throws PinnaceError as `status`, `sendMessage`. */
  send(principal: Principal, sending: Sending): Promise<SentMessage>;
  /** The agents whose runs this instance executes, each once for every tenant that runs it. */
  agents(): readonly RunningAgent[];
  /** Stops this agent's runs of this tenant on this instance. */
  stop(agent: RunningAgent, reason: PinnaceError): void;
  /** The chat's last run, when it is still running; with `ended`, also when it has ended. */
  ofChat(principal: Principal, chatId: string, options?: { readonly ended?: boolean }): Promise<RunStatus | undefined>;
  /** The chunks, as JSON texts, that earlier runs have added to the message of this run. @throws PinnaceError as `status`. */
  earlier(principal: Principal, runId: string): Promise<readonly string[]>;
  readonly instances: Instances;
  /** How many runs this instance executes. */
  readonly open: number;
  /** Gives up the runs that are left: other instances go on with them. */
  handOver(): Promise<void>;
  /** Resolves when no run of this instance is left. */
  drained(): Promise<void>;
  close(): void;
}

/** Which run to take over. */
interface TakenTerms {
  readonly runId: string;
  readonly left: LeftInstance;
  readonly next: (state: RunState) => RunState;
}

/** A run that was taken over. */
interface OpenTaken extends Pick<LiveRunOptions, 'runId' | 'messages' | 'ending' | 'detachGraceMs' | 'abort'> {
  readonly taken: StoredJournal<RunState>;
}

/** The options of the runs. */
export interface RunsOptions extends Omit<StoredRunOptions, 'instances' | 'announce'> {
  readonly retentionMs: number;
  /** Chunks of a run that come within this time are committed together. */
  readonly commitSpacingMs: number;
  /** Is called before an administrator reads the run of another; rejects where that is refused. */
  readonly readAs: (runId: string, principal: Principal, run: RunState) => Promise<void>;
  /** Makes the notices of ended runs; absent where nobody is sent any. */
  readonly notices: NoticeMaker | undefined;
  /** Continues a run that another instance has left, or ends it; absent where this instance continues none. */
  readonly recover: ((runId: string, left: LeftInstance, stored: StoredRunOptions) => Promise<void>) | undefined;
  /** Takes over a plan that another instance has left. */
  readonly takePlan: Take;
}

/** Opens the runs of a storage. */
export function createRuns(options: RunsOptions): Runs {
  const closing = new AbortController();
  const shared = openShared(options, closing.signal);
  const { lives, instances } = shared;
  return {
    instances,
    watchers: new Set(),
    takeOver: (terms) => takeOverRun(shared, terms),
    openTaken: (taken) => openTaken(shared, taken),
    read: (runId) => readRun(runId, shared.stored),
    find: (principal, idempotency) => findRun(shared, principal, idempotency),
    status: (principal, runId, scope) => statusOf(shared, { principal, runId, scope }),
    state: async (principal, runId, scope) => (await headOf(shared, { principal, runId, scope })).state,
    claim: (given) => claimLive(shared, given),
    ...readingOf(shared),
    agents() {
      const running = [...lives.values()].map(({ state: { agentId, tenant } }) => ({ agentId, tenant }));
      return [...new Map(running.map((one) => [JSON.stringify([one.agentId, one.tenant]), one])).values()];
    },
    stop({ agentId, tenant }, reason) {
      for (const live of lives.values()) {
        if (live.state.agentId === agentId && live.state.tenant === tenant) live.abort(reason);
      }
    },
    get open() {
      return lives.size;
    },
    async handOver() {
      const left = options.recover ? [...lives.values()].filter(({ state }) => !state.parent) : []; // a fork is not continued
      await Promise.all(left.map((live) => live.release()));
      if (!options.recover && lives.size > 0) return; // they still end here
      await instances.leave().catch(() => undefined); // the storage is away: then it is silent
    },
    async drained() {
      await Promise.all([...lives.values()].map(({ closed }) => closed));
    },
    close: () => closing.abort(),
  };
}

/** What the methods share. */
interface Shared extends ClaimParts {
  readonly options: RunsOptions;
  readonly lives: Map<string, LiveRun>;
  readonly signals: RunSignals;
  readonly tick: CommitTick;
}

function openShared(options: RunsOptions, closing: AbortSignal): Shared {
  const { now, storageGraceMs, ttlMs, emit, metrics } = options;
  const grouped = groupCommits(options.storage);
  const storage = steadyStorage(grouped, storageGraceMs);
  const lives = new Map<string, LiveRun>();
  const instances: Instances = new Instances({
    storage,
    rooms: { run: (runId, left) => takeRun({ runId, left }, stored, options.recover), plan: options.takePlan },
  });
  const announce: StoredRunOptions['announce'] = (runId, state) => options.notices?.changes(endOf(runId, state)) ?? [];
  const stored: StoredRunOptions = { storage, now, ttlMs, storageGraceMs, emit, metrics, instances, announce };
  const signals = createRunSignals(storage, {
    onCancel: (runId) => lives.get(runId)?.abort('cancelled'),
    onMessage(runId, messageId) {
      const live = lives.get(runId);
      if (live) void acceptSent({ runId, messageId, inbox: live.inbox }, stored);
    },
  }, closing);
  closing.addEventListener('abort', () => instances.close(), { once: true });
  return { options, grouped, stored, lives, signals, instances, tick: createCommitTick(options.commitSpacingMs, now) };
}

/** Takes a run that an instance has left. */
async function takeRun(
  { runId, left }: { readonly runId: string; readonly left: LeftInstance },
  stored: StoredRunOptions,
  recover: RunsOptions['recover'],
): Promise<void> {
  const { storage } = stored;
  const head = (await readJournal<RunState>(storage, runPrefix(runId)))?.head;
  // It had ended, or another instance has it.
  const isOver = head?.instance !== left.id || head.state.state !== 'running';
  if (isOver) await storage.commit([{ key: ownedKey(left.id, runId) }]);
  else if (recover) await recover(runId, left, stored);
  else await endLostRun(runId, stored, { left, why: 'recovery_off' });
}

async function acceptSent(...request: Parameters<typeof acceptRequested>): Promise<void> {
  try {
    await (await loadSending()).acceptRequested(...request);
  } catch {
    // The code did not load. The sender repeats its signal until it has an answer.
  }
}

interface Asked {
  readonly principal: Principal;
  readonly runId: string;
  readonly scope?: Scope | undefined;
}

async function statusOf(shared: Shared, asked: Asked): Promise<RunStatus> {
  return toStatus(asked.runId, await headOf(shared, asked));
}

async function headOf(
  { options: { retentionMs, now, readAs }, lives, stored }: Shared,
  { principal, runId, scope = 'run:read' }: Asked,
): Promise<{ readonly seq: number; readonly state: RunState }> {
  requireScope(principal, scope);
  const live = lives.get(runId);
  const head = live ? { seq: live.visible, state: live.state } : await readRun(runId, stored);
  const how = head && reach(principal, ownerOfRun(head.state));
  if (!head || !how) throw notFound();
  const { endedAt = Infinity, expiresAt = Infinity } = head.state;
  if (Math.min(endedAt + retentionMs, expiresAt) < now()) throw expired();
  // Other scopes are those of actions, which ask the hook themselves.
  if (how === 'admin' && scope === 'run:read') await readAs(runId, principal, head.state);
  return head;
}

async function claimLive(shared: Shared, given: ClaimOptions): ReturnType<Runs['claim']> {
  shared.signals.subscribe();
  const claim = await claimRun(shared, given);
  return 'version' in claim ? { live: openLive(shared, given, claim.version) } : claim;
}

function openLive(shared: Shared, given: ClaimOptions, version: string): LiveRun {
  const { options, grouped: storage, tick, instances: { id: instance } } = shared;
  const { runId } = given;
  return keepLive(
    shared,
    runId,
    new LiveRun({
      ...options,
      ...given,
      storage,
      version,
      owner: { fence: 1, instance },
      ending: [{ key: ownedKey(instance, runId) }, ...given.ending ?? [], ...announced(shared, runId, given.state)],
      tick,
      first: given.log?.seq ?? 0,
    }),
  );
}

/** Takes over what an instance has left. */
async function takeOverRun(
  { options: { now, ttlMs }, grouped: storage, instances }: Shared,
  { runId, left, next }: TakenTerms,
): Promise<StoredJournal<RunState> | undefined> {
  return await takeOver<RunState>({
    storage,
    prefix: runPrefix(runId),
    now,
    ttlMs,
    instance: instances.id,
    when: ({ instance, state }) => instance === left.id && state.state === 'running',
    next,
    changes: [
      ...left.checks,
      ...instances.join(runId),
      ...left.id === instances.id ? [] : [{ key: ownedKey(left.id, runId) }],
      { key: ownedKey(instances.id, runId), value: true, ttlMs },
    ],
  });
}

function openTaken(shared: Shared, { runId, taken: { head, version }, ending, ...given }: OpenTaken): LiveRun {
  const { options, grouped: storage, tick, instances } = shared;
  const { state, seq: first, fence, owner, instance } = head;
  return keepLive(
    shared,
    runId,
    new LiveRun({
      ...options,
      ...given,
      storage,
      runId,
      state,
      first,
      version,
      owner: { fence, ...(owner !== undefined && { owner }), ...(instance !== undefined && { instance }) },
      ending: [{ key: ownedKey(instances.id, runId) }, ...ending, ...announced(shared, runId, state)],
      tick,
    }),
  );
}

function announced({ stored }: Shared, runId: string, state: RunState): readonly Change[] {
  return stored.announce?.(runId, state) ?? [];
}

/** The notice of a run's end. How it has ended is read when the notice is sent. */
function endOf(item: string, state: RunState): Notice {
  const { tenant, startedAt: at, agentId, chatId } = state;
  const { subject } = ownerOfRun(state);
  return { type: 'run.ended', tenant, item, at, data: { kind: 'run', agentId, chatId, subject } };
}

function keepLive(
  { lives, instances, options: { notices } }: Pick<Shared, 'lives' | 'instances' | 'options'>,
  runId: string,
  live: LiveRun,
): LiveRun {
  lives.set(runId, live);
  instances.claimed(runId);
  if (notices) void live.closed.then(() => notices.send());
  void live.closed.then(() => (lives.delete(runId), instances.released(runId)));
  void live.closed.then(() => live.unrecorded.length > 0 && instances.abandon(runId));
  return live;
}

function readingOf(
  shared: Shared,
): Pick<Runs, 'answer' | 'cursor' | 'follow' | 'cancel' | 'send' | 'ofChat' | 'earlier'> {
  const { options, lives, stored, signals } = shared;
  const follow: Runs['follow'] = async (principal, runId, after) => {
    const { seq: lastSeq, state: { state, traceId, parent } } = await headOf(shared, { principal, runId });
    const live = lives.get(runId);
    if (!Number.isInteger(after) || after < 0 || after > Math.max(lastSeq, live?.visible ?? 0)) throw badCursor();
    return { status: { state, traceId, lastSeq }, cursor: createCursor(runId, { after, live, stored, parent }) };
  };
  return {
    async answer(principal, runId) {
      const { state: { parent } } = await headOf(shared, { principal, runId, scope: 'run:create' });
      return createCursor(runId, { after: 0, live: lives.get(runId), stored, parent });
    },
    cursor: async (principal, runId, after) => (await follow(principal, runId, after)).cursor,
    follow,
    async cancel(principal, runId) {
      const { state } = await statusOf(shared, { principal, runId, scope: 'run:cancel' });
      if (state !== 'running') return;
      const live = lives.get(runId);
      if (live && !live.takenOver) return live.abort('cancelled');
      // Between two owners the signal is not heard: the next one finds this.
      await stored.storage.commit([{ key: cancelKey(runId), value: true, ttlMs: options.ttlMs }]);
      await signals.cancel(runId);
    },
    async send(principal, sending) {
      const { runId } = sending;
      const { state } = await statusOf(shared, { principal, runId, scope: 'run:create' });
      const { sendMessage } = await loadSending();
      return await sendMessage(sending, { ...shared, state, live: lives.get(runId) });
    },
    async ofChat(principal, chatId, { ended = false } = {}) {
      requireScope(principal, 'run:read');
      const runId = await lastRunOf(stored.storage, principal, chatId);
      if (runId === undefined) return undefined;
      const found = await statusOf(shared, { principal, runId });
      return ended || found.state === 'running' ? found : undefined;
    },
    async earlier(principal, runId) {
      await statusOf(shared, { principal, runId });
      return await earlierChunks(runId, stored.storage);
    },
  };
}
