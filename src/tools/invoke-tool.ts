/** The only way to call a tool: use up the call's permit, execute within limits, shape the output. */

import { wellFormed } from '../base/well-formed.ts';
import { setBoundedTimeout } from '../base/timer.ts';
import { base64Size } from './content/base64.ts';
import { PinnaceError, toData } from '../base/errors.ts';
import { spendPermit } from '../permission/call-permit.ts';
import type { Principal } from '../base/principal.ts';
import type { Secret } from '../base/secret.ts';
import { type ErrorContext, type Report, reportHidden } from '../events/report.ts';
import type { Span } from '../events/span.ts';
import { safeError } from './failure.ts';
import { mediaOf } from './content/media.ts';
import { leavesDoubt, lossOfError, lossOfSignal, outcomeUnknown, stoppedCall } from './lost-call.ts';
import type { PreparedCall } from './prepare-call.ts';
import type { RunScope } from './run-scope.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

/** The circumstances of one call. */
export interface ToolCall {
  readonly toolCallId: string;
  readonly agentId: string;
  readonly principal: Principal;
  /** The answer of `prepareCall` for this very call. It is good for one call. */
  readonly prepared: PreparedCall | Promise<PreparedCall>;
  readonly secrets: Readonly<Record<string, Secret>>;
  readonly log: ToolContext['log'];
  /** Texts stay as they are when absent. */
  readonly redact?: ToolContext['redact'] | undefined;
  readonly progress?: ToolContext['progress'] | undefined;
  readonly cite?: ToolContext['cite'] | undefined;
  /** Keeps what tools open until the run ends. */
  readonly scope?: RunScope | undefined;
  /** Is waited for when the call is allowed, before the tool runs: where it rejects, the tool does not. */
  readonly start?: (() => Promise<void>) | undefined;
  /** Is called right before the tool runs: from then on it may have acted. */
  readonly onStart?: (() => void) | undefined;
  /** The span of the call. */
  readonly span?: Span | undefined;
  readonly delegation?: ToolContext['delegation'] | undefined;
  readonly origins?: ToolContext['origins'];
  readonly protect?: ToolContext['protect'];
  readonly interrupt?: ToolContext['interrupt'];
  readonly interruptionId?: ToolContext['interruptionId'];
  readonly askWhileOpen?: ToolContext['askWhileOpen'];
  /** Receives what was thrown, for the host. */
  readonly report?: Report | undefined;
  /** Ends the call, with the run. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** The longest output as JSON text without its files, in UTF-16 code units. */
  readonly maxOutputLength: number;
  /** The largest file of an output, in bytes; files count as any other output when absent. */
  readonly maxFileBytes?: number | undefined;
}

/**
 * Calls a tool and returns its outcome; never throws.
 *
 * The time is bounded, even of a hook or a tool that ignores its signal: such a tool may still be working when its outcome is
 * returned. A started call that may act and has no result is `outcome_unknown`; any other that was stopped is `deadline_exceeded`
 * or `cancelled`. An error that is not a `PinnaceError` is reported as `internal` without its text, which may hold a secret.
 */
export async function invokeTool(tool: Tool, input: unknown, call: ToolCall): Promise<ToolOutcome> {
  let isStarted = false;
  try {
    const output = await withinLimits(tool, call, async (signal) => {
      const prepared = await call.prepared;
      if (prepared && !prepared.ok) throw prepared.error;
      const checked = spendPermit(prepared?.permit, { ...call, tool, input });
      await call.start?.();
      signal.throwIfAborted(); // it took too long, and the outcome is returned: nothing may start now
      isStarted = true;
      call.onStart?.();
      return await execute(tool, checked, { call, signal });
    });
    return { ok: true, output: shapeOutput(tool, output, call) };
  } catch (thrown) {
    if (call.report) reportHidden(call.report, thrown, contextOf(tool));
    const error = safeError(tool, thrown);
    const loss = isStarted && leavesDoubt(tool.definition, input) ? lossOfError(error) : undefined;
    return { ok: false, error: wellFormed(toData(loss ? outcomeUnknown(tool.definition.id, loss, error) : error)) };
  }
}

