/** A stored run: its state, its events, and its end when the instance that executed it was lost. */

import type { Metrics } from '../base/metrics.ts';
import { charactersPerToken } from '../base/text.ts';
import { comingBack } from '../base/until-aborted.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { ErrorData, PinnaceError } from '../base/errors.ts';
import type { Emit } from '../events/events.ts';
import { openJournal } from '../log/journal.ts';
import {
  headKey,
  type JournalHead,
  readItems,
  readJournal,
  readLastSeq,
  type StoredJournal,
  takeOver,
} from '../log/journal-record.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import { haveOneOwner, type OwnedRecord } from '../permission/ownership.ts';
import { handedOver, type LiveRun, type NotRecovered, workerLost } from './live-run.ts';
import {
  chatBefore,
  closingChunks,
  expired,
  type ForkedFrom,
  lossAt,
  ownerBefore,
  ownerOfRun,
  placeOf,
  type RecordedChunk,
  type ReportedUsage,
  type RunEnd,
  type RunEvent,
  runPrefix,
  type RunState,
  spanOfRun,
  startedCalls,
  usageKey,
} from './run-record.ts';
import { createOpenCalls, lostChunks, lostError, type OpenCall } from '../tools/call-ends.ts';
import { recordChange, undeliveredChunk, waitingMessages } from './steering.ts';
import { statusOfError } from '../events/span.ts';
import { createNews, type News, watchKey } from '../log/bulletin.ts';
import { type Instances, type LeftInstance, ownedKey } from '../log/instances.ts';

/** What reading a stored run needs. */
export interface StoredRunOptions {
  readonly storage: Storage;
  readonly now: () => number;
  /** How long records are stored. */
  readonly ttlMs: number;
  /** How long the owner of a run outlasts a storage that is out of reach. */
  readonly storageGraceMs: number;
  /** Receives the end of a lost run. */
  readonly emit: Emit;
  readonly metrics: Metrics;
  readonly instances: Pick<Instances, 'ask' | 'id'>;
  /** The changes that announce the end of a run. */
  readonly announce?: ((runId: string, state: RunState) => readonly Change[]) | undefined;
}

/** A run of version 0.2 names no instance: without a commit for this long and the grace, it is lost. */
const lostAfterMs = 15_000;

/** Reads the state of a run. Where another instance executes it, that one is looked at: it may be dead. */
export async function readRun(runId: string, options: StoredRunOptions): Promise<JournalHead<RunState> | undefined> {
  const found = await readJournal<RunState>(options.storage, runPrefix(runId));
  if (!found || found.head.state.state !== 'running') return found?.head;
  const { head: { instance, at } } = found;
  if (instance !== undefined) options.instances.ask(instance, runId);
  if (instance !== undefined || options.now() - at < lostAfterMs + options.storageGraceMs) {
    return await withLastSeq(runId, found.head, options);
  }
  return await endLostRun(runId, options, { why: 'not_recorded' }) ??
    (await readJournal<RunState>(options.storage, runPrefix(runId)))?.head;
}

async function withLastSeq(
  runId: string,
  head: JournalHead<RunState>,
  { storage }: StoredRunOptions,
): Promise<JournalHead<RunState>> {
  return { ...head, seq: await readLastSeq(storage, runPrefix(runId), head.seq) };
}

/**
 * Reads the events behind `after`, some at a time; none when there are no more for now. `parent` is that of the run's state.
 *
 * @throws PinnaceError `run_expired` where what a fork shares has expired.
 */
export async function readEvents(
  runId: string,
  after: number,
  storage: Storage,
  parent?: ForkedFrom,
): Promise<readonly RunEvent[]> {
  const place = parent && placeOf(runId, parent, after);
  if (!place) return (await readItems(storage, runPrefix(runId), after)).map(({ seq, item }) => ({ seq, text: item }));
  const items = await readItems(storage, runPrefix(place.runId), place.after);
  const events = items.flatMap(({ seq, item }) => seq > place.to ? [] : [{ seq: seq + place.shift, text: item }]);
  if (events[0]?.seq !== after + 1) throw expired();
  return events;
}

