/**
 * What every sink that writes elsewhere keeps to, as a list of named checks. They know no test runner: give each check a fresh
 * subject, in a test named like the check.
 *
 * @example
 * for (const { name, run } of queuedSinkContract) it(name, () => run(freshSubject()));
 */

import type { EventSink, ObservedEvent } from '../../src/contracts/event-sink.ts';
import { assertEqual } from './assert.ts';

/** A sink, and its receiver. */
export interface SinkSubject {
  /** With room for 10 events, batches of 4, 2 tries and no pause between them. */
  readonly sink: EventSink;
  readonly dropped: () => number;
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
  /** What has arrived, in order. */
  readonly received: () => Promise<readonly ObservedEvent[]>;
  /** From now on nothing can be written, or it can again. */
  readonly setBroken: (broken: boolean) => void;
}

/** One rule. */
export interface SinkCheck {
  readonly name: string;
  readonly run: (subject: SinkSubject) => Promise<void>;
}

/** An event for tests, identified by its number. */
function event(number: number): ObservedEvent {
  return {
    timestamp: new Date(Date.UTC(2026, 10, 21) + number).toISOString(),
    traceId: 'a'.repeat(32),
    actor: { type: 'agent', id: 'helper' },
    action: 'tool.call',
    target: { type: 'tool', id: `tool-${number}` },
    status: 'ok',
    latency: number,
    error: null,
    payloadSummary: '',
  };
}

const events = (from: number, to: number): ObservedEvent[] =>
  Array.from({ length: to - from }, (_, i) => event(from + i));

/** What every queued sink keeps to. */
export const queuedSinkContract: readonly SinkCheck[] = [
  {
    name: 'writes every event, in order, in one batch or several',
    async run({ sink, flush, received }) {
      for (const one of events(0, 9)) sink(one);
      await flush();
      for (const one of events(9, 12)) sink(one);
      await flush();
      assertEqual(await received(), events(0, 12));
    },
  },
  {
    name: 'accepts an event at once, even when nothing can be written, and reports lost events',
    async run({ sink, flush, dropped, received, setBroken }) {
      setBroken(true);
      for (const one of events(0, 3)) sink(one);
      await flush();
      assertEqual(dropped(), 3);
      setBroken(false);
      sink(event(3));
      await flush();
      assertEqual(await received(), [event(3)]);
    },
  },
  {
    name: 'drops only the events that exceed the queue',
    async run({ sink, flush, dropped, received }) {
      // Nothing is written before this turn ends; one batch may be on its way already.
      for (const one of events(0, 40)) sink(one);
      await flush();
      const arrived = await received();
      assertEqual(arrived.length + dropped(), 40);
      assertEqual(arrived.slice(0, 10), events(0, 10));
    },
  },
  {
    name: 'writes queued events when it is closed, and accepts no more',
    async run({ sink, close, dropped, received }) {
      sink(event(0));
      await close();
      sink(event(1));
      await close();
      assertEqual(await received(), [event(0)]);
      assertEqual(dropped(), 1);
    },
  },
];
