import { checkNames, optional } from '../../src/base/check-options.ts';
import type { EventSink, ObservedEvent } from '../../src/contracts/event-sink.ts';

/** A sink with the events that it holds, oldest first. */
export interface MemorySink {
  readonly sink: EventSink;
  readonly events: readonly ObservedEvent[];
}

/** Creates a sink that holds the last events in memory. */
export function memorySink(options: { capacity?: number } = {}): MemorySink {
  checkNames('create the sink', options, optional('capacity'));
  const { capacity = 1000 } = options;
  const events: ObservedEvent[] = [];
  return {
    events,
    sink(event) {
      events.push(event);
      if (events.length > capacity) events.shift();
    },
  };
}
