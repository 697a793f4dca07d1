/** A stored run: its state, its events, and its end when the instance that executed it was lost. */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { ErrorData, PinnaceError } from '../../base/errors.ts';
import type { Emit } from '../../events/events.ts';
import { openJournal } from '../../log/journal.ts';
import { type JournalHead, readItems, readJournal, readLastSeq } from '../../log/journal-record.ts';
import { takeOver } from '../../log/take-over.ts';
import type { Storage } from '../../contracts/storage.ts';
import { workerLost } from './live-run.ts';
import { lossAt, type RunEnd } from './run-end.ts';
import { ownerOfRun, type RunEvent, runPrefix, type RunState } from './run-record.ts';
import { closingChunks } from './run-chunks.ts';
import { expired } from './run-errors.ts';
import { type ForkedFrom, placeOf } from './stitched-log.ts';
import { startedCalls } from './call-record.ts';
import { createOpenCalls, lostChunks, lostError, type OpenCall } from '../../tools/call-ends.ts';
import { spanOfRun } from '../run-span.ts';
import { recordChange, undeliveredChunk, waitingMessages } from '../steering/message-record.ts';
import { statusOfError } from '../../events/span.ts';

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
}

/**
 * Without a sign of life for this long and the grace, a running run is lost. Its owner stops before: at most 5 s pass between two signs,
 * 5 s until the storage is known not to answer, then the grace.
 */
const lostAfterMs = 15_000;

/** Reads the state of a run; ends a lost run as failed first. */
export async function readRun(runId: string, options: StoredRunOptions): Promise<JournalHead<RunState> | undefined> {
  const found = await readJournal<RunState>(options.storage, runPrefix(runId));
  if (!found || found.head.state.state !== 'running') return found?.head;
  if (options.now() - found.head.at < lostAfterMs + options.storageGraceMs) {
    return await withLastSeq(runId, found.head, options);
  }
  return await endLostRun(runId, options) ?? (await readJournal<RunState>(options.storage, runPrefix(runId)))?.head;
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

/** Appends the end of a lost run. Never runs anything again: what its tools did is not known. */
async function endLostRun(runId: string, options: StoredRunOptions): Promise<JournalHead<RunState> | undefined> {
  const { storage, now, ttlMs, storageGraceMs: graceMs } = options;
  const taken = await takeOver<RunState>({ ...options, prefix: runPrefix(runId) });
  if (!taken) return undefined; // another instance was faster
  const { head, version } = taken;
  const end = workerLost();
  const [calls, messages] = await Promise.all([lostCalls(runId, storage, end), waitingMessages(runId, storage)]);
  const chunks = [
    ...calls.flatMap(({ call, error }) => lostChunks(call, { error, traceId: head.state.traceId })),
    ...messages.map(undeliveredChunk),
    ...closingChunks(end, { runId, traceId: head.state.traceId, usage: {} }),
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
    state: 'failed',
    endedAt: now(),
    ...('error' in end && { error: end.error }),
  };
  const changes = messages.map((message) => recordChange(runId, { message, state: 'undelivered' }, ttlMs));
  journal.append(chunks.map((chunk) => JSON.stringify(chunk)), { state, changes });
  await journal.flush().catch(() => undefined);
  if (lost) return undefined;
  emitLost(runId, { state, calls }, options);
  return { ...head, seq: head.seq + chunks.length, state };
}

interface LostCall {
  readonly call: OpenCall;
  readonly error: ErrorData;
}

/** The calls that the log shows as open: a started one that may have acted is on record. */
async function lostCalls(runId: string, storage: Storage, end: RunEnd): Promise<readonly LostCall[]> {
  const open = createOpenCalls();
  for (let after = 0, page; page === undefined || page.length > 0; after = page.at(-1)?.seq ?? after) {
    page = await readItems(storage, runPrefix(runId), after);
    for (const { item } of page) {
      if (item.includes('"toolCallId"')) open.observe(JSON.parse(item) as UIMessageChunk); // what `record` wrote
    }
  }
  if (open.list().length === 0) return [];
  const started = await startedCalls(runId, storage);
  const loss = lossAt(end);
  return open.list().map((call) => {
    return { call, error: lostError(call, { loss, mayHaveActed: started.has(call.toolCallId) }) };
  });
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
  span.end({ status: 'error', error, payload: { state: state.state } });
}
