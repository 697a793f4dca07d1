/** Events of traces that did not start here: a plan continues after a reload, and its run was stored before. */

import type { ObservedEvent } from '../../../src/contracts/event-sink.ts';
import type { StoredRun } from './run-store.ts';

/** Looks for the runs of such events. */
export interface Strangers {
  note(event: ObservedEvent): void;
}

interface StrangersOptions {
  readonly find: (traceId: string) => Promise<StoredRun | undefined>;
  /** Receives a run that was found, and its events since. */
  readonly onFound: (stored: StoredRun, events: readonly ObservedEvent[]) => void;
}

/** The most traces known to have no run, and the most events that wait for a look-up. */
const maxUnknown = 1000;
const maxWaiting = 2000;

/** Creates it; each trace is looked for once. */
export function createStrangers({ find, onFound }: StrangersOptions): Strangers {
  const waiting = new Map<string, ObservedEvent[]>();
  const unknown = new Set<string>();

  async function look(traceId: string): Promise<void> {
    const found = await find(traceId).catch(() => undefined);
    const events = waiting.get(traceId) ?? [];
    waiting.delete(traceId);
    if (found) return onFound(found, events);
    unknown.add(traceId);
    const [oldest] = unknown;
    if (unknown.size > maxUnknown && oldest !== undefined) unknown.delete(oldest);
  }

  return {
    note(event) {
      const { traceId } = event;
      if (unknown.has(traceId)) return;
      const events = waiting.get(traceId);
      if (events && events.length < maxWaiting) events.push(event);
      if (events) return;
      waiting.set(traceId, [event]);
      void look(traceId);
    },
  };
}
