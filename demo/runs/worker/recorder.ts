/** Records runs from a runtime's events: in memory while they run, in storage, and to the page as news. */

import { PinnaceError } from '../../../src/base/errors.ts';
import type { EventSink, ObservedEvent } from '../../../src/contracts/event-sink.ts';
import { readSummary } from '../../../src/events/payload-summary.ts';
import type { RunHead, RunList, RunNews, RunRecord, RunTools } from '../../control/runs-control.ts';
import { createDelay } from './delay.ts';
import { createLiveRun, type LiveRun, resumeLiveRun } from './live-run.ts';
import type { RunStore, StoredRun } from './run-store.ts';

export interface Recorder {
  readonly sink: EventSink;
  list(): Promise<RunList>;
  /** @throws PinnaceError `not_found` for a run that is not stored. */
  run(traceId: string): Promise<RunRecord>;
  watch(onNews: (news: RunNews) => void): void;
  /** Forgets all runs. @throws PinnaceError as the storage does. */
  erase(): Promise<void>;
}

interface RecorderOptions {
  readonly store: RunStore;
  readonly toolsOf: (agentId: string) => Promise<RunTools>;
  /** The message that started a run; known once its model was called. */
  readonly questionOf?: (traceId: string) => string | undefined;
  /** How long news may wait for more, and what is to be written. */
  readonly newsEveryMs?: number;
  readonly writeEveryMs?: number;
}

/** Runs that stay in memory after their end: a plan goes on without its run. */
const maxInMemory = 30;

/** The most events that are written at once: a storage takes 4 MiB. */
const maxInPart = 2000;

interface Recording {
  readonly run: LiveRun;
  emitted: number;
  written: number;
  part: number;
  tools: RunTools | undefined;
  hasNewTools: boolean;
}

