/** The rules that events keep in every run. */

import type { ObservedEvent } from '../../contracts/event-sink.ts';

/** Returns what is wrong with events: spans that begin twice, end twice or never, end before they begin or outlive their parents. */
export function eventProblems(events: readonly ObservedEvent[]): string[] {
  const problems: string[] = [];
  const spans = new Map<string, { readonly event: ObservedEvent; readonly begin: number; end?: number }>();
  for (const [at, event] of events.entries()) {
    const { spanId, status, action } = event;
    if (spanId === undefined) {
      if (status === 'pending') problems.push(`${at} ${action}: pending without a span`);
      continue;
    }
    const span = spans.get(spanId);
    if (status === 'pending') {
      if (span) problems.push(`${at} ${action}: begins twice`);
      else spans.set(spanId, { event, begin: at });
    } else if (!span) problems.push(`${at} ${action}: ends before it begins`);
    else if (span.end !== undefined) problems.push(`${at} ${action}: ends twice`);
    else span.end = at;
    if (event.latency < 0) problems.push(`${at} ${action}: takes less than no time`);
  }
  for (const { event: { action, parentSpanId, traceId, timestamp }, begin, end } of spans.values()) {
    if (end === undefined) problems.push(`${begin} ${action}: never ends`);
    const parent = spans.get(parentSpanId ?? '');
    if (!parent) continue;
    if (parent.begin > begin || (parent.end ?? Infinity) < (end ?? Infinity)) {
      problems.push(`${begin} ${action}: outlives its parent`);
    }
    if (parent.event.traceId !== traceId) problems.push(`${begin} ${action}: is in another trace than its parent`);
    if (parent.event.timestamp > timestamp) problems.push(`${begin} ${action}: begins before its parent`);
  }
  return problems;
}
