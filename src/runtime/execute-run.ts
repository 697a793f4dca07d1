/** Executes one run: the loop drives, the live run records, tool calls are made and observed. */

import type { LanguageModel } from '../ai-types.ts';
import type { Emit, EventStatus } from '../events.ts';
import type { Metrics } from '../metrics.ts';
import type { Authorize, Storage } from '../ports.ts';
import type { Agent } from '../schema.ts';
import type { ToolSet } from './assemble.ts';
import { createDriver, type Driver } from './driver.ts';
import type { Limits } from './limits.ts';
import type { LiveRun } from './live-run.ts';
import type { Principal } from './principal.ts';
import { endOfAbort, failed, type Loop, type ModelMessage, startLoop } from './run.ts';
import type { RunAbort } from './run-abort.ts';
import { createAnnouncements, createInvoke } from './run-calls.ts';
import { closingChunks, openingChunks } from './run-chunks.ts';
import type { RunEnd } from './run-end.ts';
import type { RunRequest } from './run-request.ts';

/** Everything that one run needs, resolved. */
export interface RunOptions {
  readonly agent: Agent;
  readonly model: LanguageModel;
  readonly toolSet: ToolSet;
  readonly messages: readonly ModelMessage[];
  readonly limits: Limits;
  readonly request: RunRequest;
  readonly principal: Principal;
  readonly runId: string;
  readonly traceId: string;
  readonly abort: RunAbort;
  readonly authorize: Authorize;
  readonly storage: Storage;
  readonly ttlMs: number;
  readonly emit: Emit;
  readonly metrics: Metrics;
  readonly now: () => number;
}

/** Executes the run to its end, into its record. Never throws. */
export function executeRun(options: RunOptions, live: LiveRun): void {
  const { runId, traceId, abort, now } = options;
  const { signal } = abort;
  const startedAt = now();
  const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0, steps: 0, toolCalls: 0 };
  const watch = createWatch(options, startedAt);
  const announced = createAnnouncements();
  let loop: Loop | undefined;
  const start = (): Loop =>
    startLoop({
      ...options,
      tools: options.toolSet.tools,
      tokenBudget: options.request.budget?.tokens,
      signal,
      usage,
      invoke: createInvoke(options, { usage, live, announced, push: (chunk) => driver.push(chunk) }),
    });
  const finalUsage = () => ({ ...usage, durationMs: now() - startedAt });
  const driver: Driver = createDriver({
    opening: openingChunks({ runId, traceId }, options.toolSet),
    read: () => (loop ??= start()).read(),
    failure: (error) => signal.aborted ? endOfAbort(signal) : failed(error),
    closing: (end) => closingChunks(end, { runId, traceId, usage: finalUsage() }),
    record(chunk) {
      live.record(chunk);
      if (chunk.type === 'tool-input-available') announced.tell(chunk.toolCallId);
    },
    onEnd(end) {
      abort.release();
      watch(end);
      countRun(options, end, usage);
      void live.end(end, finalUsage());
    },
  });
  abort.whenAborted(options.limits.totalMs, () => driver.end(endOfAbort(signal)));
  void driver.start();
}

/** Emits the run's start now, and its end when called. */
function createWatch(
  { agent, principal, traceId, emit, now, request, runId }: RunOptions,
  startedAt: number,
): (end: RunEnd) => void {
  const facts = {
    traceId,
    actor: { type: 'user', id: principal.subject },
    target: { type: 'agent', id: agent.id },
    payloadSummary: `${runId}, ${request.chat.messages.length} messages`,
  } as const;
  emit({ ...facts, action: 'run.start', status: 'pending', latency: 0, error: null });
  return (end) => {
    const status: EventStatus = end.type === 'completed' ? 'ok' : end.type === 'cancelled' ? 'cancelled' : 'error';
    emit({ ...facts, action: 'run.end', status, latency: now() - startedAt, error: 'error' in end ? end.error : null });
  };
}

function countRun(
  { metrics }: RunOptions,
  end: RunEnd,
  { inputTokens, outputTokens }: { inputTokens: number; outputTokens: number },
): void {
  metrics.count('pinnace_runs_total', { state: end.type });
  metrics.count('pinnace_tokens_total', { kind: 'input' }, inputTokens);
  metrics.count('pinnace_tokens_total', { kind: 'output' }, outputTokens);
}
