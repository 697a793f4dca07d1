/**
 * The only way to call a tool: a call is prepared (checked and permitted), then executed with that permit, within limits.
 *
 * - The permission hook is called once for a call, after its input was checked. Its permit is good for that very call, once.
 * - The time of a call includes its preparation. Nothing starts after the time is over or the run has ended, not even where `start`
 *   has just been recorded.
 * - A started call that may act and has no result is `outcome_unknown`, never a failure that invites a repetition.
 * - The text of an error that is not a `PinnaceError` never leaves: it may hold a secret.
 */

import { PinnaceError, toData } from '../base/errors.ts';
import { invalid, pathText } from '../base/parse.ts';
import { setBoundedTimeout } from '../base/until-aborted.ts';
import { wellFormed } from '../base/text.ts';
import type { Authorize } from '../contracts/authenticator.ts';
import { type ErrorContext, type Report, reportHidden } from '../events/report.ts';
import { refusal, requestPermission, type Ruling } from '../permission/authorize.ts';
import {
  type ApprovalTerms,
  type CallGuard,
  type CallPermit,
  type PermitFacts,
  ruleOnCall,
  spendPermit,
} from '../permission/call-permit.ts';
import { isUntrusted, join, type Label, type Trust, trusted } from '../permission/label.ts';
import { outputLabel } from '../permission/run-facts.ts';
import { needsApproval } from './availability.ts';
import { leavesDoubt, lossOfError, lossOfSignal, mayAct, outcomeUnknown, safeError, stoppedCall } from './call-ends.ts';
import { hasReservedKey, sendable } from '../base/json.ts';
import { base64Size } from '../base/base64.ts';
import { mediaOf } from './content.ts';
import { undeclaredField } from './input-fields.ts';
import { askingFirst, isProviderTool } from './provider-tool.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

/** A call that `invokeTool` may make, or the reason why it may not. */
export type PreparedCall =
  | { readonly ok: true; readonly permit: CallPermit }
  | {
    readonly ok: false;
    readonly error: PinnaceError;
    /** Present when a person must approve the call. `reason` is the permission hook's, where the hook demands it. */
    readonly approval?: ApprovalTerms & { readonly reason?: string };
  };

/** Who calls. */
export interface PrepareOptions extends Pick<PermitFacts, 'toolCallId' | 'agentId' | 'principal' | 'labels'> {
  /** Decides on the call. */
  readonly authorize: Authorize;
  /** A person has approved this very call; `by_caller`: the caller itself, who decides at once. */
  readonly approved?: boolean | 'by_caller' | undefined;
  /** The rules of the agent's level, and what they judge. */
  readonly guard?: CallGuard | undefined;
  /** The level of the agent: absent, `open`. */
  readonly trust?: Trust | undefined;
}

/** Prepares a call for `invokeTool`. Calls the permission hook for valid inputs only. Never throws. */
export async function prepareCall(
  tool: Tool,
  input: unknown,
  { authorize, approved = false, guard, trust, ...caller }: PrepareOptions,
): Promise<PreparedCall> {
  const { definition } = tool;
  const attempt = `Cannot call tool "${definition.id}"`;
  try {
    const checked = await checkInput(tool, input);
    const ruling = await ruleOnCall(authorize, { ...caller, tool, input }, { checked, approved, guard });
    const start = ruling.decision === 'allow' && tool.starts?.(checked);
    const started = start && await rulingOnStart(start, tool, { ...caller, authorize, approved });
    if (started) return started;
    if (ruling.decision === 'allow') {
      if (approved || !needsApproval(definition, trust)) return { ok: true, permit: ruling.permit };
      const error = new PinnaceError('approval_required', `${attempt}: a person must approve the call`);
      return { ok: false, error, approval: {} };
    }
    return refused(ruling, attempt);
  } catch (thrown) {
    return { ok: false, error: safeError(tool, thrown) };
  }
}

/** What the hook says of what a call starts. An approval of the call covers it; a denial stands. */
async function rulingOnStart(
  { action, input, resource }: NonNullable<ReturnType<NonNullable<Tool['starts']>>>,
  { definition: { id } }: Tool,
  { authorize, approved, agentId, principal }: Omit<PrepareOptions, 'toolCallId'>,
): Promise<PreparedCall | undefined> {
  const wish = { action, principal, resource: resource ?? { type: 'tool', id }, context: { input, agentId } };
  const ruling = await requestPermission(authorize, wish);
  if (ruling.decision === 'allow' || (ruling.decision === 'ask' && approved === true)) return undefined;
  return refused(ruling, `Cannot call tool "${id}"`);
}

function refused(ruling: Exclude<Ruling, { readonly decision: 'allow' }>, attempt: string): PreparedCall {
  const error = refusal(ruling, attempt);
  if (ruling.decision === 'deny') return { ok: false, error };
  const { decision: _, code: __, ...approval } = ruling;
  return { ok: false, error, approval };
}

