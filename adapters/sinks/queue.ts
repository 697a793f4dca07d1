/** Shared by sinks that write elsewhere: a bounded queue, batches, retries, and a count of lost events. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { createReport, type OnError } from '../../src/events/report.ts';
import type { EventSink, ObservedEvent } from '../../src/contracts/event-sink.ts';
import type { Metrics } from '../../src/base/metrics.ts';

/** A sink that writes in the background. */
export interface QueuedSink {
  /** Takes an event without waiting for its write. */
  readonly sink: EventSink;
  /** How many events were lost: the queue was full, or they could not be written. */
  readonly dropped: number;
  /** How many events wait. */
  readonly waiting: number;
  /** Resolves when all events so far are written or lost. Never rejects. */
  readonly flush: () => Promise<void>;
  /** Writes the waiting events and takes no more. */
  readonly close: () => Promise<void>;
}

/** How a sink queues. */
export interface QueueOptions {
  /** How many events may wait; further ones are lost. 10,000 when absent. */
  readonly capacity?: number;
  /** The most events that are written at once. */
  readonly batchSize?: number;
  /** How long an event may wait for others to go with it, in milliseconds. */
  readonly maxWaitMs?: number;
  /** How often a batch is tried before it is lost; 3 when absent. */
  readonly tries?: number;
  /** Before the second try, in milliseconds; doubled for each one more. Each wait is a random part of that. */
  readonly retryDelayMs?: number;
  /** Receives what a write throws, with the number of the try. What it throws is ignored. */
  readonly onError?: OnError;
}

/** The names of these options. */
export const queueOptions = /* @__PURE__ */ optional(
  'capacity',
  'batchSize',
  'maxWaitMs',
  'tries',
  'retryDelayMs',
  'onError',
);

/** Creates a sink over a function that writes a batch. Batches are written one at a time, in order. */
export function queuedSink(
  write: (events: readonly ObservedEvent[]) => Promise<void>,
  options: QueueOptions,
): QueuedSink {
  checkNames('create the sink', options, queueOptions);
  const { capacity = 10_000, batchSize = 100, maxWaitMs = 1000, tries = 3, retryDelayMs = 500, onError } = options;
  const report = createReport(onError);
  let waiting: ObservedEvent[] = [];
  let dropped = 0;
  let closed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let working: Promise<void> | undefined;

  const writeBatch = async (batch: readonly ObservedEvent[]): Promise<void> => {
    for (let attempt = 1;; attempt++) {
      try {
        return await write(batch);
      } catch (error) {
        report(error, { kind: 'sink', attempt });
        if (attempt >= tries) return void (dropped += batch.length);
        await pause(Math.random() * retryDelayMs * 2 ** (attempt - 1));
      }
    }
  };
  const work = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchSize);
      waiting = waiting.slice(batchSize);
      await writeBatch(batch);
    }
    working = undefined;
  };
  const start = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    return working ??= work();
  };
  return {
    get dropped() {
      return dropped;
    },
    get waiting() {
      return waiting.length;
    },
    sink(event) {
      if (closed || waiting.length >= capacity) {
        dropped += 1;
        return;
      }
      waiting.push(event);
      if (waiting.length >= batchSize) void start();
      else if (working === undefined) timer ??= setTimeout(() => void start(), maxWaitMs);
    },
    flush: start,
    async close() {
      closed = true;
      await start();
    },
  };
}

/** Shows how many events wait in a sink, and how many it has lost. Names are fixed texts, as `storage`. */
export function gaugeSink(metrics: Metrics, sink: string, queued: Pick<QueuedSink, 'waiting' | 'dropped'>): void {
  metrics.gauge('pinnace_sink_waiting', () => queued.waiting, { sink });
  metrics.gauge('pinnace_sink_dropped', () => queued.dropped, { sink });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