/** Reads the whole log of a run. `parent` and errors are those of `readEvents`. */
export async function readLog(
  runId: string,
  storage: Storage,
  parent?: ForkedFrom,
): Promise<readonly RecordedChunk[]> {
  const log: RecordedChunk[] = [];
  for (let after = 0;;) {
    const events = await readEvents(runId, after, storage, parent);
    for (const { seq, text } of events) log.push({ seq, text, chunk: JSON.parse(text) as UIMessageChunk }); // `record` alone writes them
    if (events.length === 0) return log;
    after = events.at(-1)?.seq ?? after;
  }
}

/** A message that more runs than these have made loses what its oldest have recorded. */
const maxRuns = 16;

/** Reads the logs of a run and of those that it continues, the first one first; runs of another person, chat or agent are left out. */
export async function readMessageLog(
  { runId, ...of }: {
    readonly runId: string | undefined;
    readonly owner: OwnedRecord;
    readonly chatId: string;
    readonly agentId?: string;
  },
  storage: Storage,
): Promise<readonly RecordedChunk[]> {
  const logs: (readonly RecordedChunk[])[] = [];
  for (let [id, { owner, chatId }] = [runId, of]; id !== undefined && logs.length < maxRuns;) {
    const state: RunState | undefined = (await readJournal<RunState>(storage, runPrefix(id)))?.head.state;
    if (!state || !haveOneOwner(owner, ownerOfRun(state)) || state.chatId !== chatId) break;
    if (of.agentId !== undefined && state.agentId !== of.agentId) break;
    logs.unshift(await readLog(id, storage, state.parent));
    [id, owner, chatId] = [state.continues, ownerBefore(state), chatBefore(state)];
  }
  return logs.flat();
}

/** Chunks that open or end a stream: a message has one stream, that of its last run. */
const framing: ReadonlySet<string> = new Set(['start', 'finish', 'abort', 'error']);

/** Returns what earlier runs have added to the message that a run continues, as JSON texts of chunks. */
export async function earlierChunks(runId: string, storage: Storage): Promise<readonly string[]> {
  const state = (await readJournal<RunState>(storage, runPrefix(runId)))?.head.state;
  if (!state) return [];
  const before = { runId: state.continues, owner: ownerBefore(state), chatId: chatBefore(state) };
  const log = await readMessageLog(before, storage);
  return log.flatMap(({ chunk, text }) => framing.has(chunk.type) ? [] : [text]);
}

/** Takes over a lost run that no instance continues, and appends its end; `left` is the instance that has owned it. */
export async function endLostRun(
  runId: string,
  options: StoredRunOptions,
  { left, why }: { readonly left?: LeftInstance; readonly why: NotRecovered },
): Promise<JournalHead<RunState> | undefined> {
  const taken = await takeOver<RunState>({
    ...options,
    prefix: runPrefix(runId),
    when: ({ instance, state }) => state.state === 'running' && instance === left?.id,
    ...(left && { changes: left.checks }),
  });
  if (!taken) return undefined; // another instance was faster
  const changes = left ? [{ key: ownedKey(left.id, runId) }] : [];
  return await endTakenRun(runId, options, { taken, end: workerLost(why), changes });
}

