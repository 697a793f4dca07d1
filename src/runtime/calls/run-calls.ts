/** The tool calls of one run: prepared, recorded before they act, made through `callTool`, and each ended once in the stream. */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import { type ErrorData, PinnaceError, toData } from '../../base/errors.ts';
import { loadOnce } from '../../base/load-once.ts';
import { reportAt } from '../../events/report.ts';
import type { Interaction } from '../../contracts/mcp/interaction.ts';
import { createReserves, type Delegation } from '../../tools/delegation.ts';
import { createRunScope, type RunScope } from '../../tools/run-scope.ts';
import type { SpanContext } from '../../events/span.ts';
import { mayAct } from '../../tools/lost-call.ts';
import type { Tool, ToolOutcome } from '../../tools/tool.ts';
import type { LiveRun } from '../log/live-run.ts';
import type { RunFiles } from '../attachments/files.ts';
import { createCitations } from '../messages/citations.ts';
import type { LoopSpans } from '../loop/loop-spans.ts';
import type { ModelBudget } from '../model/model-budget.ts';
import type { RunOptions } from '../run-options.ts';
import { createCallProgress } from './call-progress.ts';
import { callStart } from '../log/call-record.ts';
import { type CallOptions, callTool } from './call-tool.ts';
import { createLiveCalls, type LiveCalls } from './live-calls.ts';
import { createPreparedCalls, type PreparedCalls } from './prepared-calls.ts';

/** Calls a tool of the run; never throws. */
export type Invoke = (
  tool: Tool,
  input: unknown,
  call: {
    readonly toolCallId: string;
    readonly signal: AbortSignal;
    readonly approved?: boolean;
    readonly interruptionId?: string | undefined;
    /** The span of the program that makes the call; the stream does not announce it. Absent for a call of the model. */
    readonly inside?: SpanContext;
  },
) => Promise<ToolOutcome>;

/** The calls of one run. */
export interface RunCalls extends Pick<LiveCalls, 'observe' | 'closing' | 'acted'> {
  /** What the tools keep open. */
  readonly scope: RunScope;
  readonly prepared: PreparedCalls;
  readonly invoke: Invoke;
  /** Returns what the last call of this id needs of a person, once. */
  readonly interactionOf: (toolCallId: string) => Interaction | undefined;
  /** Counts a call that cannot be made. Returns the error where the run may make no more. */
  readonly countFailed: () => PinnaceError | undefined;
  /** Takes a chunk that the stream has shown: the call that it announces may be made now. */
  shown(chunk: UIMessageChunk): void;
  /** Closes what the tools keep open. */
  close(): Promise<void>;
}

/** What the calls of a run change. */
interface CallTargets {
  readonly live: LiveRun;
  readonly usage: { toolCalls: number };
  readonly budget: ModelBudget;
  readonly spans: Pick<LoopSpans, 'current' | 'step'>;
  readonly push: (chunk: UIMessageChunk) => void;
  readonly files: Pick<RunFiles, 'settled'>;
}

const loadAsking = /* @__PURE__ */ loadOnce(() => import('./ask-person.ts'));

