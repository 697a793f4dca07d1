/** A run that this instance executes and records. */

import type { UIMessageChunk } from '../contracts/ai-types.ts';
import { type ErrorData, PinnaceError, toData } from '../base/errors.ts';
import { type CommitTick, type Journal, openJournal } from '../log/journal.ts';
import type { JournalHead } from '../log/journal-record.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import {
  closingChunks,
  type ReportedUsage,
  type RunEnd,
  type RunEvent,
  runPrefix,
  type RunState,
} from './run-record.ts';
import { createInbox, type Inbox, type MessageRecord } from './steering.ts';

/** The limits of one run's stream, in UTF-16 code units: of what it says, and of one event as JSON. */
const maxLength = 8 * 1_048_576;
const maxEventLength = 1_048_576;
/** The events of a run after which deltas that are committed together are merged into one event. */
const finelyCutEvents = 2_000;
/** Merged deltas stay below this length, so that readers receive long texts in pieces. */
const mergedLength = 16_384;
/** Commits of chunks alone leave the head for so long: readers look for the chunks behind it. */
const headMs = 4_000;

export interface LiveRunOptions {
  readonly storage: Storage;
  readonly runId: string;
  readonly state: RunState;
  /** The number of the last event that the log starts with. */
  readonly first: number;
  /** The version of the log's head, its fence, and its owner. */
  readonly version: string;
  readonly owner: Pick<JournalHead<RunState>, 'fence' | 'owner' | 'instance'>;
  /** The messages that the run had before this instance, in their order. */
  readonly messages?: readonly MessageRecord[];
  /** Are committed with the end. */
  readonly ending: readonly Change[];
  /** Returns what adds the answer to its chat: it is committed with the end, too, where it does not conflict. */
  readonly answer?: ((log: WrittenLog) => Change | undefined) | undefined;
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

/** What goes with the end of a run. */
interface EndOptions {
  readonly usage: ReportedUsage;
  /**
   * Called when the end is recorded, with an error when it could not be; never when another instance has taken the run over and
   * emits its end.
   */
  readonly onRecorded: (unrecorded?: ErrorData) => void;
}

/** The log of a run that has ended. */
export interface WrittenLog {
  /** The version of what the claim of the run has written. */
  readonly claim: string;
  /** Its events as JSON. */
  readonly texts: readonly string[];
  /** The version of the commit that has added the answer to its chat, with the end. */
  readonly answered?: string | undefined;
}

const atOnce = { soon: true };

/** A live run. Readers see only committed events, which every instance can replay. */
export class LiveRun {
  readonly state: RunState;
  /** Events up to this number are read from the storage. */
  readonly first: number;
  /** The messages that arrive while the run works. */
  readonly inbox: Inbox;
  /** Stops the run: its signal. */
  readonly abort: (reason: unknown) => void;
  readonly #options: LiveRunOptions;
  readonly #buffer: EventBuffer;
  readonly #readers: Readers;
  readonly #journal: Journal<RunState>;
  readonly #recording: Recording;
  readonly #closed = Promise.withResolvers<void>();
  #takenOver = false;
  #released = false;
  #unrecorded: readonly string[] = [];
  #answered: string | undefined;
  #onRecorded: EndOptions['onRecorded'] | undefined;

  constructor(options: LiveRunOptions) {
    const { state, first, abort, detachGraceMs: graceMs } = options;
    this.state = state;
    this.first = first;
    this.abort = abort;
    this.#options = options;
    const buffer = this.#buffer = new EventBuffer(first);
    this.#readers = createReaders({ graceMs, onAbandoned: () => abort('client_gone') });
    const journal = this.#journal = openLog(options, buffer, (lostTo) => this.#leave(lostTo));
    const inbox = this.inbox = createInbox({ ...options, commit: (changes) => this.commit(changes) });
    this.#recording = new Recording({ journal, buffer, inbox, options });
  }

