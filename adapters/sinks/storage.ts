import { checkNames, optional } from '../../src/base/check-options.ts';
import { createEventBlocks, type EventLogOptions } from '../../src/events/event-chain.ts';
import type { EventBlocks } from '../../src/events/event-query.ts';
import { type QueuedSink, queuedSink, type QueueOptions, queueOptions } from './queue.ts';

/** A sink with the log that it writes. */
export interface StorageSink extends QueuedSink {
  /** Writes the waiting events before it lists. */
  readonly log: EventBlocks;
}

/**
 * Creates a sink that stores events, where `log.list` finds them. It never delays a run: events wait in memory for at most
 * `maxWaitMs` (a second), and are written as blocks of up to `batchSize` (100). A process that ends loses the waiting events; an audit
 * must not, and uses `createEventLog`.
 *
 * @example
 * const { sink, log } = storageSink({ storage, retentionMs: 30 * 86_400_000 });
 * const runtime = createRuntime({ catalog, models, storage, sinks: [sink] });
 * const { items } = await log.list({ traceId });
 */
export function storageSink(
  given: EventLogOptions & QueueOptions,
): StorageSink {
  checkNames('create the sink', given, { ...optional('storage', 'name', 'retentionMs'), ...queueOptions });
  const { storage, name = 'events', retentionMs, ...queue } = given;
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
    },
  };
}