/** Appends the end of a run that was taken over. Calls of it that may have acted have an unknown outcome. */
export async function endTakenRun(
  runId: string,
  options: StoredRunOptions,
  { taken: { head, version }, end, changes: others }: {
    readonly taken: StoredJournal<RunState>;
    readonly end: RunEnd;
    readonly changes: readonly Change[];
  },
): Promise<JournalHead<RunState> | undefined> {
  const { storage, now, ttlMs, storageGraceMs: graceMs, announce } = options;
  const [{ calls, ...said }, note, messages] = await Promise.all([
    readLost(runId, storage, end),
    storage.get(usageKey(runId)),
    waitingMessages(runId, storage),
  ]);
  const usage = usageOfLost(said, note?.value as ReportedUsage | undefined, now() - head.state.startedAt); // a `usageNote`
  const chunks = [
    ...calls.flatMap(({ call, error }) => lostChunks(call, { error, traceId: head.state.traceId })),
    ...messages.map(undeliveredChunk),
    ...closingChunks(end, { runId, traceId: head.state.traceId, usage }),
  ];
  let lost: PinnaceError | undefined;
  const journal = openJournal<RunState>({
    storage,
    prefix: runPrefix(runId),
    head,
    version,
    now,
    ttlMs,
    graceMs,
    onCommit: () => undefined,
    onLost: (error) => (lost = error),
  });
  const state: RunState = {
    ...head.state,
    state: end.type,
    endedAt: now(),
    usage,
    ...('error' in end && { error: end.error }),
  };
  const changes = [
    ...messages.map((message) => recordChange(runId, { message, state: 'undelivered' }, ttlMs)),
    { key: usageKey(runId) },
    ...others,
    ...announce?.(runId, state) ?? [],
  ];
  journal.append(chunks.map((chunk) => JSON.stringify(chunk)), { state, changes });
  await journal.flush().catch(() => undefined);
  if (lost) return undefined;
  options.metrics.count('pinnace_runs_total', { state: end.type });
  emitLost(runId, { state, calls }, options);
  return { ...head, seq: head.seq + chunks.length, state };
}

interface LostCall {
  readonly call: OpenCall;
  readonly error: ErrorData;
}

/** What the log says that the run has done. */
interface Said {
  readonly steps: number;
  readonly toolCalls: number;
  /** The length of what the last step has shown. */
  readonly shown: number;
}

/** Also has the calls that the log shows as open: a started one that may have acted is on record. */
async function readLost(
  runId: string,
  storage: Storage,
  end: RunEnd,
): Promise<Said & { readonly calls: readonly LostCall[] }> {
  const open = createOpenCalls();
  let [steps, toolCalls, shown] = [0, 0, 0];
  for (const { chunk } of await readLog(runId, storage)) {
    if ('toolCallId' in chunk) open.observe(chunk);
    if (chunk.type === 'tool-input-available' && chunk.providerExecuted !== true) toolCalls++;
    if (chunk.type === 'start-step') [steps, shown] = [steps + 1, 0];
    if ('delta' in chunk && typeof chunk.delta === 'string') shown += chunk.delta.length;
  }
  const said = { steps, toolCalls, shown };
  if (open.list().length === 0) return { ...said, calls: [] };
  const started = await startedCalls(runId, storage);
  const calls = open.list().map((call) => {
    return { call, error: lostError(call, { loss: lossAt(end), mayHaveActed: started.has(call.toolCallId) }) };
  });
  return { ...said, calls };
}

/** What the run has used: what was noted before its last step, and of that step an estimate of its answer. */
function usageOfLost({ steps, toolCalls, shown }: Said, note: ReportedUsage = {}, durationMs: number): ReportedUsage {
  const plus = (name: string): number => Number(note[name] ?? 0) + Math.ceil(shown / charactersPerToken);
  const counts = { steps, toolCalls, outputTokens: plus('outputTokens'), totalTokens: plus('totalTokens') };
  return { ...note, ...counts, durationMs, estimated: true };
}

/** Emits the end that no other instance can emit, and of the calls what went wrong. */
function emitLost(
  runId: string,
  { state, calls }: { readonly state: RunState; readonly calls: readonly LostCall[] },
  options: StoredRunOptions,
): void {
  const { span: facts, startedAt, error = null } = state;
  if (!facts) return;
  const span = spanOfRun({ ...state, ...facts, subject: ownerOfRun(state).subject ?? '', runId, startedAt }, options);
  for (const { call, error: lost } of calls) {
    if (lost.code !== 'outcome_unknown') continue; // of a call that never started, the name is only what a model wrote
    const target = { type: 'tool', id: call.tool };
    span.emit({ action: 'error', target, status: statusOfError(lost), error: lost });
  }
  span.end({ status: state.state === 'cancelled' ? 'cancelled' : 'error', error, payload: { state: state.state } });
}

