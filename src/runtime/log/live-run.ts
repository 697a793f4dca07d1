/** A run that this instance executes and records. */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import { type ErrorData, PinnaceError, toData } from '../../base/errors.ts';
import type { CommitTick } from '../../log/commit-tick.ts';
import { type Journal, openJournal } from '../../log/journal.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Change, Storage } from '../../contracts/storage.ts';
import { createEventBuffer, type EventBuffer } from './event-buffer.ts';
import { createReaders, type Readers } from './readers.ts';
import { closingChunks, type ReportedUsage } from './run-chunks.ts';
import { runPrefix, type RunState } from './run-record.ts';
import type { RunEnd } from './run-end.ts';
import { createInbox, type Inbox } from '../steering/inbox.ts';

/** The limits of one run's stream: events, and UTF-16 code units of JSON. */
const maxEvents = 10_000;
const maxLength = 8 * 1_048_576;
const maxEventLength = 262_144;
/** The head is committed at least this often, so that no other instance takes the run for lost. */
const heartbeatMs = 5_000;
/** Commits of chunks alone leave the head for less than a heartbeat, so that each heartbeat writes it. */
const headMs = 4_000;

/** The options of a live run. */
export interface LiveRunOptions {
  readonly storage: Storage;
  readonly runId: string;
  readonly state: RunState;
  /** The number of the last event that the log starts with. */
  readonly first: number;
  /** The version of the new log's head. */
  readonly version: string;
  readonly now: () => number;
  readonly ttlMs: number;
  readonly metrics: Metrics;
  /** When chunks are committed. */
  readonly tick: CommitTick;
  /** How long the run goes on after its last reader has left. */
  readonly detachGraceMs: number;
  /** How long the run outlasts a storage that is out of reach. */
  readonly storageGraceMs: number;
  /** Stops the run: its signal. */
  readonly abort: (reason: unknown) => void;
}

/** A live run. Readers see only committed events, which every instance can replay. */
export interface LiveRun extends Pick<Readers, 'attach' | 'detach'>, Pick<EventBuffer, 'read' | 'visible'> {
  readonly state: RunState;
  /** Events up to this number are read from the storage. */
  readonly first: number;
  /** The messages that arrive while the run works. */
  readonly inbox: Inbox;
  /** Resolves when the run has ended and its log is committed, or is no longer ours. */
  readonly closed: Promise<void>;
  /** Whether another instance has it now, so that its end is to be read in the storage. */
  readonly takenOver: boolean;
  /** The last events of a run whose storage stayed out of reach. They are not in its log, and have no number there. */
  readonly unrecorded: readonly string[];
  record(chunk: UIMessageChunk): void;
  /** Commits the change together with the next chunk. */
  note(change: Change): void;
  /** Commits everything so far, and the changes with it. Rejects when the run is no longer ours, or its storage stays away. */
  commit(changes: readonly Change[]): Promise<void>;
  /** Records the end; nothing can be recorded after it. Readers see it when it is committed. */
  end(how: RunEnd, options: EndOptions): Promise<void>;
  abort(reason: unknown): void;
}

/** What goes with the end of a run. */
export interface EndOptions {
  readonly usage: ReportedUsage;
  /**
   * Called when the end is recorded, with an error when it could not be; never when another instance has taken the run over and
   * emits its end.
   */
  readonly onRecorded: (unrecorded?: ErrorData) => void;
}

const atOnce = { soon: true };

/** Creates a live run over a new log. */
export function createLiveRun(options: LiveRunOptions): LiveRun {
  const { state, first, now, detachGraceMs, abort } = options;
  const buffer = createEventBuffer(first);
  const readers = createReaders({ graceMs: detachGraceMs, onAbandoned: () => abort('client_gone') });
  const closed = Promise.withResolvers<void>();
  let takenOver = false;
  let unrecorded: readonly string[] = [];
  let onRecorded: EndOptions['onRecorded'] | undefined;
  const leave = (lostTo?: PinnaceError): void => {
    takenOver = lostTo?.code === 'conflict';
    const end = lostTo && !takenOver ? endUnrecorded() : undefined;
    if (end) unrecorded = closingTexts(end, options);
    if (!takenOver) onRecorded?.(end?.error);
    clearInterval(heartbeat);
    readers.stop();
    buffer.close();
    closed.resolve();
  };
  const journal = openLog(options, buffer, leave);
  const heartbeat = setInterval(() => void journal.flush().catch(() => undefined), heartbeatMs);
  const commit = commitTo(journal);
  const inbox = createInbox({ ...options, commit });
  return {
    ...recordingIn({ journal, buffer, inbox, abort }),
    state,
    first,
    inbox,
    commit,
    closed: closed.promise,
    get takenOver() {
      return takenOver;
    },
    get unrecorded() {
      return unrecorded;
    },
    get visible() {
      return buffer.visible;
    },
    read: (after) => buffer.read(after),
    attach: () => readers.attach(),
    detach: () => readers.detach(),
    abort,
    async end(how, { usage, onRecorded: whenRecorded }) {
      onRecorded = whenRecorded;
      const ended = { ...state, state: how.type, endedAt: now(), usage, ...('error' in how && { error: how.error }) };
      journal.append([], { state: ended });
      await journal.flush().then(() => leave(), () => undefined); // a lost log has left by itself
    },
  };
}