/** Why a tool of a provider is not declared: its calls are denied, or need an approval that its provider does not ask for. */
export type Unpermitted = 'not_permitted' | 'approval_unsupported';

/**
 * The tools without those of providers whose calls `authorize` denies, or wants approved where the provider does not ask; `tools` is the
 * same array where all are simply allowed.
 */
export async function permittedTools(
  tools: readonly Tool[],
  caller: Omit<PrepareOptions, 'toolCallId' | 'approved'>,
): Promise<{ readonly tools: readonly Tool[]; readonly left: ReadonlyMap<Tool, Unpermitted> }> {
  const left = new Map<Tool, Unpermitted>();
  const asking = new Map<Tool, Tool>();
  for (const tool of tools.filter(isProviderTool)) {
    const prepared = await prepareCall(tool, {}, { ...caller, toolCallId: 'provider' });
    if (prepared.ok) continue;
    const asked = prepared.approval && askingFirst(tool);
    if (asked) asking.set(tool, asked);
    else left.set(tool, prepared.approval ? 'approval_unsupported' : 'not_permitted');
  }
  if (left.size + asking.size === 0) return { tools, left };
  return { tools: tools.filter((tool) => !left.has(tool)).map((tool) => asking.get(tool) ?? tool), left };
}

async function checkInput(tool: Tool, input: unknown): Promise<unknown> {
  const { id, limits: { inputLength = Infinity } = {} } = tool.definition;
  if (inputLength !== Infinity && (JSON.stringify(input)?.length ?? 0) > inputLength) {
    throw new PinnaceError('invalid_argument', `Cannot call tool "${id}": its input is longer than ${inputLength}`, {
      details: { reason: 'input_too_large', inputLength },
    });
  }
  const what = `the input of tool "${id}"`;
  const check = tool.check(input);
  const checked = check instanceof Promise ? await check : check; // mostly at once
  if (!checked.ok) throw invalid(what, checked.issues);
  // A tool that may act gets no field that its schema neither declares nor permits.
  const undeclared = mayAct(tool.definition) ? undeclaredField(input, tool.definition.paramsSchema) : undefined;
  if (!undeclared) return checked.input;
  throw invalid(what, [{ path: pathText(undeclared), message: 'is not declared by the tool' }], 'undeclared_field');
}

