/** A run's events as a tree of what took time: whatever is missing, doubled or out of order, every event has its place. */

import type { EventStatus, ObservedEvent } from '../../../src/contracts/event-sink.ts';
import { readSummary } from '../../../src/events/payload-summary.ts';

/** What kind of work a span is, for its colour and for sums. */
export type SpanKind = 'run' | 'step' | 'model' | 'tool' | 'other';

/** Something that took time, or happened at one. */
export interface RunSpan {
  /** The span's id; an event without one is named by its place. */
  readonly key: string;
  readonly kind: SpanKind;
  /** The action, as `tool.call`; `run.start` and `run.end` make one `run`, likewise `plan` and `agent`. */
  readonly name: string;
  readonly actor: ObservedEvent['actor'];
  readonly target: ObservedEvent['target'];
  /** `pending`: no end was emitted. */
  readonly status: EventStatus;
  readonly error: ObservedEvent['error'];
  /** Milliseconds from the beginning of the first span. */
  readonly startMs: number;
  /** The last known time where no end was emitted. */
  readonly endMs: number;
  /** The payload summary of its events. */
  readonly facts: Readonly<Record<string, string | number>>;
  readonly events: readonly number[];
  readonly children: readonly RunSpan[];
}

export interface RunSpans {
  readonly roots: readonly RunSpan[];
  /** By their keys. */
  readonly all: ReadonlyMap<string, RunSpan>;
  /** When the first started, in milliseconds since 1970. */
  readonly startedAt: number;
  /** When the last ended, in milliseconds from there. */
  readonly endMs: number;
}

/** A span while it is put together; times in milliseconds since 1970. */
interface Draft extends Omit<RunSpan, 'events' | 'children'> {
  events: number[];
  children: Draft[];
  parentKey: string | undefined;
  startMs: number;
  endMs: number;
  isPlaced: boolean;
}

/**
 * Returns the tree. A span with a missing parent is at the top, and so is the first of those that are each other's
 * parents. Of a span that is still open the end is `now`, in milliseconds since 1970, where the run goes on; else it is that of
 * the last event.
 */
export function spansOf(
  events: readonly ObservedEvent[],
  { now }: { readonly now?: number | undefined } = {},
): RunSpans {
  const drafts = draftsOf(events);
  const all = [...drafts.values()];
  const lastMs = all.reduce((last, { endMs }) => Math.max(last, endMs), now ?? -Infinity);
  const startedAt = all.reduce((first, { startMs }) => Math.min(first, startMs), Infinity);
  for (const draft of all) {
    if (draft.status === 'pending') draft.endMs = Math.max(draft.startMs, lastMs);
    draft.startMs -= startedAt;
    draft.endMs -= startedAt;
  }
  const roots = link(drafts);
  const isEmpty = all.length === 0;
  return { roots, all: drafts, startedAt: isEmpty ? 0 : startedAt, endMs: isEmpty ? 0 : lastMs - startedAt };
}

function draftsOf(events: readonly ObservedEvent[]): Map<string, Draft> {
  const bySpan = new Map<string, number[]>();
  for (const [at, { spanId }] of events.entries()) {
    const key = spanId ?? `event-${at}`;
    const known = bySpan.get(key);
    if (known) known.push(at);
    else bySpan.set(key, [at]);
  }
  return new Map([...bySpan].map(([key, places]) => [key, draftOf(key, { places, events })]));
}

/** The first event that says `pending` opens the span, the last one that does not closes it. Either may be missing. */
function draftOf(
  key: string,
  { places, events }: { readonly places: number[]; readonly events: readonly ObservedEvent[] },
): Draft {
  const own = places.map((at) => events[at]!); // safe: the places are those of these events
  const closing = own.findLast(({ status }) => status !== 'pending');
  const opening = own.find(({ status }) => status === 'pending') ?? closing ?? own[0]!;
  const startMs = opening.status === 'pending' ? timeOf(opening) : timeOf(opening) - latencyOf(opening);
  const name = nameOf(opening.action);
  return {
    key,
    kind: kindOf(name),
    name,
    actor: opening.actor,
    target: opening.target,
    status: closing?.status ?? 'pending',
    error: closing?.error ?? null,
    startMs,
    endMs: closing ? Math.max(startMs, startMs + latencyOf(closing)) : startMs,
    facts: Object.assign({}, ...own.map(factsOf)) as RunSpan['facts'], // safe: of such records
    events: places,
    children: [],
    parentKey: own.find(({ parentSpanId }) => parentSpanId !== undefined)?.parentSpanId,
    isPlaced: false,
  };
}

/** Assigns children by start time, and returns the top level. */
function link(drafts: ReadonlyMap<string, Draft>): Draft[] {
  const byStart = [...drafts.values()].toSorted((a, b) => a.startMs - b.startMs);
  const roots: Draft[] = [];
  for (const draft of byStart) {
    const parent = draft.parentKey === undefined ? undefined : drafts.get(draft.parentKey);
    if (parent) parent.children.push(draft);
    else roots.push(draft);
  }
  for (const root of roots) place(root);
  for (const draft of byStart) {
    if (draft.isPlaced) continue; // what is left hangs from itself
    const parent = drafts.get(draft.parentKey ?? '');
    if (parent) parent.children = parent.children.filter((child) => child !== draft);
    roots.push(draft);
    place(draft);
  }
  return roots;
}

function place(root: Draft): void {
  const waiting = [root];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    next.isPlaced = true;
    waiting.push(...next.children.filter(({ isPlaced }) => !isPlaced));
  }
}

/** Events with two names make one action. */
function nameOf(action: string): string {
  return action === 'agent.create' ? 'agent' : action.replace(/\.(start|end)$/, '');
}

function kindOf(name: string): SpanKind {
  if (name === 'run' || name === 'step') return name;
  if (name === 'model.call') return 'model';
  return name === 'tool.call' ? 'tool' : 'other';
}

function timeOf({ timestamp }: ObservedEvent): number {
  return Date.parse(timestamp);
}

/** A running run is read again with each event; the parts that did not change are reused. */
const known = new WeakMap<ObservedEvent, RunSpan['facts']>();

function factsOf(event: ObservedEvent): RunSpan['facts'] {
  const facts = known.get(event) ?? readSummary(event.payloadSummary);
  known.set(event, facts);
  return facts;
}

function latencyOf({ latency }: ObservedEvent): number {
  return Math.max(0, latency);
}
