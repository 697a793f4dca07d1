/** Emits events, which audit, metrics, traces and the playground read. */

import type { ObservedEvent } from '../contracts/event-sink.ts';

/** An event as its source emits it: without a time, and with the tenant that may read it. */
export type EmittedEvent =
  & Omit<ObservedEvent, 'timestamp' | 'spanId' | 'parentSpanId'>
  & {
    readonly [field in 'spanId' | 'parentSpanId' | 'tenant']?: string | undefined;
  };

/** Hands an event to every sink. */
export type Emit = (event: EmittedEvent) => void;

/** Emits to no sink. Callers may compare with it to avoid building an event. */
export const unobserved: Emit = () => undefined;
