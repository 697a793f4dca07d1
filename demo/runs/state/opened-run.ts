/** The opened run: what is known of it, and what is derived from that. */

import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { ObservedEvent } from '../../../src/contracts/event-sink.ts';
import type { Prompt, RunNews, RunRecord } from '../../control/runs-control.ts';
import { type Breakdown, breakdownOf } from './breakdown.ts';
import { type RunSpan, type RunSpans, spansOf } from './run-spans.ts';
import { rowsOf, type SpanRow } from './span-rows.ts';
import { around, moved, type TimeWindow, zoomed } from './time-window.ts';

export interface OpenedRun {
  /** `file`: it was read from one, and nothing more comes. */
  readonly source: 'worker' | 'endpoint' | 'file';
  readonly record: ReadonlySignal<RunRecord>;
  /** `undefined` until requested. */
  readonly prompts: ReadonlySignal<readonly Prompt[] | undefined>;
  /** Whether it is going on. */
  readonly isLive: ReadonlySignal<boolean>;
  readonly spans: ReadonlySignal<RunSpans>;
  readonly rows: ReadonlySignal<readonly SpanRow[]>;
  readonly breakdown: ReadonlySignal<Breakdown>;
  readonly selected: ReadonlySignal<RunSpan | undefined>;
  /** The time that the waterfall shows. */
  readonly window: ReadonlySignal<TimeWindow>;
  readonly isZoomed: ReadonlySignal<boolean>;
  readonly filter: ReadonlySignal<EventFilter>;
  readonly actions: ReadonlySignal<ReturnType<typeof actionsOf>>;
  /** The places of the events that fit the filter. */
  readonly found: ReadonlySignal<readonly number[]>;
  /** The index of the selected event. */
  readonly event: ReadonlySignal<number | undefined>;
  take(news: RunNews): void;
  /** Time has passed: what is open grows. */
  tick(): void;
  setPrompts(prompts: readonly Prompt[]): void;
  select(key: string | undefined): void;
  setExpanded(key: string, isExpanded: boolean): void;
  setAll(isExpanded: boolean): void;
  /** Shows less (below 1) or more time; what is at `at` (0 to 1) of the window stays. */
  zoom(factor: number, at?: number): void;
  /** Moves the window by this part of its length. */
  move(by: number): void;
  zoomTo(span: Pick<RunSpan, 'startMs' | 'endMs'>): void;
  showTime(window: TimeWindow): void;
  showAll(): void;
  setFilter(filter: Partial<EventFilter>): void;
  lookAt(event: number | undefined): void;
}

interface OpenedRunOptions {
  readonly source: OpenedRun['source'];
  readonly prompts?: readonly Prompt[] | undefined;
  /** Milliseconds since 1970, read while the run continues. */
  readonly now: () => number;
}

/** Creates the run as it is at first: all of it in sight, nothing selected. */
export function createOpenedRun(first: RunRecord, { source, prompts: given, now }: OpenedRunOptions): OpenedRun {
  const record = signal(first);
  const prompts = signal(given);
  const collapsed = signal<ReadonlySet<string>>(new Set());
  const selectedKey = signal<string | undefined>(undefined);
  const zoomedTo = signal<TimeWindow | undefined>(undefined);
  const filter = signal(everyEvent);
  const event = signal<number | undefined>(undefined);
  const time = signal(now());
  const isLive = computed(() =>
    source !== 'file' && record.value.head.durationMs === undefined &&
    record.value.head.isInterrupted !== true
  );
  const spans = computed(() => spansOf(record.value.events, { now: isLive.value ? time.value : undefined }));
  const rows = computed(() => rowsOf(spans.value.roots, collapsed.value));
  const whole = computed((): TimeWindow => ({ from: 0, to: Math.max(1, spans.value.endMs) }));
  const window = computed(() => zoomedTo.value ?? whole.value);
  const events = computed(() => record.value.events);

  function show(next: TimeWindow): void {
    const { from, to } = whole.value;
    zoomedTo.value = next.from <= from && next.to >= to ? undefined : next;
  }

  return {
    source,
    record,
    prompts,
    isLive,
    spans,
    rows,
    window,
    filter,
    event,
    breakdown: computed(() => breakdownOf(spans.value)),
    selected: computed(() => spans.value.all.get(selectedKey.value ?? '')),
    isZoomed: computed(() => zoomedTo.value !== undefined),
    actions: computed(() => actionsOf(events.value)),
    found: computed(() => eventsThat(events.value, filter.value)),
    take(news) {
      const { events: known, tools, isPartial } = record.value;
      if (source === 'file' || news.from > known.length) return; // what is missing between would never come
      record.value = {
        head: news.head,
        events: [...known.slice(0, news.from), ...news.events, ...known.slice(news.from + news.events.length)],
        tools: news.tools ?? tools,
        isPartial,
      };
    },
    tick: () => void (time.value = now()),
    setPrompts: (found) => void (prompts.value = found),
    select: (key) => void (selectedKey.value = key),
    setExpanded(key, isExpanded) {
      const next = new Set(collapsed.value);
      if (isExpanded) next.delete(key);
      else next.add(key);
      collapsed.value = next;
    },
    setAll: (isExpanded) => void (collapsed.value = new Set(isExpanded ? [] : spans.value.all.keys())),
    zoom: (factor, at) =>
      show(zoomed(window.value, { factor, ...(at !== undefined && { at }), endMs: whole.value.to })),
    move: (by) => zoomedTo.value && show(moved(zoomedTo.value, { by, endMs: whole.value.to })),
    zoomTo: (span) => show(around(span, { endMs: whole.value.to })),
    showTime: show,
    showAll: () => void (zoomedTo.value = undefined),
    setFilter: (more) => void (filter.value = { ...filter.value, ...more }),
    lookAt: (place) => void (event.value = place),
  };
}

/** What an event must match; empty fields match all. */
interface EventFilter {
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
