/** One run as a stream: what opens it, what closes it, and how its tool calls are made and observed. */

import type { LanguageModel, UIMessageChunk } from '../ai-types.ts';
import { type ErrorData, PinnaceError, toData } from '../errors.ts';
import type { Emit, EventStatus } from '../events.ts';
import type { Authorize } from '../ports.ts';
import type { Agent } from '../schema.ts';
import { invokeTool } from '../tools/invoke-tool.ts';
import type { Tool, ToolOutcome } from '../tools/tool.ts';
import { countExcluded, type ToolSet } from './assemble.ts';
import type { Limits } from './limits.ts';
import type { Principal } from './principal.ts';
import type { RunAbort } from './run-abort.ts';
import { endOfAbort, failed, type Loop, type ModelMessage, startLoop } from './run.ts';
import type { RunRequest } from './run-request.ts';
import { createRunStream, type RunEnd, type RunStream } from './stream.ts';

/** Everything that one run needs, resolved. */
export interface RunOptions {
  readonly agent: Agent;
  readonly model: LanguageModel;
  readonly toolSet: ToolSet;
  readonly messages: readonly ModelMessage[];
  readonly limits: Limits;
  readonly request: RunRequest;
  readonly principal: Principal;
  readonly traceId: string;
  readonly abort: RunAbort;
  readonly authorize: Authorize;
  readonly emit: Emit;
  readonly now: () => number;
}

/** Starts the run and gives its stream. */
export function streamRun(options: RunOptions): ReadableStream<UIMessageChunk> {
  const runId = `run_${crypto.randomUUID().replaceAll('-', '')}`;
  const startedAt = options.now();
  const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0, steps: 0, toolCalls: 0 };
  const { abort } = options;
  const signal = abort.signal;
  const watch = createWatch(options, runId, startedAt);
  let loop: Loop | undefined;
  const start = (): Loop =>
    startLoop({
      ...options,
      tools: options.toolSet.tools,
      tokenBudget: options.request.budget?.tokens,
      signal,
      usage,
      invoke: createInvoke(options, { usage, push: out.push }),
    });
  const out: RunStream = createRunStream({
    opening: openingChunks(options, runId),
    read: () => (loop ??= start()).read(),
    failure: (error) => signal.aborted ? endOfAbort(signal) : failed(error),
    closing(end) {
      abort.release();
      watch(end);
      const durationMs = options.now() - startedAt;
      return closingChunks(end, { runId, traceId: options.traceId, usage: { ...usage, durationMs } });
    },
  });
  abort.whenAborted(options.limits.totalMs, () => out.end(endOfAbort(signal)));
  return out.stream;
}

function openingChunks({ traceId, toolSet }: RunOptions, runId: string): readonly UIMessageChunk[] {
  const { digest, tools } = toolSet;
  return [
    { type: 'start', messageId: `msg_${runId.slice(4)}` },
    { type: 'data-run', id: runId, data: { runId, traceId, state: 'running' } },
    {
      type: 'data-manifest',
      data: { digest, included: tools.map(({ definition }) => definition.name), excluded: countExcluded(toolSet) },
    },
  ];
}

interface Facts {
  readonly runId: string;
  readonly traceId: string;
  readonly usage: Readonly<Record<string, number>>;
}

function closingChunks(end: RunEnd, { runId, traceId, usage }: Facts): readonly UIMessageChunk[] {
  const error = 'error' in end ? { error: end.error } : {};
  return [
    { type: 'data-usage', data: usage },
    { type: 'data-run', id: runId, data: { runId, traceId, state: end.type, ...error } },
    terminalChunk(end),
  ];
}

function terminalChunk(end: RunEnd): UIMessageChunk {
  switch (end.type) {
    case 'completed':
    case 'stopped':
      return { type: 'finish', finishReason: end.finishReason };
    case 'cancelled':
      return { type: 'abort', reason: end.reason };
    case 'failed':
      return { type: 'error', errorText: `${end.error.code}: ${end.error.message}` };
    default:
      return end satisfies never;
  }
}

function createInvoke(
  options: RunOptions,
  { usage, push }: { usage: { toolCalls: number }; push: RunStream['push'] },
): (tool: Tool, input: unknown, call: { toolCallId: string; signal: AbortSignal }) => Promise<ToolOutcome> {
  const { agent, principal, authorize, limits, emit, traceId, now } = options;
  return async (tool, input, { toolCallId, signal }) => {
    if (++usage.toolCalls > limits.toolCalls) return { ok: false, error: tooManyCalls(limits.toolCalls) };
    const startedAt = now();
    const outcome = await invokeTool(tool, input, {
      toolCallId,
      agentId: agent.id,
      principal,
      authorize,
      secrets: {},
      log: (text, level = 'info') =>
        push({
          type: 'data-tool-log',
          data: { toolCallId, level, text: String(text).slice(0, 4096) },
          transient: true,
        }),
      signal,
      timeoutMs: limits.toolMs,
      maxOutputLength: limits.toolOutputLength,
    });
    emit({
      traceId,
      actor: { type: 'agent', id: agent.id },
      action: 'tool.call',
      target: { type: 'tool', id: tool.definition.id },
      status: statusOf(outcome),
      latency: now() - startedAt,
      error: outcome.ok ? null : outcome.error,
      payloadSummary: '',
    });
    return outcome;
  };
}

function tooManyCalls(limit: number): ErrorData {
  return toData(
    new PinnaceError('budget_exceeded', `Cannot call another tool: this run may make ${limit} calls`, {
      details: { reason: 'tool_calls' },
    }),
  );
}

function statusOf(outcome: ToolOutcome): EventStatus {
  if (outcome.ok) return 'ok';
  if (outcome.error.code === 'cancelled') return 'cancelled';
  return outcome.error.code === 'forbidden' || outcome.error.code === 'approval_required' ? 'denied' : 'error';
}

/** Emits the run's start now, and its end when called. */
function createWatch(
  { agent, principal, traceId, emit, now, request }: RunOptions,
  runId: string,
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
