/** A run that is being recorded: its events as they come, and its head as they make it. */

import type { ObservedEvent } from '../../../src/contracts/event-sink.ts';
import { readSummary } from '../../../src/events/payload-summary.ts';
import type { RunHead, RunRecord, RunTools } from '../../control/runs-control.ts';

/** The most stored events of one run. */
export const maxEventsOfRun = 10_000;

/** A run in the worker's memory. */
export interface LiveRun {
  readonly head: RunHead;
  readonly record: RunRecord;
  add(event: ObservedEvent): void;
  setTools(tools: RunTools): void;
  setParent(runId: string): void;
  /** It was started by this message of the user. */
  setQuestion(text: string): void;
  /** Some of its events are missing. */
  setPartial(): void;
  /** The events from this place on. */
  since(place: number): readonly ObservedEvent[];
}

/** Creates the run that this event starts, without the event. */
export function createLiveRun({ traceId, target, timestamp, payloadSummary }: ObservedEvent): LiveRun {
  const { runId } = readSummary(payloadSummary);
  return resumeLiveRun({
    events: [],
    head: {
      traceId,
      runId: String(runId ?? ''),
      agentId: target.id,
      startedAt: Date.parse(timestamp),
      status: 'pending',
      events: 0,
      dropped: 0,
      modelCalls: 0,
      toolCalls: 0,
      tokens: 0,
      failures: 0,
    },
  });
}

/** Returns a run that continues from its stored part. */
export function resumeLiveRun(stored: RunRecord): LiveRun {
  const events = [...stored.events];
  let { head, tools, isPartial } = stored;
  return {
    get head() {
      return head;
    },
    get record() {
      return { head, events: [...events], ...(tools && { tools }), ...(isPartial && { isPartial }) };
    },
    add(event) {
      const isStored = events.length < maxEventsOfRun;
      if (isStored) events.push(event);
      head = withEvent({ ...head, ...(isStored ? { events: head.events + 1 } : { dropped: head.dropped + 1 }) }, event);
    },
    setTools(found) {
      tools = found;
    },
    setParent(runId) {
      head = { ...head, forkOf: runId };
    },
    setQuestion(text) {
      head = { ...head, question: text };
    },
    setPartial() {
      isPartial = true;
    },
    since: (place) => events.slice(place),
  };
}

function withEvent(head: RunHead, { action, target, status, latency, payloadSummary }: ObservedEvent): RunHead {
  if (action === 'plan.start') return { ...head, planId: target.id };
  if (status === 'pending') return head;
  const failures = head.failures + (status === 'error' || status === 'denied' ? 1 : 0);
  switch (action) {
    case 'run.end':
      // The list shows only the first run of a trace; the agents of its plan are inside, and end otherwise.
      if (target.id !== head.agentId) {
        return head.durationMs === undefined ? { ...head, durationMs: latency, status } : head;
      }
      return { ...head, ...endIn(payloadSummary), status, durationMs: head.durationMs ?? latency };
    case 'model.call':
      return { ...head, failures, modelCalls: head.modelCalls + 1, tokens: head.tokens + tokensIn(payloadSummary) };
    case 'tool.call':
      return { ...head, failures, toolCalls: head.toolCalls + 1 };
    default:
      return head;
  }
}

function endIn(summary: string): Pick<RunHead, 'end'> {
  const { state } = readSummary(summary);
  return typeof state === 'string' ? { end: state } : {};
}

function tokensIn(summary: string): number {
  const { totalTokens, inputTokens = 0, outputTokens = 0 } = readSummary(summary);
  if (typeof totalTokens === 'number') return totalTokens;
  return [inputTokens, outputTokens].reduce<number>((sum, count) => sum + (typeof count === 'number' ? count : 0), 0);
}
