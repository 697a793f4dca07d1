import { checkNames, optional } from '../../src/base/check-options.ts';
import { BoundedMap } from '../../src/base/bounded-map.ts';
import { createEventBlocks, type EventLogOptions, lostAction } from '../../src/events/event-chain.ts';
import type { EventBlocks, EventStore } from '../../src/events/event-query.ts';
import type { ObservedEvent } from '../../src/contracts/event-sink.ts';
import { createTraceId } from '../../src/events/trace-ids.ts';
import { summaryOf } from '../../src/events/payload-summary.ts';
import { type QueuedSink, queuedSink, type QueueOptions, queueOptions } from './queue.ts';

/** An event store with its queues. */
export interface QueuedEventStore extends EventStore, Pick<QueuedSink, 'waiting' | 'dropped' | 'flush' | 'close'> {}

interface Tenant {
  readonly log: EventBlocks;
  readonly queue: QueuedSink;
}

const maxTenants = 1000;

/**
 * Creates a store of events for `createEventRing`: subscribers then resume at any instance, for as long as events are stored. As with
 * `storageSink`, events that wait when the process ends are lost. Events that cannot be written are reported later.
 *
 * @example
 * const ring = createEventRing({ store: eventStore({ storage, retentionMs: 86_400_000 }) });
 * const runtime = createRuntime({ catalog, models, storage, ring });
 */
export function eventStore(
  options: Omit<EventLogOptions, 'name'> & QueueOptions,
): QueuedEventStore {
  checkNames('create the store of events', options, { ...optional('storage', 'retentionMs'), ...queueOptions });
  const { storage, retentionMs, maxWaitMs = 100, ...queue } = options;
  const tenants = new BoundedMap<string, Tenant>(maxTenants, (tenant) => void leave(tenant));
  let droppedBefore = 0;
  const leave = async ({ queue: left }: Tenant): Promise<void> => {
    await left.close();
    droppedBefore += left.dropped;
  };
  const of = (name: string): Tenant =>
    tenants.getOrCreate(name, () => openTenant(name, { storage, retentionMs, maxWaitMs, ...queue }));
  const sum = (what: 'waiting' | 'dropped'): number =>
    [...tenants.values()].reduce((total, tenant) => total + tenant.queue[what], 0);
  const all = async (what: 'flush' | 'close'): Promise<void> =>
    void await Promise.all([...tenants.values()].map((tenant) => tenant.queue[what]()));
  return {
    observe(event, tenant) {
      if (tenant !== undefined) of(tenant).queue.sink(event);
    },
    log: (tenant) => of(tenant).log,
    get waiting() {
      return sum('waiting');
    },
    get dropped() {
      return droppedBefore + sum('dropped');
    },
    flush: () => all('flush'),
    close: () => all('close'),
  };
}

function openTenant(tenant: string, { storage, retentionMs, ...options }: EventLogOptions & QueueOptions): Tenant {
  const log = createEventBlocks({ storage, name: `events/${tenant}`, retentionMs });
  let reported = 0;
  const queue: QueuedSink = queuedSink(async (events) => {
    const { dropped } = queue;
    await log.append(dropped > reported ? [lost(dropped - reported, events[0]), ...events] : events);
    reported = dropped;
  }, options);
  return { log, queue };
}

function lost(dropped: number, next: ObservedEvent | undefined): ObservedEvent {
  return {
    timestamp: next?.timestamp ?? new Date().toISOString(),
    traceId: createTraceId(),
    actor: { type: 'system', id: 'events' },
    action: lostAction,
    target: { type: 'events', id: '' },
    status: 'error',
    latency: 0,
    error: null,
    payloadSummary: summaryOf({ dropped }),
  };
}