/** Reads a run's events from a number on. A slow reader costs nothing. */
export interface RunCursor {
  /** The next events, some at a time; `undefined` when the run has ended and all are read. */
  next(): Promise<readonly RunEvent[] | undefined>;
  /** Leaves. The run continues for a while, so that the reader can resume. */
  close(): void;
}

const pollMs = 250;

/** Opens a cursor behind the event `after`. */
export function createCursor(
  runId: string,
  { after, live, stored, parent }: {
    readonly after: number;
    readonly live: LiveRun | undefined;
    readonly stored: StoredRunOptions;
    readonly parent: ForkedFrom | undefined;
  },
): RunCursor {
  live?.attach();
  let at = after;
  let closed = false;
  let ended = false;
  let news: News | undefined;
  const read = async (): Promise<readonly RunEvent[] | undefined> => {
    if (live && at < live.first) return await readEvents(runId, at, stored.storage, parent);
    const observed = await live?.read(at);
    if (observed) return observed;
    if (live?.released) throw handedOver(); // the reader comes back elsewhere, or when this process is started again
    if (live && !live.takenOver) return unrecorded();
    // Events that the head counts and the log lacks never come: a storage has broken its rules.
    for (let missing = 0; !closed;) {
      const events = await readEvents(runId, at, stored.storage, parent);
      if (events.length > 0) return events;
      const head = await readRun(runId, stored);
      missing = head && head.seq > at ? missing + 1 : 0;
      const isAll = missing === 0 || missing > 2;
      if (isAll && head?.state.state !== 'running') return undefined;
      if (isAll) await untilGrown();
    }
    return undefined;
  };
  /** Returns the events behind the log, once. They have its last number, so a reader that resumes misses nothing of the log. */
  const unrecorded = (): readonly RunEvent[] | undefined => {
    if (ended || !live || live.unrecorded.length === 0) return undefined;
    ended = true;
    return live.unrecorded.map((text) => ({ seq: at, text }));
  };
  /** Resolves when the log may have grown. The first time at once: what came before the news started must be read again. */
  const untilGrown = async (): Promise<void> => {
    if (news) return await news.next();
    news = createNews((onNews) => watchRun(runId, stored.storage, onNews));
  };
  return {
    async next() {
      const events = closed ? undefined : await read();
      if (!events) news?.stop();
      at = events?.at(-1)?.seq ?? at;
      return events;
    },
    close() {
      if (closed) return;
      closed = true;
      news?.stop();
      live?.detach();
    },
  };
}

/** Also calls back now and then: no news says that a run was lost, or that chunks came without a new head. */
export function watchRun(runId: string, storage: Storage, onNews: () => void): () => void {
  const stop = watchKey(storage, headKey(runPrefix(runId)), onNews);
  const timer = setInterval(onNews, pollMs);
  return () => {
    clearInterval(timer);
    stop();
  };
}

/** Returns the chunks that a cursor reads, on demand. Canceling closes the cursor and calls back, except with {@link comingBack}. */
export function chunksOf(cursor: RunCursor, onCancel: () => void): ReadableStream<UIMessageChunk> {
  return new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      const events = await cursor.next();
      // Written by `record` alone, so each is a chunk.
      for (const { text } of events ?? []) controller.enqueue(JSON.parse(text) as UIMessageChunk);
      if (events) return;
      cursor.close();
      controller.close();
    },
    cancel(reason) {
      cursor.close();
      if (reason !== comingBack) onCancel();
    },
  }, { highWaterMark: 0 });
}