export function createRecorder(
  { store, toolsOf, questionOf, newsEveryMs = 150, writeEveryMs = 1000 }: RecorderOptions,
): Recorder {
  const recordings = new Map<string, Recording>();
  const listeners = new Set<(news: RunNews) => void>();
  let isStored = true;
  let writing: Promise<void> = Promise.resolve();
  const unemitted = createDelay(newsEveryMs, (changed: ReadonlySet<Recording>) => changed.forEach(emit));
  const unwritten = createDelay(writeEveryMs, (changed: ReadonlySet<Recording>) => {
    for (const recording of changed) void inTurn(() => write(recording));
  });

  function inTurn(work: () => Promise<void>): Promise<void> {
    writing = writing.then(work).then(() => void (isStored = true), () => void (isStored = false));
    return writing;
  }

  function emit(recording: Recording): void {
    const { run, emitted, tools } = recording;
    if (recordings.get(run.head.traceId) !== recording) return; // erased meanwhile
    const events = run.since(emitted);
    recording.emitted += events.length;
    for (const onNews of listeners) onNews({ head: run.head, from: emitted, events, ...(tools && { tools }) });
  }

  async function write(recording: Recording): Promise<void> {
    if (recordings.get(recording.run.head.traceId) !== recording) return; // erased meanwhile
    const { run, written, part, tools, hasNewTools } = recording;
    const events = run.since(written).slice(0, maxInPart);
    recording.hasNewTools = false;
    await store.write(run.head, { part, events, ...(hasNewTools && { tools }) });
    recording.written += events.length;
    if (events.length > 0) recording.part += 1;
    if (run.since(recording.written).length > 0) await write(recording);
  }

  function note(recording: Recording): void {
    unemitted.add(recording);
    unwritten.add(recording);
  }

  /** Records the run from here on; its stored part is already written and sent. */
  function record(run: LiveRun, { part = 0 } = {}): Recording {
    const { head: { traceId }, events: { length }, tools } = run.record;
    const recording: Recording = { run, emitted: length, written: length, part, tools, hasNewTools: false };
    recordings.set(traceId, recording);
    const [oldest] = recordings.keys();
    if (recordings.size > maxInMemory && oldest !== undefined) {
      unwritten.flush();
      void inTurn(() => Promise.resolve(void recordings.delete(oldest)));
    }
    return recording;
  }

  /** A plan's first agent may be at work before its run has started. */
  function start(event: ObservedEvent): Recording {
    const recording = record(createLiveRun(event));
    for (const earlier of strangers.take(event.traceId)) add(recording, earlier);
    void account(recording);
    return recording;
  }

  function add(recording: Recording, event: ObservedEvent): void {
    recording.run.add(event);
    note(recording);
  }

  /** A fork starts before it is known as one: the event names both runs, in the trace of its own. */
  function noteFork({ status, target, payloadSummary }: ObservedEvent): void {
    const { runId } = readSummary(payloadSummary);
    const fork = [...recordings.values()].find(({ run }) => status === 'ok' && run.head.runId === runId);
    if (!fork) return;
    fork.run.setParent(target.id);
    note(fork);
  }

  const strangers = createStrangers({
    find: (traceId) => store.read(traceId),
    onFound(stored, events) {
      const recording = recordings.get(stored.head.traceId) ?? record(resumeLiveRun(stored), { part: stored.parts });
      for (const event of events) add(recording, event);
    },
  });

  /** Without an answer the run has no account of its tools: its agent was disabled or is unknown. */
  async function account(recording: Recording): Promise<void> {
    const tools = await toolsOf(recording.run.head.agentId).catch(() => undefined);
    if (!tools) return;
    recording.run.setTools(tools);
    recording.tools = tools;
    recording.hasNewTools = true;
    note(recording);
  }

  /** Names the run by its question, once: at the end of its first model call. */
  function name({ run }: Recording): void {
    const text = run.head.question === undefined ? questionOf?.(run.head.traceId) : undefined;
    if (text !== undefined) run.setQuestion(text);
  }

  async function heads(): Promise<readonly RunHead[]> {
    const stored = await store.heads().catch(() => {
      isStored = false;
      return [];
    });
    const live = [...recordings.values()].map(({ run }) => run.head);
    const earlier = stored.map((head) => cutOff(head));
    const all = new Map([...earlier, ...live].map((head) => [head.traceId, head]));
    return [...all.values()].toSorted((a, b) => b.startedAt - a.startedAt);
  }

  return {
    sink(event) {
      if (event.action === 'run.fork') noteFork(event);
      const isStart = event.action === 'run.start' && event.status === 'pending';
      const recording = recordings.get(event.traceId) ?? (isStart ? start(event) : undefined);
      if (!recording) return strangers.note(event);
      add(recording, event);
      if (event.action === 'model.call' && recording.run.head.modelCalls === 1) name(recording);
      if (event.action === 'run.end') unwritten.flush();
    },
    list: async () => ({ runs: await heads(), isStored }),
    async run(traceId) {
      const live = recordings.get(traceId);
      if (live) return live.run.record;
      const stored = await store.read(traceId);
      if (stored) {
        return { head: cutOff(stored.head), events: stored.events, ...(stored.tools && { tools: stored.tools }) };
      }
      throw new PinnaceError('not_found', 'Cannot show the run: it is no longer stored');
    },
    watch: (onNews) => void listeners.add(onNews),
    async erase() {
      recordings.clear();
      await writing;
      await store.erase();
    },
  };
}

/** A run without an end whose worker is gone has been interrupted. */
function cutOff(head: RunHead): RunHead {
  return head.status === 'pending' ? { ...head, isInterrupted: true } : head;
}

/** Looks for the runs of such events. */
interface Strangers {
  note(event: ObservedEvent): void;
  /** The events of a trace whose run starts only now. */
  take(traceId: string): readonly ObservedEvent[];
}

interface StrangersOptions {
  readonly find: (traceId: string) => Promise<StoredRun | undefined>;
  /** Receives a run that was found, and its events since. */
  readonly onFound: (stored: StoredRun, events: readonly ObservedEvent[]) => void;
}

/** The most traces that wait for their run, and the most events of each. */
const maxTraces = 100;
const maxWaiting = 2000;

/** Creates it; each trace is looked for once. */
function createStrangers({ find, onFound }: StrangersOptions): Strangers {
  const waiting = new Map<string, ObservedEvent[]>();

  async function look(traceId: string): Promise<void> {
    const found = await find(traceId).catch(() => undefined);
    if (found) onFound(found, take(traceId));
  }

  function take(traceId: string): readonly ObservedEvent[] {
    const events = waiting.get(traceId) ?? [];
    waiting.delete(traceId);
    return events;
  }

  return {
    take,
    note(event) {
      const { traceId } = event;
      const events = waiting.get(traceId);
      if (events && events.length < maxWaiting) events.push(event);
      if (events) return;
      waiting.set(traceId, [event]);
      const [oldest] = waiting.keys();
      if (waiting.size > maxTraces && oldest !== undefined) waiting.delete(oldest);
      void look(traceId);
    },
  };
}
