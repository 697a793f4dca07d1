/** How a tool call ends: with an outcome, an error, or no result at all, and the chunks that show each end. */

import { type ErrorData, PinnaceError, toData } from '../base/errors.ts';
import type { ToolDefinition } from '../base/schema.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import { codeRunId } from './run-scope.ts';
import type { Tool, ToolOutcome } from './tool.ts';

/** Whether a call of the tool may change something: the tool does not declare that it only reads. */
export function mayAct({ annotations }: Pick<ToolDefinition, 'annotations'>): boolean {
  return annotations?.readOnlyHint !== true;
}

/**
 * Whether the effect of a started call without a result is unknown. A call that carries its own key of an idempotent tool is
 * safe to repeat, so nothing about it needs a person.
 */
export function leavesDoubt(definition: Pick<ToolDefinition, 'annotations'>, input: unknown): boolean {
  return mayAct(definition) && !(definition.annotations?.idempotentHint === true && hasOwnKey(input));
}

function hasOwnKey(input: unknown): boolean {
  if (typeof input !== 'object' || input === null || !('idempotencyKey' in input)) return false;
  return typeof input.idempotencyKey === 'string' && input.idempotencyKey !== '';
}

/** Why a call ended without a result. */
export type Loss = 'tool_timeout' | 'run_timeout' | 'cancelled' | 'run_failed' | 'worker_lost' | 'superseded';

const whys: Readonly<Record<Loss, string>> = {
  tool_timeout: 'its time was over',
  run_timeout: 'the time of the run was over',
  cancelled: 'the run was cancelled',
  run_failed: 'the run ended',
  worker_lost: 'the instance that executed the run was lost',
  superseded: 'another instance goes on with the run, and asks the model again',
};

/** The error of a call that may have acted. Repeating it could act twice, so it is not retryable. */
export function outcomeUnknown(toolId: string, loss: Loss, cause?: unknown): PinnaceError {
  const message = `The outcome of tool "${toolId}" is unknown: ${whys[loss]} before its result arrived. ` +
    'It may have taken effect; check before calling it again';
  return new PinnaceError('outcome_unknown', message, { cause, details: { reason: loss } });
}

/** The error of a call that was stopped and has changed nothing. */
export function stoppedCall(toolId: string, loss: Loss): PinnaceError {
  const code = loss === 'run_timeout' || loss === 'tool_timeout' ? 'deadline_exceeded' : 'cancelled';
  return new PinnaceError(code, `Tool "${toolId}" was stopped: ${whys[loss]}`, { details: { reason: loss } });
}

/** Why a run's signal stopped its calls. */
export function lossOfSignal({ reason }: AbortSignal): Loss {
  if (reason instanceof PinnaceError) return reason.code === 'deadline_exceeded' ? 'run_timeout' : 'run_failed';
  return reason === 'run_ended' ? 'run_failed' : 'cancelled';
}

/** Why an error left a call without a result, our own stops and a tool's alike; `undefined` for an error that is a result. */
export function lossOfError({ code, details }: Pick<ErrorData, 'code' | 'details'>): Loss | undefined {
  if (code !== 'deadline_exceeded' && code !== 'cancelled') return undefined;
  const reason = details?.['reason'];
  if (isLoss(reason)) return reason;
  return code === 'cancelled' ? 'cancelled' : 'tool_timeout';
}

function isLoss(reason: unknown): reason is Loss {
  return typeof reason === 'string' && Object.hasOwn(whys, reason);
}

/** The error of a call whose result says that the tool failed, as streams show it; the result itself says why. */
const toolFailure: ErrorData = {
  code: 'internal',
  message: 'The tool says that it failed',
  retryable: false,
  details: { reason: 'mcp_tool_error' },
};

/** The same in events and metrics, where the code is OpenTelemetry's name for it. */
export const toolError: ErrorData = { ...toolFailure, code: 'tool_error' };

/** The error of a call that failed with an output, as streams show it. */
function shownFailure({ definition: { id } }: Tool): ErrorData {
  if (id !== codeRunId) return toolFailure;
  return { ...toolFailure, message: 'The program failed; its output says why', details: { reason: 'code_failed' } };
}

/**
 * Returns the error of a call; `null` when it succeeded. A tool of an MCP server may fail with an output, which says why, and so may a
 * program.
 */
export function failureOf(tool: Tool, outcome: ToolOutcome): ErrorData | null {
  if (!outcome.ok) return outcome.error;
  const { output } = outcome;
  const { definition: { id, type } } = tool;
  const mayFailSo = type === 'mcp' || (type === 'builtin' && id === codeRunId);
  const saysSo = mayFailSo && typeof output === 'object' && output !== null && 'isError' in output;
  return saysSo && output.isError === true ? { ...shownFailure(tool), code: toolError.code } : null;
}

