/** The tool calls of one run: counted, recorded before they act, made through `callTool`. */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import { type ErrorData, PinnaceError, toData } from '../../base/errors.ts';
import type { RunScope } from '../../tools/run-scope.ts';
import { mayAct } from '../../tools/lost-call.ts';
import type { Tool, ToolOutcome } from '../../tools/tool.ts';
import { callStart } from './call-record.ts';
import { callTool } from './call-tool.ts';
import type { CiteOf } from '../loop/citations.ts';
import { createReserves } from '../../tools/delegation.ts';
import type { RunOptions } from '../run-options.ts';
import type { LiveCalls } from './live-calls.ts';
import type { PreparedCalls } from './prepared-calls.ts';
import type { LiveRun } from '../log/live-run.ts';
import type { LoopSpans } from '../loop/loop-spans.ts';

/** Lets a call wait until the stream has shown it: its log lines come after it, and its record is of a call that was shown. */
export interface Announcements {
  tell(toolCallId: string): void;
  of(toolCallId: string): Promise<void>;
}

/** Gives announcements, none made yet. */
export function createAnnouncements(): Announcements {
  const calls = new Map<string, PromiseWithResolvers<void>>();
  const call = (toolCallId: string): PromiseWithResolvers<void> => {
    const known = calls.get(toolCallId) ?? Promise.withResolvers<void>();
    calls.set(toolCallId, known);
    return known;
  };
  return { tell: (toolCallId) => call(toolCallId).resolve(), of: (toolCallId) => call(toolCallId).promise };
}

interface InvokeOptions {
  readonly usage: { toolCalls: number; totalTokens: number };
  readonly live: LiveRun;
  readonly calls: LiveCalls;
  readonly announced: Announcements;
  readonly prepared: PreparedCalls;
  readonly scope: RunScope;
  readonly citeOf: CiteOf;
  readonly spans: LoopSpans;
  readonly push: (chunk: UIMessageChunk) => void;
}

/** Calls a tool of the run; never throws. */
export type Invoke = (
  tool: Tool,
  input: unknown,
  call: { readonly toolCallId: string; readonly signal: AbortSignal; readonly approved?: boolean },
) => Promise<ToolOutcome>;

/** Gives the function through which the loop calls tools; it never throws. */
export function createInvoke(
  options: RunOptions,
  { usage, live, calls, announced, prepared, scope, citeOf, spans, push }: InvokeOptions,
): Invoke {
  const { limits, redaction, agent } = options;
  const shared = { ...options, actor: { type: 'agent', id: agent.id } } as const;
  const { tokens: budget = Infinity } = options.request.budget ?? {};
  const delegation = {
    callers: [agent.id],
    reserve: createReserves(() => budget - usage.totalTokens),
    used: (tokens: number): void => void (usage.totalTokens += tokens),
    show: push,
  };
  return async (tool, input, { toolCallId, signal, approved = false }) => {
    if (++usage.toolCalls > limits.toolCalls) return { ok: false, error: tooManyCalls(limits.toolCalls) };
    // Redacted before it is cut: afterwards nobody would know the beginning of a secret.
    const log = (text: string, level = 'info'): void => {
      const data = { toolCallId, level, text: redaction.text(text).slice(0, 4096) };
      push({ type: 'data-tool-log', data, transient: true });
    };
    await announced.of(toolCallId);
    if (mayAct(tool.definition)) {
      const refused = await recordCall(options, live, { toolCallId, tool: tool.definition.id });
      if (refused) return { ok: false, error: refused };
    }
    const onStart = (): void => calls.started(toolCallId, tool, input);
    const onSpan = (fail: (error: ErrorData) => void): void => calls.opened(toolCallId, fail);
    const facts = { toolCallId, log, scope, signal, approved, cite: citeOf(toolCallId), delegation };
    const call = { ...facts, onStart, onSpan, prepared: prepared.take(tool, input, toolCallId) };
    const outcome = await callTool(tool, input, { call, options: { ...shared, place: spans.current } });
    calls.settled(toolCallId, tool, outcome);
    return outcome;
  };
}

/**
 * Commits the log up to here with the start of the call. What cannot be recorded must not be done: in an outage the call waits, and an
 * instance that lost the run to another cannot write its log.
 */
async function recordCall(
  { runId, ttlMs }: RunOptions,
  live: LiveRun,
  call: { toolCallId: string; tool: string },
): Promise<ErrorData | undefined> {
  try {
    await live.commit([callStart(runId, call, ttlMs)]);
    return undefined;
  } catch (error) {
    return toData(error);
  }
}

function tooManyCalls(limit: number): ErrorData {
  return toData(
    new PinnaceError('budget_exceeded', `Cannot call another tool: this run may make ${limit} calls`, {
      details: { reason: 'tool_calls' },
    }),
  );
}
