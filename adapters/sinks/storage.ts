import { createEventBlocks, type EventBlocks } from '../../src/events/event-blocks.ts';
import type { EventLogOptions } from '../../src/events/event-chain.ts';
import { type QueuedSink, queuedSink, type QueueOptions } from './queue.ts';

/** A sink with the log that it writes. */
export interface StorageSink extends QueuedSink {
  /** Lists and verifies also what still waits: that is written first. */
  readonly log: EventBlocks;
}

/**
 * Gives a sink that keeps events in a storage, where `log.list` finds them. It never holds a run up: events wait in memory for each
 * other, `maxWaitMs` (a second) at most, and go as blocks of up to `batchSize` (100); a process that dies loses those that wait. An
 * audit must not lose any; that is `createEventLog`.
 *
 * @example
 * const { sink, log } = storageSink({ storage, retentionMs: 30 * 86_400_000 });
 * const runtime = createRuntime({ catalog, models, storage, sinks: [sink] });
 * const { items } = await log.list({ traceId });
 */
export function storageSink(
  { storage, name = 'events', retentionMs, ...queue }: EventLogOptions & QueueOptions,
): StorageSink {
  const blocks = createEventBlocks({ storage, name, retentionMs });
  const queued = queuedSink((events) => blocks.append(events), queue);
  return {
    ...queued,
    get dropped() {
      return queued.dropped;
    },
    get waiting() {
      return queued.waiting;
    },
    log: {
      append: (events) => blocks.append(events),
      bounds: () => blocks.bounds(),
      watch: (onNews) => blocks.watch(onNews),
      async list(query) {
        await queued.flush();
        return await blocks.list(query);
      },
      async verify(options) {
        await queued.flush();
        return await blocks.verify(options);
      },
    },
  };
}
