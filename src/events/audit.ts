/**
 * The audit: what changes something is written down before it is done, and how it went after, each tenant in a hash-chained log of
 * its own. What cannot be written down is not done.
 */

import { BoundedMap } from '../base/bounded-map.ts';
import { answeringStorage } from '../log/answering-storage.ts';
import { PinnaceError, toLoggable } from '../base/errors.ts';
import { createEventLog, type EventLog } from './event-log.ts';
import type { ObservedEvent } from '../contracts/event-sink.ts';
import type { Emit } from './events.ts';
import type { SummaryValue } from '../contracts/span.ts';
import { summaryOf } from './payload-summary.ts';
import type { Storage } from '../contracts/storage.ts';
import type { SpanEnd } from './span.ts';

/** The logs of all tenants. */
export interface Audit {
  /** Gives a tenant's log; without a tenant, that of what the composition does by itself. */
  log(tenant: string | undefined): EventLog;
}

/** What an audit is kept in. */
export interface AuditOptions {
  readonly storage: Storage;
  /** How long entries are kept; for ever when absent. */
  readonly retentionMs?: number | undefined;
}

const maxLogs = 1000;

/** Gives the audit of a storage. All instances that name the same storage write the same chains. */
export function createAudit({ storage, retentionMs }: AuditOptions): Audit {
  const logs = new BoundedMap<string, EventLog>(maxLogs);
  const answering = answeringStorage(storage);
  return {
    log(tenant) {
      const name = tenant === undefined ? 'audit' : `audit/${tenant}`;
      return logs.getOrCreate(name, () => createEventLog({ storage: answering, name, retentionMs }));
    },
  };
}

/** What is about to be done. */
export interface SideEffect
  extends Pick<ObservedEvent, 'traceId' | 'spanId' | 'parentSpanId' | 'actor' | 'action' | 'target'> {
  readonly tenant: string | undefined;
  readonly payload?: Readonly<Record<string, SummaryValue>>;
}

/** Writes deeds down. */
export interface Recorder {
  /**
   * Writes down that it begins, and gives what writes how it ended; that never rejects, and tells where it could not.
   *
   * @throws PinnaceError `unavailable` with the reason `audit_unavailable`: then it must not be done.
   */
  start(deed: SideEffect): Promise<(how: SpanEnd) => Promise<void>>;
  /** Resolves when the ends of all that has begun are written. */
  drained(): Promise<void>;
  /** Writes down what was not done, as a refusal. Never rejects. */
  refuse(deed: SideEffect, how: SpanEnd): Promise<void>;
}

/** What a recorder writes to. */
export interface RecorderOptions {
  /** Without one nothing is written, and everything may be done. */
  readonly audit: Audit | undefined;
  readonly emit: Emit;
  readonly now: () => number;
}

/** Gives a recorder. */
export function createRecorder({ audit, emit, now }: RecorderOptions): Recorder {
  if (!audit) return unrecorded;
  const write = async (
    deed: SideEffect,
    how: Pick<ObservedEvent, 'status' | 'latency'> & Omit<SpanEnd, 'status'>,
  ): Promise<void> => {
    const { tenant, payload = {}, ...facts } = deed;
    const { status, latency, error = null, payload: result = {} } = how;
    await audit.log(tenant).append([{
      timestamp: new Date(now()).toISOString(),
      ...facts,
      status,
      latency,
      error: error && toLoggable(error),
      payloadSummary: summaryOf({ ...payload, ...(typeof result === 'function' ? result() : result) }),
    }]);
  };
  const writeEnd = async (deed: SideEffect, how: SpanEnd, startedAt: number): Promise<void> => {
    try {
      await write(deed, { ...how, latency: Math.max(0, now() - startedAt) });
    } catch {
      emitUnwritten(deed, emit);
    }
  };
  const open = new Set<Promise<void>>();
  return {
    async start(deed) {
      const startedAt = now();
      const { promise, resolve } = Promise.withResolvers<void>();
      open.add(promise);
      const close = (): void => {
        open.delete(promise);
        resolve();
      };
      try {
        await write(deed, { status: 'pending', latency: 0 });
      } catch (cause) {
        close();
        emitUnwritten(deed, emit);
        throw unavailable(cause);
      }
      return async (how) => {
        await writeEnd(deed, how, startedAt);
        close();
      };
    },
    async drained() {
      while (open.size > 0) await Promise.all(open);
    },
    refuse: (deed, how) => writeEnd(deed, how, now()),
  };
}

const unrecorded: Recorder = {
  start: () => Promise.resolve(() => Promise.resolve()),
  drained: () => Promise.resolve(),
  refuse: () => Promise.resolve(),
};

/** An operator must see that the audit has gaps, or that nothing can be done for want of it. */
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
  return new PinnaceError('unavailable', `Cannot go on: what is done cannot be written down in the audit${why}`, {
    retryable: true,
    cause,
    details: { reason: 'audit_unavailable', ...(isFull && { cause: 'storage_full' }) },
  });
}