/** The limits of the execution of a call, and the functions that receive its progress. */
export interface CallBounds {
  /** The answer of `prepareCall` for this very call. It is good for one call. */
  readonly prepared: PreparedCall | Promise<PreparedCall>;
  /** Is waited for when the call is allowed, before the tool runs: where it rejects, the tool does not. */
  readonly start?: (() => Promise<void>) | undefined;
  /** Is called right before the tool runs: from then on it may have acted. */
  readonly onStart?: (() => void) | undefined;
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

/** What a tool gets of its call, besides what the execution adds. */
export type LentContext = Omit<ToolContext, 'signal' | 'report'>;

/** The circumstances of one call of `invokeTool`: what the tool gets, its bounds, and the agent whose call it is. */
export interface InvokeOptions extends CallBounds, Omit<LentContext, 'redact' | 'client'> {
  readonly agentId: string;
  /** Texts stay as they are when absent. */
  readonly redact?: ToolContext['redact'] | undefined;
}

/**
 * Calls a tool and returns its outcome; never throws.
 *
 * The time is bounded, even of a hook or a tool that ignores its signal: such a tool may still be working when its outcome is
 * returned. A started call that may act and has no result is `outcome_unknown`; any other that was stopped is `deadline_exceeded`
 * or `cancelled`. An error that is not a `PinnaceError` is reported as `internal` without its text, which may hold a secret.
 */
export async function invokeTool(tool: Tool, input: unknown, options: InvokeOptions): Promise<ToolOutcome> {
  const { agentId, prepared, start, onStart, report, signal, timeoutMs, maxOutputLength, maxFileBytes, ...lent } =
    options;
  const bounds = { prepared, start, onStart, report, signal, timeoutMs, maxOutputLength, maxFileBytes };
  const { toolCallId, principal, redact = unchanged } = lent;
  const call = { tool, input, toolCallId, agentId, principal };
  let said = trusted;
  const label = (more: Label): void => {
    said = join(said, more);
    lent.label?.(more);
  };
  return withOrigin(tool, await executeCall(call, { bounds, context: { ...lent, redact, label } }), said);
}

/** Marks an output that strangers have written, behind its source, for models that read it. `said`: what the tool says of it. */
export function withOrigin(tool: Tool, outcome: ToolOutcome, said: Label): ToolOutcome {
  if (!tool.saysWho || !outcome.ok || !isUntrusted(join(outputLabel(tool.definition, trusted, 'open'), said))) {
    return outcome;
  }
  const { source, ...rest } = outcome.output as Readonly<Record<string, unknown>>; // as `saysWho` says
  return { ok: true, output: { ...(source !== undefined && { source }), untrusted: true, ...rest } };
}

function unchanged(text: string): string {
  return text;
}

type CallOfTool = PermitFacts & { readonly tool: Tool };

interface Execution {
  readonly bounds: CallBounds;
  readonly context: LentContext;
}

/** Executes a prepared call; never throws. */
export async function executeCall(call: CallOfTool, { bounds, context }: Execution): Promise<ToolOutcome> {
  const { tool, input } = call;
  const { definition } = tool;
  const where: ErrorContext = { kind: definition.type === 'mcp' ? 'mcp' : 'tool', id: definition.id };
  const { report: emit } = bounds;
  const report: ToolContext['report'] = emit && ((cause, more) => emit(cause, { ...where, ...more }));
  let isStarted = false;
  try {
    const output = await withinLimits(tool, bounds, async (signal) => {
      const prepared = await bounds.prepared;
      if (prepared && !prepared.ok) throw prepared.error;
      signal.throwIfAborted(); // it took too long, and the outcome is returned: nothing may start now
      const checked = spendPermit(prepared?.permit, call);
      await bounds.start?.();
      signal.throwIfAborted();
      isStarted = true;
      bounds.onStart?.();
      return await tool.execute(checked, { ...context, signal, report });
    });
    return { ok: true, output: shapeOutput(tool, output, { bounds, context }) };
  } catch (thrown) {
    if (emit) reportHidden(emit, thrown, where);
    const error = safeError(tool, thrown);
    const loss = isStarted && leavesDoubt(definition, input) ? lossOfError(error) : undefined;
    return { ok: false, error: wellFormed(toData(loss ? outcomeUnknown(definition.id, loss, error) : error)) };
  }
}

async function withinLimits(
  tool: Tool,
  { signal: run, timeoutMs }: CallBounds,
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

/** The most files of an output that is too long with them. */
const maxFiles = 8;

/** Returns the output as JSON would carry it: a cycle, a BigInt or too many bytes are the tool's failure, not the run's. */
function shapeOutput(
  { definition: { id } }: Tool,
  output: unknown,
  { bounds: { maxOutputLength, maxFileBytes }, context: { span } }: Execution,
): unknown {
  const text = stringify(id, output) ?? 'null';
  span?.note({ output: text.length });
  const whole: unknown = text.includes('\\ud') ? wellFormed(JSON.parse(text)) : JSON.parse(text); // as JSON writes a half
  const shaped = hasReservedKey(text) ? sendable(whole) : whole;
  if (text.length <= maxOutputLength) return shaped;
  const files = maxFileBytes === undefined ? [] : mediaOf(shaped);
  const filesLength = files.reduce((sum, { data }) => sum + data.length, 0);
  const isFit = files.every(({ data }) => base64Size(data) <= (maxFileBytes ?? 0)) && files.length <= maxFiles;
  if (isFit && text.length - filesLength <= maxOutputLength) return shaped;
  throw new PinnaceError('budget_exceeded', `Cannot use the output of tool "${id}": it is too long`, {
    details: { reason: 'output_too_large', maxOutputLength, ...(files.length > 0 && { maxFileBytes, maxFiles }) },
  });
}

function stringify(toolId: string, output: unknown): string | undefined {
  try {
    const text = JSON.stringify(output);
    const isSuspicious = text === undefined ? output !== undefined : /\{\}|\{"0":|"Buffer"/.test(text);
    return isSuspicious ? JSON.stringify(output, withoutSilence) : text;
  } catch (cause) {
    throw new PinnaceError('internal', `Cannot use the output of tool "${toolId}": it is not JSON`, {
      cause,
      details: { reason: 'output_not_json' },
    });
  }
}

/** Writes a map as an object or as pairs, a set as a list, and refuses what JSON would make an empty object, or numbers, of. */
function withoutSilence(this: Readonly<Record<string, unknown>>, key: string, written: unknown): unknown {
  const value = this[key]; // before its `toJSON`
  if (value instanceof Map) {
    return [...value.keys()].every((name) => typeof name === 'string') ? Object.fromEntries(value) : [...value];
  }
  if (value instanceof Set) return [...value];
  if (ArrayBuffer.isView(value)) throw new TypeError('Bytes are not JSON: return contentOutput([…])');
  if (typeof value === 'function' && key === '') throw new TypeError('A function is not JSON: return what it returns');
  if (typeof value !== 'object' || value === null || written !== value) return written;
  const kind = Object.prototype.toString.call(value).slice('[object '.length, -1);
  if (kind === 'Error') throw new TypeError('An error is not JSON: throw it', { cause: value });
  if (['Object', 'Array'].includes(kind) || Object.keys(value).length > 0) return written;
  throw new TypeError(`A ${kind} is not JSON, and would be {}: return what it holds`);
}

function timedOut(tool: Tool, timeoutMs: number): PinnaceError {
  return new PinnaceError('deadline_exceeded', `Tool "${tool.definition.id}" took longer than ${timeoutMs} ms`, {
    details: { reason: 'tool_timeout' },
  });
}
