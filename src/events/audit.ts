/**
 * The audit: side effects are recorded before they happen, and their outcome afterwards, in a hash-chained log per tenant. A side
 * effect that cannot be recorded does not happen.
 */

import { BoundedMap } from '../base/bounded-map.ts';
import { checkKnownOptions, checkNames, optional } from '../base/check-options.ts';
import { PinnaceError, toLoggable } from '../base/errors.ts';
import type { ObservedEvent, SummaryValue } from '../contracts/event-sink.ts';
import type { Storage } from '../contracts/storage.ts';
import { answeringStorage } from '../log/answering-storage.ts';
import { createEventRows, type EventLogOptions, openRecords } from './event-chain.ts';
import { type EventChain, placesOf } from './event-query.ts';
import { type Draft, hashOf, type LoggedEvent, type RecordForm } from './event-records.ts';
import type { Emit } from './events.ts';
import { createTimestamps } from './event-ring.ts';
import { summaryOf } from './payload-summary.ts';
import { type Report, unreported } from './report.ts';
import type { SpanEnd } from './span.ts';

/** The logs of all tenants. */
export interface Audit {
  /** Returns a tenant's log; without a tenant, the log of the composition itself. */
  log(tenant: string | undefined): EventLog;
}

/** Where an audit is stored. */
export interface AuditOptions {
  /** Where the chain is stored. */
  readonly storage: Storage;
  /** How long entries are stored; without a limit when absent. */
  readonly retentionMs?: number | undefined;
}

const maxLogs = 1000;

/** Opens the audit of a storage. All instances over one storage write the same chains. */
export function createAudit(options: AuditOptions): Audit {
  checkKnownOptions('create the audit', options, {
    storage: ['.commit', 'a storage, such as memoryStorage()'],
    ...optional('retentionMs'),
  });
  const { storage, retentionMs } = options;
  const logs = new BoundedMap<string, EventLog>(maxLogs);
  const answering = answeringStorage(storage);
  return {
    log(tenant) {
      const name = tenant === undefined ? 'audit' : `audit/${tenant}`;
      return logs.getOrCreate(name, () => createEventLog({ storage: answering, name, retentionMs }));
    },
  };
}

/** A side effect that is about to happen. */
export interface SideEffect
  extends Pick<ObservedEvent, 'traceId' | 'spanId' | 'parentSpanId' | 'actor' | 'action' | 'target'> {
  readonly tenant: string | undefined;
  readonly payload?: Readonly<Record<string, SummaryValue>>;
}

/** Records side effects. */
export interface Recorder {
  /**
   * Records the start of a side effect. Returns the function that records its outcome; that never rejects, and emits an error event
   * where it cannot record it.
   *
   * @throws PinnaceError `unavailable` with the reason `audit_unavailable`: then the side effect must not happen.
   */
  start(effect: SideEffect): Promise<(how: SpanEnd) => Promise<void>>;
  /** Resolves when all outcomes are recorded. */
  drained(): Promise<void>;
  /** Records a refusal. Never rejects. */
  refuse(effect: SideEffect, how: SpanEnd): Promise<void>;
}

interface RecorderOptions {
  /** Without one, nothing is recorded and nothing is refused. */
  readonly audit: Audit | undefined;
  readonly emit: Emit;
  readonly now: () => number;
  /** Receives why an entry could not be written. */
  readonly report?: Report;
}

export function createRecorder({ audit, emit, now, report = unreported }: RecorderOptions): Recorder {
  if (!audit) return unrecorded;
  const timestamp = createTimestamps();
  const write = async (
    effect: SideEffect,
    how: Pick<ObservedEvent, 'status' | 'latency'> & Omit<SpanEnd, 'status'>,
  ): Promise<void> => {
    const { tenant, payload = {}, ...facts } = effect;
    const { status, latency, error = null, payload: result = {} } = how;
    await audit.log(tenant).append([{
      timestamp: timestamp(now()),
      ...facts,
      status,
      latency,
      error: error && toLoggable(error),
      payloadSummary: summaryOf({ ...payload, ...(typeof result === 'function' ? result() : result) }),
    }]);
  };
  const lost = (cause: unknown, effect: SideEffect): void => {
    report(cause, { kind: 'audit', id: effect.action, traceId: effect.traceId });
    emitUnwritten(effect, emit);
  };
  const writeEnd = async (effect: SideEffect, how: SpanEnd, startedAt: number): Promise<void> => {
    try {
      await write(effect, { ...how, latency: Math.max(0, now() - startedAt) });
    } catch (cause) {
      lost(cause, effect);
    }
  };
  const open = new Set<Promise<void>>();
  return {
    async start(effect) {
      const startedAt = now();
      const { promise, resolve } = Promise.withResolvers<void>();
      open.add(promise);
      const close = (): void => {
        open.delete(promise);
        resolve();
      };
      try {
        await write(effect, { status: 'pending', latency: 0 });
      } catch (cause) {
        close();
        lost(cause, effect);
        throw unavailable(cause);
      }
      return async (how) => {
        await writeEnd(effect, how, startedAt);
        close();
      };
    },
    async drained() {
      while (open.size > 0) await Promise.all(open);
    },
    refuse: (effect, how) => writeEnd(effect, how, now()),
  };
}

const unrecorded: Recorder = {
  start: () => Promise.resolve(() => Promise.resolve()),
  drained: () => Promise.resolve(),
  refuse: () => Promise.resolve(),
};

/** Operators must see gaps in the audit, and refusals because of it. */
function emitUnwritten({ traceId, parentSpanId, spanId, actor, action, tenant }: SideEffect, emit: Emit): void {
  const { code, message, retryable, details } = unavailable();
  const around = spanId ?? parentSpanId;
  emit({
    traceId,
    ...(around !== undefined && { parentSpanId: around }),
    tenant,
    actor,
    action: 'error',
    target: { type: 'audit', id: action },
    status: 'error',
    latency: 0,
    error: { code, message, retryable, ...(details && { details }) },
    payloadSummary: '',
  });
}

function unavailable(cause?: unknown): PinnaceError {
  const isFull = cause instanceof PinnaceError && cause.details?.['reason'] === 'storage_full';
  const why = isFull ? ': the storage is full' : '';
  return new PinnaceError(
    'unavailable',
    `Cannot go on: the side effect cannot be recorded in the audit${why}; try again`,
    {
      cause,
      details: { reason: 'audit_unavailable', ...(isFull && { cause: 'storage_full' }) },
    },
  );
}

export type { LoggedEvent } from './event-records.ts';

/** A log of single events. */
export type EventLog = EventChain<LoggedEvent>;

/** Opens the log. All instances over one storage write one chain. */
export function createEventLog(options: EventLogOptions): EventLog {
  checkNames('create the log', options, optional('storage', 'name', 'retentionMs'));
  const chain = openRecords(oneByOne, options);
  return {
    ...createEventRows(chain),
    async verify(how = {}) {
      const { verifyChain } = await import('./verify-chain.ts'); // no run needs it: it is fetched with the first check
      return await verifyChain(chain, how);
    },
  };
}

const oneByOne: RecordForm<LoggedEvent> = {
  root: 'event-log',
  records: 'event',
  most: 1,
  readAtOnce: 200,
  draft: (events) => events.map(draftOf),
  eventsOf: (value) => [value as LoggedEvent], // only made below
};

function draftOf(event: ObservedEvent): Draft {
  return {
    count: 1,
    places: placesOf(event),
    async seal(seq, prevHash) {
      const hash = await hashOf(prevHash, event);
      return { value: { seq, event, prevHash, hash } satisfies LoggedEvent, hash };
    },
  };
}