function contextOf({ definition: { id, type } }: Tool): ErrorContext {
  return { kind: type === 'mcp' ? 'mcp' : 'tool', id };
}

function execute(tool: Tool, input: unknown, { call, signal }: { call: ToolCall; signal: AbortSignal }): unknown {
  const { toolCallId, principal, secrets, log, redact = unchanged, progress, cite, scope, span, delegation } = call;
  const { protect, interrupt, interruptionId, askWhileOpen, origins } = call;
  const report: ToolContext['report'] = call.report &&
    ((cause, more) => call.report?.(cause, { ...contextOf(tool), ...more }));
  return tool.execute(input, {
    signal,
    secrets,
    log,
    redact,
    progress,
    cite,
    toolCallId,
    principal,
    scope,
    span,
    delegation,
    protect,
    interrupt,
    interruptionId,
    askWhileOpen,
    origins,
    report,
  });
}

function unchanged(text: string): string {
  return text;
}

async function withinLimits(
  tool: Tool,
  { signal: run, timeoutMs }: ToolCall,
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<unknown> {
  const { id } = tool.definition;
  if (run.aborted) throw stoppedCall(id, lossOfSignal(run));
  const own = new AbortController(); // cheaper than `AbortSignal.any`, at three calls a run
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = (reason: PinnaceError): void => {
    reject(reason); // before the tool receives the abort, so that an error it throws then is not the outcome
    own.abort(reason);
  };
  const onRunAbort = (): void => stop(stoppedCall(id, lossOfSignal(run)));
  const timer = setBoundedTimeout(() => stop(timedOut(tool, timeoutMs)), timeoutMs);
  run.addEventListener('abort', onRunAbort, { once: true });
  try {
    return await Promise.race([aborted, work(own.signal)]);
  } finally {
    clearTimeout(timer);
    run.removeEventListener('abort', onRunAbort);
  }
}

/** Returns the output as JSON would carry it: a cycle, a BigInt or too many bytes are the tool's failure, not the run's. */
function shapeOutput(tool: Tool, output: unknown, { maxOutputLength, maxFileBytes, span }: ToolCall): unknown {
  const text = stringify(tool, output) ?? 'null';
  span?.note({ output: text.length });
  const shaped: unknown = text.includes('\\ud') ? wellFormed(JSON.parse(text)) : JSON.parse(text); // as JSON writes a half
  if (text.length <= maxOutputLength) return shaped;
  const files = maxFileBytes === undefined ? [] : mediaOf(shaped);
  const filesLength = files.reduce((sum, { data }) => sum + data.length, 0);
  const isFit = files.every(({ data }) => base64Size(data) <= (maxFileBytes ?? 0)) && files.length <= maxFiles;
  if (isFit && text.length - filesLength <= maxOutputLength) return shaped;
  throw new PinnaceError('budget_exceeded', `Cannot use the output of tool "${tool.definition.id}": it is too long`, {
    details: { reason: 'output_too_large', maxOutputLength, ...(files.length > 0 && { maxFileBytes, maxFiles }) },
  });
}

/** The most files of an output that is too long with them. */
const maxFiles = 8;

function stringify(tool: Tool, output: unknown): string | undefined {
  try {
    return JSON.stringify(output);
  } catch (cause) {
    throw new PinnaceError('internal', `Cannot use the output of tool "${tool.definition.id}": it is not JSON`, {
      cause,
      details: { reason: 'output_not_json' },
    });
  }
}

function timedOut(tool: Tool, timeoutMs: number): PinnaceError {
  return new PinnaceError('deadline_exceeded', `Tool "${tool.definition.id}" took longer than ${timeoutMs} ms`, {
    details: { reason: 'tool_timeout' },
  });
}
