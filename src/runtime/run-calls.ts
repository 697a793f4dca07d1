/** The tool calls of one run: counted, recorded before they act, made through `invokeTool`, observed. */

import type { UIMessageChunk } from '../ai-types.ts';
import { type ErrorData, PinnaceError, toData } from '../errors.ts';
import type { EventStatus } from '../events.ts';
import { takeToken } from '../rate-limit.ts';
import { invokeTool } from '../tools/invoke-tool.ts';
import type { RunScope } from '../tools/run-scope.ts';
import type { Secret } from '../secret.ts';
import type { Tool, ToolOutcome } from '../tools/tool.ts';
import { beginCall, mayAct } from './call-record.ts';
import type { RunOptions } from './execute-run.ts';
import type { LiveRun } from './live-run.ts';

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
  readonly usage: { toolCalls: number };
  readonly live: LiveRun;
  readonly announced: Announcements;
  readonly scope: RunScope;
  readonly push: (chunk: UIMessageChunk) => void;
}

/** Calls a tool of the run; never throws. */
export type Invoke = (
  tool: Tool,
  input: unknown,
  call: { readonly toolCallId: string; readonly signal: AbortSignal; readonly approved?: boolean },
) => Promise<ToolOutcome>;

/** Gives the function through which the loop calls tools; it never throws. */
export function createInvoke(options: RunOptions, { usage, live, announced, scope, push }: InvokeOptions): Invoke {
  const { limits, now, redaction } = options;
  return async (tool, input, { toolCallId, signal, approved = false }) => {
    if (++usage.toolCalls > limits.toolCalls) return { ok: false, error: tooManyCalls(limits.toolCalls) };
    const startedAt = now();
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
    const outcome = await callInTurn(tool, options, signal, async () => {
      const secrets = await toolSecrets(tool, options);
      const redact = (text: string): string => redaction.text(text);
      const facts = { ...callFacts(options, tool), secrets, toolCallId, log, redact, scope, signal, approved };
      return redacted(await invokeTool(tool, input, facts), options);
    });
    observeCall(options, { tool, outcome, startedAt });
    return outcome;
  };
}

/** Commits the log up to here, then that the call begins. What cannot be recorded must not be done. */
async function recordCall(
  { storage, runId, ttlMs }: RunOptions,
  live: LiveRun,
  call: { toolCallId: string; tool: string },
): Promise<ErrorData | undefined> {
  try {
    await live.flush();
    await beginCall(storage, runId, call, ttlMs);
    return undefined;
  } catch (error) {
    return toData(error);
  }
}

/** Waits for a place among the tool's calls, and takes one of the agent's; without either, nothing is called. */
async function callInTurn(
  { definition: { id, limits } }: Tool,
  { slots, storage, now, agent, principal, limits: { callsPerMinute: perMinute } }: RunOptions,
  signal: AbortSignal,
  work: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  let free: (() => void) | undefined;
  try {
    if (limits?.parallel !== undefined) free = await slots.take(id, limits.parallel, signal);
    if (perMinute !== undefined) {
      await takeToken({ key: ['rate', principal.tenant, agent.id], perMinute }, { storage, now });
    }
    return await work();
  } catch (error) {
    return { ok: false, error: toData(error) };
  } finally {
    free?.();
  }
}

/** The secrets that the definition lists, and no others. */
async function toolSecrets(
  { definition: { id: toolId, secrets } }: Tool,
  { agent, principal: { tenant }, resolveSecret, redaction }: RunOptions,
): Promise<Readonly<Record<string, Secret>>> {
  const scope = { tenant, agentId: agent.id, toolId };
  const entries = await Promise.all(secrets.map(async (ref) => [ref.id, await resolveSecret(ref, scope)] as const));
  for (const [, secret] of entries) redaction.add(secret);
  return Object.fromEntries(entries);
}

/** What goes to the model and to the client must not hold a secret that a tool was careless with. */
function redacted(outcome: ToolOutcome, { redaction }: RunOptions): ToolOutcome {
  if (outcome.ok) return { ok: true, output: redaction.data(outcome.output) };
  return { ok: false, error: redaction.data(outcome.error) };
}

function callFacts({ agent, principal, authorize, limits }: RunOptions, { definition }: Tool) {
  return {
    agentId: agent.id,
    principal,
    authorize,
    timeoutMs: Math.min(limits.toolMs, definition.limits?.timeoutMs ?? Infinity),
    maxOutputLength: Math.min(limits.toolOutputLength, definition.limits?.outputLength ?? Infinity),
  };
}

function observeCall(
  { agent, traceId, emit, metrics, now }: RunOptions,
  { tool, outcome, startedAt }: { tool: Tool; outcome: ToolOutcome; startedAt: number },
): void {
  metrics.count('pinnace_tool_calls_total', { tool: tool.definition.id, status: statusOf(outcome) });
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
