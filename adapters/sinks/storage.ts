import { createEventLog, type EventLog, type EventLogOptions } from '../../src/event-log.ts';
import { type QueuedSink, queuedSink, type QueueOptions } from './queue.ts';

/** A sink with the log that it writes. */
export interface StorageSink extends QueuedSink {
  readonly log: EventLog;
}

/**
 * Gives a sink that keeps events in a storage, where `log.list` finds them. It never holds a run up: events wait in memory for
 * each other, and those that wait when the process ends are lost. An audit must not lose any; that is `createEventLog` itself.
 *
 * @example
 * const { sink, log } = storageSink({ storage, retentionMs: 30 * 86_400_000 });
 * const runtime = createRuntime({ catalog, models, storage, sinks: [sink] });
 * const { items } = await log.list({ traceId });
 */
export function storageSink(
  { storage, name = 'events', retentionMs, ...queue }: EventLogOptions & QueueOptions,
): StorageSink {
  const log = createEventLog({ storage, name, retentionMs });
  const queued = queuedSink((events) => log.append(events), queue);
  return {
    ...queued,
    get dropped() {
      return queued.dropped;
    },
    get waiting() {
      return queued.waiting;
    },
    log,
  };
}