  /** Resolves when the run has ended and its log is committed, or is no longer ours. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /** Whether another instance has it now, so that its end is to be read in the storage. */
  get takenOver(): boolean {
    return this.#takenOver;
  }

  /** Whether this instance has given it up: readers go on at another one. */
  get released(): boolean {
    return this.#released;
  }

  /** The last events of a run whose storage stayed out of reach. They are not in its log, and have no number there. */
  get unrecorded(): readonly string[] {
    return this.#unrecorded;
  }

  /** All that the log of a run has which began and ended here; `undefined` where the log has more than this instance knows. */
  get written(): WrittenLog | undefined {
    const isWhole = this.first === 0 && !this.#takenOver && this.#unrecorded.length === 0;
    if (!isWhole) return undefined;
    return { claim: this.#options.version, texts: this.#buffer.all(), answered: this.#answered };
  }

  /** The number of the last event that readers see. */
  get visible(): number {
    return this.#buffer.visible;
  }

  /** The visible events behind `after`, some at a time; `undefined` when there are none and none will come. */
  read(after: number): Promise<readonly RunEvent[] | undefined> {
    return this.#buffer.read(after);
  }

  /** @throws PinnaceError `rate_limited` when the run has as many readers as it may. */
  attach(): void {
    this.#readers.attach();
  }

  detach(): void {
    this.#readers.detach();
  }

  record(chunk: UIMessageChunk): void {
    if (!this.#released) this.#recording.record(chunk);
  }

  /** Commits the change together with the next chunk. */
  note(change: Change): void {
    this.#recording.note(change);
  }

  /** Commits everything so far, and the changes with it. Rejects when the run is no longer ours, or its storage stays away. */
  async commit(changes: readonly Change[]): Promise<void> {
    if (this.#released) throw handedOver();
    this.#recording.release();
    this.#journal.append([], { changes });
    await this.#journal.flush();
  }

  /** Records the end; nothing can be recorded after it. Readers see it when it is committed. */
  async end(how: RunEnd, { usage, onRecorded }: EndOptions): Promise<void> {
    if (this.#released) return;
    this.#onRecorded = onRecorded;
    this.#recording.release();
    const error = 'error' in how && { error: how.error };
    const state = { ...this.state, state: how.type, endedAt: this.#options.now(), usage, ...error };
    const { ending, answer } = this.#options;
    const { written } = this;
    const change = written && answer?.(written);
    const onWritten = (version: string): void => void (this.#answered = version);
    this.#journal.append([], { state, changes: ending, optional: change && { change, onWritten } });
    await this.#journal.flush().then(() => this.#leave(), () => undefined); // a lost log has left by itself
  }

  /** Stops the run without an end, so that another instance goes on with it: nothing can be recorded from now on. */
  async release(): Promise<void> {
    if (this.#onRecorded) return await this.closed; // it ends by itself
    this.#recording.release();
    this.#released = this.#takenOver = true;
    this.abort('runtime_closed');
    await this.#journal.flush().catch(() => undefined); // as above
    this.#leave();
  }

  #leave(lostTo?: PinnaceError): void {
    this.#takenOver = this.#released || lostTo?.code === 'conflict';
    const end = lostTo && !this.#takenOver ? endUnrecorded() : undefined;
    if (end) this.#unrecorded = closingTexts(end, this.#options);
    if (!this.#takenOver) this.#onRecorded?.(end?.error);
    this.#readers.stop();
    this.#buffer.close();
    this.#closed.resolve();
  }
}

/** A delta of a text, of reasoning or of the input of a call. */
type Delta = Extract<UIMessageChunk, { type: 'text-delta' | 'reasoning-delta' | 'tool-input-delta' }>;

/**
 * Records chunks, and with the next one what is noted. The storage has to bear how much a model says, not how finely its provider
 * cuts it: in a long stream the deltas of a block that arrive between two commits are one event.
 */
class Recording implements Pick<LiveRun, 'record' | 'note'> {
  readonly #journal: Journal<RunState>;
  readonly #buffer: EventBuffer;
  readonly #inbox: Inbox;
  readonly #options: Pick<LiveRunOptions, 'abort' | 'tick'>;
  readonly #isFirst = createFirstWord();
  #notes: Change[] = [];
  #length = 0;
  #isFull = false;
  /** What was said since the last event, in a long stream. */
  #held: Delta | undefined;
  #stopWaiting: (() => void) | undefined;

  constructor(
    { journal, buffer, inbox, options }: {
      readonly journal: Journal<RunState>;
      readonly buffer: EventBuffer;
      readonly inbox: Inbox;
      readonly options: Pick<LiveRunOptions, 'abort' | 'tick'>;
    },
  ) {
    this.#journal = journal;
    this.#buffer = buffer;
    this.#inbox = inbox;
    this.#options = options;
  }

  note(change: Change): void {
    this.#notes.push(change);
  }

  record(chunk: UIMessageChunk): void {
    const said = isDelta(chunk) ? chunk : undefined;
    if (!said || this.#buffer.count < finelyCutEvents || this.#notes.length > 0) {
      this.release();
      return this.#append(chunk, said ? textOf(said).length : undefined);
    }
    const merged = this.#held && mergedDelta(this.#held, said);
    if (!merged) this.release();
    this.#held = merged ?? said;
    this.#stopWaiting ??= this.#options.tick.wait(() => this.release());
  }

  /** Records what is held, to be committed at once. */
  release(): void {
    const held = this.#held;
    this.#stopWaiting?.();
    this.#stopWaiting = this.#held = undefined;
    if (held) this.#append(held, textOf(held).length, true);
  }

  #append(chunk: UIMessageChunk, saidLength?: number, soon = this.#isFirst(chunk)): void {
    const text = JSON.stringify(chunk);
    this.#length += saidLength ?? text.length;
    if (!this.#isFull && (this.#length > maxLength || text.length > maxEventLength)) {
      this.#isFull = true; // what comes now is the end
      return this.#options.abort(tooLong(text.length > maxEventLength));
    }
    this.#buffer.push(text);
    const delivered = this.#inbox.changesOf(chunk);
    const changes = this.#notes.length > 0 ? [...this.#notes, ...delivered ?? []] : delivered;
    if (this.#notes.length > 0) this.#notes = [];
    if (changes) this.#journal.append([text], { changes, soon });
    else this.#journal.append([text], soon ? atOnce : undefined);
  }
}

/** Whether the chunk says a piece of something, and nothing else. */
function isDelta(chunk: UIMessageChunk): chunk is Delta {
  const { type } = chunk;
  if (type !== 'text-delta' && type !== 'reasoning-delta' && type !== 'tool-input-delta') return false;
  return !('providerMetadata' in chunk);
}

function textOf(delta: Delta): string {
  return delta.type === 'tool-input-delta' ? delta.inputTextDelta : delta.delta;
}

/** Two deltas of the same block as one; `undefined` where they are not, or too long together. */
function mergedDelta(first: Delta, next: Delta): Delta | undefined {
  if (textOf(first).length + textOf(next).length > mergedLength) return undefined;
  if (first.type === 'tool-input-delta') {
    if (next.type !== 'tool-input-delta' || next.toolCallId !== first.toolCallId) return undefined;
    return { ...first, inputTextDelta: first.inputTextDelta + next.inputTextDelta };
  }
  if (next.type !== first.type || next.id !== first.id) return undefined;
  return { ...first, delta: first.delta + next.delta };
}

function openLog(
  options: LiveRunOptions,
  buffer: EventBuffer,
  leave: (lostTo: PinnaceError) => void,
): Journal<RunState> {
  const { storage, runId, version, owner, first, now, tick, ttlMs, storageGraceMs: graceMs, state, abort, metrics } =
    options;
  return openJournal({
    storage,
    prefix: runPrefix(runId),
    head: { ...owner, seq: first, at: now(), state },
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

function tooLong(isEvent: boolean): PinnaceError {
  const what = isEvent
    ? `one part of its answer is longer than ${maxEventLength} characters`
    : `its answers, tool inputs and outputs together are longer than ${maxLength} characters`;
  return new PinnaceError('budget_exceeded', `The run was stopped: ${what}`, { details: { reason: 'stream_limit' } });
}

/** Nothing can be written or read of a run that was released. */
export function handedOver(): PinnaceError {
  return new PinnaceError('unavailable', 'The run goes on at another instance', {
    details: { reason: 'runtime_closed' },
  });
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

/** The end of a run whose instance was lost, and which no other goes on with. */
export function workerLost(why: NotRecovered): RunEnd {
  const error = new PinnaceError(
    'unavailable',
    `The run was interrupted: the instance that executed it was lost, and ${whys[why]}`,
    {
      retryable: false,
      details: { reason: 'worker_lost', why },
    },
  );
  return { type: 'interrupted', error: toData(error) };
}

const whys = {
  recovery_off: 'its settings do not let another instance continue it',
  not_recorded: 'what it was started from is not on record',
  fork: 'it was a fork or a test, which is not continued',
  recovery_limit: 'it was continued as often as it may be',
  no_instance_fits: 'no other instance has the code that it needs',
} as const;

/** Why a run was not continued. */
export type NotRecovered = keyof typeof whys;

const eventsPerRead = 64;

/** The events behind number `first`, which readers find in the storage. Readers are cursors into it: a slow one costs nothing. */
class EventBuffer {
  readonly #first: number;
  readonly #texts: string[] = [];
  #visible: number;
  #isClosed = false;
  #news = Promise.withResolvers<void>();

  constructor(first = 0) {
    this.#first = this.#visible = first;
  }

  get count(): number {
    return this.#texts.length;
  }

  /** The number of the last event that readers see. */
  get visible(): number {
    return this.#visible;
  }

  push(text: string): void {
    this.#texts.push(text);
  }

  /** The events, those that are not visible yet as well. */
  all(): readonly string[] {
    return this.#texts;
  }

  /** Shows the events up to this number. */
  show(seq: number): void {
    this.#visible = Math.min(seq, this.#first + this.#texts.length);
    this.#notify();
  }

  /** Nothing more will come. */
  close(): void {
    this.#isClosed = true;
    this.#notify();
  }

  /** The visible events behind `after`, some at a time; `undefined` when there are none and none will come. */
  async read(after: number): Promise<readonly RunEvent[] | undefined> {
    while (after >= this.#visible) {
      if (this.#isClosed) return undefined;
      await this.#news.promise;
    }
    const end = Math.min(this.#visible, after + eventsPerRead);
    const texts = this.#texts.slice(after - this.#first, end - this.#first);
    return texts.map((text, i) => ({ seq: after + i + 1, text }));
  }

  #notify(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers<void>();
  }
}

/** Counts readers. */
interface Readers {
  /** @throws PinnaceError `rate_limited` when the run has as many as it may. */
  attach(): void;
  detach(): void;
  /** The run has ended: readers that leave now have no effect. */
  stop(): void;
}

const maxReaders = 16;

/** Counts readers, and calls back `graceMs` after the last has left; never when that is infinite. */
function createReaders({ graceMs, onAbandoned }: { graceMs: number; onAbandoned: () => void }): Readers {
  let count = 0;
  let stopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    attach() {
      if (count >= maxReaders) {
        throw new PinnaceError('rate_limited', `Cannot read the run: it has ${maxReaders} readers`, {
          retryAfterMs: 1000,
          details: { reason: 'too_many_readers' },
        });
      }
      count += 1;
      clearTimeout(timer);
    },
    detach() {
      count -= 1;
      if (count === 0 && !stopped && Number.isFinite(graceMs)) timer = setTimeout(onAbandoned, graceMs);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