/** The error as callers may see it: the text of anything but a `PinnaceError` may hold a secret. */
export function safeError({ definition: { id } }: Tool, error: unknown): PinnaceError {
  if (error instanceof PinnaceError) return error;
  return new PinnaceError('internal', `Tool "${id}" failed`, { cause: error, details: { reason: 'tool_failed' } });
}

/** What a program has as its output while it waits for people. */
export const waitingOutput = { $suspended: true } as const;

interface CallName {
  readonly toolCallId: string;
  /** The name that the model called. */
  readonly tool: string;
  readonly traceId: string;
}

/** The chunks that end a call with its outcome. A tool that says that it failed gets its own words shown, and an error beside them. */
export function outcomeChunks(tool: Tool, outcome: ToolOutcome, call: Omit<CallName, 'tool'>): UIMessageChunk[] {
  const { toolCallId } = call;
  const name = { ...call, tool: tool.definition.name };
  if (!outcome.ok) return failureChunks(name, outcome.error);
  const hasFailed = failureOf(tool, outcome) !== null;
  const shown: UIMessageChunk = { type: 'tool-output-available', toolCallId, output: outcome.output };
  if (hasFailed) return [shown, toolErrorPart(name, shownFailure(tool))];
  const app = tool.app?.();
  return app ? [shown, { type: 'data-mcp-app', id: toolCallId, data: { toolCallId, ...app } }] : [shown];
}

/**
 * The chunk of a program that waits for a person. AI SDK clients send the chat once all its calls have an output or a decision, so it has
 * an output until the next run replaces it.
 */
export function waitingChunk(toolCallId: string): UIMessageChunk {
  return { type: 'tool-output-available', toolCallId, output: waitingOutput };
}

function failureChunks(call: CallName, error: ErrorData): UIMessageChunk[] {
  return [
    { type: 'tool-output-error', toolCallId: call.toolCallId, errorText: error.message },
    toolErrorPart(call, error),
  ];
}

export function toolErrorPart({ toolCallId, tool, traceId }: CallName, error: ErrorData): UIMessageChunk {
  const { code, message, retryable, retryAfterMs, details } = error;
  const data = {
    toolCallId,
    tool,
    code,
    message,
    retryable,
    attempt: attemptsOf(error),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(details && { details }),
    traceId,
  };
  return { type: 'data-tool-error', data };
}

/** How often the work was tried. A tool that tries again says so in its error; any other tries once. */
function attemptsOf({ details }: ErrorData): number {
  const attempts = details?.['attempts'];
  return typeof attempts === 'number' && attempts > 1 ? attempts : 1;
}

/** A call without an end. */
export interface OpenCall {
  readonly toolCallId: string;
  readonly tool: string;
  /** Whether its input is complete; without that, nothing was called. */
  readonly isComplete: boolean;
}

/** Follows the chunks of one stream. */
interface OpenCalls {
  observe(chunk: UIMessageChunk): void;
  has(toolCallId: string): boolean;
  /** In the order in which they were shown. */
  list(): readonly OpenCall[];
}

/** Creates a follower without calls. */
export function createOpenCalls(): OpenCalls {
  const open = new Map<string, OpenCall>();
  return {
    observe(chunk) {
      switch (chunk.type) {
        case 'tool-input-start':
        case 'tool-input-available': {
          const { toolCallId, toolName: tool } = chunk;
          open.set(toolCallId, { toolCallId, tool, isComplete: chunk.type === 'tool-input-available' });
          break;
        }
        case 'tool-output-available':
          if (chunk.preliminary !== true) open.delete(chunk.toolCallId);
          break;
        // A call or a program that waits for a person is not ended: the next run goes on with it.
        case 'data-program':
          if (isSuspended(chunk.data)) open.delete(chunk.data.toolCallId);
          break;
        case 'tool-approval-request':
        case 'tool-input-error':
        case 'tool-output-error':
        case 'tool-output-denied':
          open.delete(chunk.toolCallId);
          break;
        default:
      }
    },
    has: (toolCallId) => open.has(toolCallId),
    list: () => [...open.values()],
  };
}

function isSuspended(data: unknown): data is { readonly toolCallId: string } {
  return typeof data === 'object' && data !== null && 'state' in data && data.state === 'suspended';
}

/** The error of a call without a result. `mayHaveActed`: it had started, and may have changed something. */
export function lostError(
  { tool }: OpenCall,
  { loss, mayHaveActed }: { readonly loss: Loss; readonly mayHaveActed: boolean },
): ErrorData {
  return toData(mayHaveActed ? outcomeUnknown(tool, loss) : stoppedCall(tool, loss));
}

/** The chunks that end a call without a result. */
export function lostChunks(
  { toolCallId, tool, isComplete }: OpenCall,
  { error, traceId }: { readonly error: ErrorData; readonly traceId: string },
): UIMessageChunk[] {
  const call = { toolCallId, tool, traceId };
  if (isComplete) return failureChunks(call, error);
  const errorText = error.message;
  return [{ type: 'tool-input-error', toolCallId, toolName: tool, input: {}, errorText }, toolErrorPart(call, error)];
}
