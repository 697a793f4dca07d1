import type { EventSink, ObservedEvent } from '../../src/contracts/event-sink.ts';

/** A sink with the events that it holds, oldest first. */
export interface MemorySink {
  readonly sink: EventSink;
  readonly events: readonly ObservedEvent[];
}

/** Creates a sink that holds the last events in memory. */
export function memorySink({ capacity = 1000 }: { capacity?: number } = {}): MemorySink {
  const events: ObservedEvent[] = [];
  return {
    events,
    sink(event) {
      events.push(event);
      if (events.length > capacity) events.shift();
    },
  };
}