/** Records chunks, and with the next one what is noted. */
function recordingIn(
  { journal, buffer, inbox, abort }: Pick<LiveRunOptions, 'abort'> & {
    readonly journal: Journal<RunState>;
    readonly buffer: EventBuffer;
    readonly inbox: Inbox;
  },
): Pick<LiveRun, 'record' | 'note'> {
  const isFull = createStreamLimit();
  const isFirst = createFirstWord();
  let notes: Change[] = [];
  return {
    note: (change) => void notes.push(change),
    record(chunk) {
      const text = JSON.stringify(chunk);
      if (isFull(text, buffer.count)) return abort(tooLong()); // what comes now is the end
      buffer.push(text);
      const delivered = inbox.changesOf(chunk);
      const changes = notes.length > 0 ? [...notes, ...delivered ?? []] : delivered;
      if (notes.length > 0) notes = [];
      const soon = isFirst(chunk);
      if (changes) journal.append([text], { changes, soon });
      else journal.append([text], soon ? atOnce : undefined);
    },
  };
}

function commitTo(journal: Journal<RunState>): LiveRun['commit'] {
  return async (changes) => {
    journal.append([], { changes });
    await journal.flush();
  };
}

/** Returns whether an event reaches a limit of the stream; true once. */
function createStreamLimit(): (text: string, count: number) => boolean {
  let length = 0;
  let reached = false;
  return (text, count) => {
    length += text.length;
    if (reached || (text.length <= maxEventLength && count < maxEvents && length <= maxLength)) return false;
    return reached = true;
  };
}

function openLog(
  options: LiveRunOptions,
  buffer: EventBuffer,
  leave: (lostTo: PinnaceError) => void,
): Journal<RunState> {
  const { storage, runId, version, first, now, tick, ttlMs, storageGraceMs: graceMs, state, abort, metrics } = options;
  return openJournal({
    storage,
    prefix: runPrefix(runId),
    head: { seq: first, fence: 1, at: now(), state },
    version,
    now,
    tick,
    ttlMs,
    headMs,
    graceMs,
    onCommit(seq) {
      metrics.count('pinnace_journal_commits_total', { of: 'run' });
      buffer.show(seq);
    },
    onLost(error) {
      abort(error); // a run that cannot be recorded must not continue
      leave(error);
    },
  });
}

/** Returns a function that is true for the first chunk of an answer that a person sees: it is committed at once. */
function createFirstWord(): (chunk: UIMessageChunk) => boolean {
  let isSilent = true;
  return ({ type }) => {
    if (!isSilent || (type !== 'text-delta' && type !== 'reasoning-delta' && type !== 'tool-input-start')) return false;
    isSilent = false;
    return true;
  };
}

function tooLong(): PinnaceError {
  return new PinnaceError(
    'budget_exceeded',
    'Cannot continue: the stream is too long',
    {
      details: { reason: 'stream_limit' },
    },
  );
}

/** The end that readers see when the storage is out of reach: the log may have another end, but cannot be read. */
function endUnrecorded(): Extract<RunEnd, { readonly type: 'failed' }> {
  const error = new PinnaceError(
    'outcome_unknown',
    'Cannot record how the run ended: its storage is out of reach; read it later',
    { details: { reason: 'run_unrecorded' } },
  );
  return { type: 'failed', error: toData(error) };
}

function closingTexts(end: RunEnd, { runId, state: { traceId } }: LiveRunOptions): readonly string[] {
  return closingChunks(end, { runId, traceId, usage: {} }).map((chunk) => JSON.stringify(chunk));
}

/** The end of a run whose instance was lost. */
export function workerLost(): RunEnd {
  const error = new PinnaceError('unavailable', 'The run failed: the instance that executed it was lost', {
    retryable: false,
    details: { reason: 'worker_lost' },
  });
  return { type: 'failed', error: toData(error) };
}
