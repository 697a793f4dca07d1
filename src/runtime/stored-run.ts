/** A run as the storage has it: its state, its events, and its end when the instance that executed it is gone. */

import type { PinnaceError } from '../errors.ts';
import type { Emit } from '../events.ts';
import { type JournalHead, openJournal, readHead, readItems, takeOver } from '../journal.ts';
import type { Storage } from '../ports.ts';
import { workerLost } from './live-run.ts';
import { type RunEvent, runPrefix, type RunState } from './run-record.ts';
import { closingChunks } from './run-chunks.ts';
import { lostCalls } from './call-record.ts';
import { spanOfRun } from './run-span.ts';

/** What reading a stored run needs. */
export interface StoredRunOptions {
  readonly storage: Storage;
  readonly now: () => number;
  /** How long records are kept. */
  readonly ttlMs: number;
  /** How long the owner of a run outlasts a storage that is out of reach. */
  readonly storageGraceMs: number;
  /** Is told of the end of a lost run. */
  readonly emit: Emit;
}

/**
 * Without a sign of life for this long and the grace, a running run is lost. Its owner stops before: at most 5 s pass between two signs,
 * 5 s until the storage is known not to answer, then the grace.
 */
const lostAfterMs = 15_000;

/** Reads the state of a run; a run whose instance is gone is ended first, as failed. */
export async function readRun(runId: string, options: StoredRunOptions): Promise<JournalHead<RunState> | undefined> {
  const found = await readHead<RunState>(options.storage, runPrefix(runId));
  if (!found || found.head.state.state !== 'running') return found?.head;
  if (options.now() - found.head.at < lostAfterMs + options.storageGraceMs) return found.head;
  return await endLostRun(runId, options) ?? (await readHead<RunState>(options.storage, runPrefix(runId)))?.head;
}

/** Reads the events behind `after`, some at a time; none when there are no more for now. */
export async function readEvents(
  runId: string,
  after: number,
  storage: Storage,
): Promise<readonly RunEvent[]> {
  const items = await readItems(storage, runPrefix(runId), after);
  return items.map(({ seq, item }) => ({ seq, text: item }));
}

/** Appends the end of a lost run. Never runs anything again: what its tools did is not known. */
async function endLostRun(runId: string, options: StoredRunOptions): Promise<JournalHead<RunState> | undefined> {
  const { storage, now, ttlMs, storageGraceMs: graceMs } = options;
  const taken = await takeOver<RunState>({ ...options, prefix: runPrefix(runId) });
  if (!taken) return undefined; // another instance was faster
  const { head, version } = taken;
  const end = workerLost();
  const calls = await lostCalls(runId, storage);
  const chunks = [
    ...calls.chunks(head.state.traceId),
    ...closingChunks(end, { runId, traceId: head.state.traceId, usage: {} }),
  ];
  let lost: PinnaceError | undefined;
  const journal = openJournal<RunState>({
    storage,
    prefix: runPrefix(runId),
    head,
    version,
    now,
    spacingMs: 0,
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
  journal.append(chunks.map((chunk) => JSON.stringify(chunk)), { state });
  await journal.flush().catch(() => undefined);
  if (lost) return undefined;
  tellLost(runId, state, options);
  return { ...head, seq: head.seq + chunks.length, state };
}

/** Tells of the end that nobody was left to tell of. */
function tellLost(runId: string, state: RunState, options: StoredRunOptions): void {
  const { span, startedAt, error = null } = state;
  if (!span) return;
  spanOfRun({ ...state, ...span, runId, beganAt: startedAt }, options).end({
    status: 'error',
    error,
    payload: { state: state.state },
  });
}