/** Creates the calls of a run that has made none. */
export function createRunCalls(options: RunOptions, targets: CallTargets): RunCalls {
  const { live, usage, spans, push, files } = targets;
  const calls = createLiveCalls(options);
  const prepared = createPreparedCalls(options);
  const announced = createAnnouncements();
  const scope = createRunScope();
  const citeOf = createCitations(options.request.chat.messages, push);
  const delegation = delegationOf(options, targets);
  const shared = sharedBy(options);
  const interactions = new Map<string, Interaction>();
  const countCall = callCounter(usage, options.limits);
  const invoke: Invoke = async (tool, input, { toolCallId, signal, approved = false, interruptionId, inside }) => {
    const tooMany = countCall();
    if (tooMany) return { ok: false, error: toData(tooMany) };
    if (!inside) await announced.of(toolCallId);
    const refused = mayAct(tool.definition) &&
      await recordCall(options, live, { toolCallId, tool: tool.definition.id });
    if (refused) return { ok: false, error: refused };
    const call = {
      toolCallId,
      signal,
      approved,
      scope,
      delegation,
      interruptionId,
      interrupt: (interaction: Interaction) => {
        interactions.set(toolCallId, interaction);
        return interactionRequired(tool);
      },
      askWhileOpen: async (interaction: Interaction) =>
        (await loadAsking()).askWhileOpen(interaction, { facts: options, toolCallId, push }),
      cite: citeOf(toolCallId),
      prepared: prepared.take(tool, input, toolCallId),
      ...shownBy(toolCallId, options, push),
      onStart: () => calls.started(toolCallId, tool, input),
      onSpan: (fail: (error: ErrorData) => void) => calls.opened(toolCallId, fail),
    };
    const report = reportAt(options.report, { step: spans.step });
    const made = await callTool(tool, input, {
      call,
      options: { ...shared, spanContext: inside ?? spans.current, report },
    });
    const outcome = await files.settled(made);
    if (outcome.ok) interactions.delete(toolCallId); // it went on without
    if (!interactions.has(toolCallId)) calls.settled(toolCallId, tool, outcome);
    return outcome;
  };
  return {
    prepared,
    invoke,
    countFailed: countCall,
    interactionOf: (toolCallId) => take(interactions, toolCallId),
    scope,
    acted: (toolCallId) => calls.acted(toolCallId),
    observe: (chunk) => calls.observe(chunk),
    closing: (end) => calls.closing(end),
    shown: (chunk) => chunk.type === 'tool-input-available' && announced.resolve(chunk.toolCallId),
    close: () => scope.close(),
  };
}

/** Returns the function that counts a call: it returns the error where the run may make no more. */
function callCounter(usage: CallTargets['usage'], { toolCalls }: RunOptions['limits']): () => PinnaceError | undefined {
  return () => ++usage.toolCalls > toolCalls ? tooManyCalls(toolCalls) : undefined;
}

function take<T>(map: Map<string, T>, key: string): T | undefined {
  const found = map.get(key);
  map.delete(key);
  return found;
}

/** What all calls of a run share: little, because each call copies it. */
function sharedBy(options: RunOptions): Omit<CallOptions, 'spanContext' | 'report'> {
  const { agent, principal, limits, storage, slots, authorize, resolveSecret } = options;
  const { redaction, recorder, metrics, digests, now } = options;
  const actor = { type: 'agent', id: agent.id } as const;
  return {
    agent,
    principal,
    actor,
    limits,
    storage,
    slots,
    authorize,
    resolveSecret,
    redaction,
    recorder,
    metrics,
    digests,
    now,
  };
}

interface Announcements {
  resolve(toolCallId: string): void;
  of(toolCallId: string): Promise<void>;
}

/** Lets a call wait until the stream has shown it: its log lines come after it, and its record is of a call that was shown. */
function createAnnouncements(): Announcements {
  const calls = new Map<string, PromiseWithResolvers<void>>();
  const call = (toolCallId: string): PromiseWithResolvers<void> => {
    const known = calls.get(toolCallId) ?? Promise.withResolvers<void>();
    calls.set(toolCallId, known);
    return known;
  };
  return { resolve: (toolCallId) => call(toolCallId).resolve(), of: (toolCallId) => call(toolCallId).promise };
}

function delegationOf({ agent }: RunOptions, { budget, push }: CallTargets): Delegation {
  return {
    callers: [agent.id],
    reserve: createReserves(budget),
    used: (more) => budget.addOther(more),
    show: push,
  };
}

/** What a call shows while it works. Redact before truncating, so partial secrets cannot leak. */
function shownBy(toolCallId: string, { redaction, now }: RunOptions, push: CallTargets['push']) {
  const redact = (text: string): string => redaction.text(text);
  return {
    log(text: string, level = 'info'): void {
      const data = { toolCallId, level, text: redact(text).slice(0, 4096).toWellFormed() };
      push({ type: 'data-tool-log', data, transient: true });
    },
    progress: createCallProgress(toolCallId, { redact, now, push }),
  };
}

/**
 * Commits the log up to here with the start of the call. A side effect that cannot be recorded must not happen: in an outage the
 * call waits, and an instance that lost the run to another cannot write its log.
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

function interactionRequired({ definition: { id } }: Tool): PinnaceError {
  return new PinnaceError('approval_required', `Tool "${id}" waits for a person`, {
    details: { reason: 'interaction_required' },
  });
}

function tooManyCalls(limit: number): PinnaceError {
  return new PinnaceError('budget_exceeded', `Cannot call another tool: this run may make ${limit} calls`, {
    details: { reason: 'tool_calls' },
  });
}
