/** The filter of a run's events. */

import type { ObservedEvent } from '../../../src/contracts/event-sink.ts';

/** What an event must match; empty fields match all. */
export interface EventFilter {
  readonly action: string;
  /** Words that must all occur in the event. */
  readonly text: string;
}

export const everyEvent: EventFilter = { action: '', text: '' };

/** The places of the events that fit. */
export function eventsThat(events: readonly ObservedEvent[], { action, text }: EventFilter): readonly number[] {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== '');
  return [...events.keys()].filter((at) => {
    const event = events[at]!; // safe: `at` is one of its keys
    if (action !== '' && event.action !== action) return false;
    if (words.length === 0) return true;
    const said = textOf(event);
    return words.every((word) => said.includes(word));
  });
}

/** The actions that occur, by name, and how often each does. */
export function actionsOf(events: readonly ObservedEvent[]): readonly (readonly [action: string, count: number])[] {
  const counts = new Map<string, number>();
  for (const { action } of events) counts.set(action, (counts.get(action) ?? 0) + 1);
  return [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const texts = new WeakMap<ObservedEvent, string>();

function textOf(event: ObservedEvent): string {
  const known = texts.get(event);
  if (known !== undefined) return known;
  const { action, actor, target, status, error, payloadSummary, spanId = '' } = event;
  const said = [action, actor.id, target.type, target.id, status, error?.code, error?.message, payloadSummary, spanId];
  const text = said.join('\n').toLowerCase();
  texts.set(event, text);
  return text;
}
