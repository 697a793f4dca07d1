/** The chunks that end a tool call, whichever way it ended. */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { ErrorData } from '../../base/errors.ts';
import { waitingOutput } from '../messages/program-parts.ts';
import { failureOf, shownFailure } from '../../tools/failure.ts';
import type { Tool, ToolOutcome } from '../../tools/tool.ts';

/** What names a call in its chunks. */
export interface CallName {
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

/** The chunks that end a call with an error. */
export function failureChunks(call: CallName, error: ErrorData): UIMessageChunk[] {
  return [
    { type: 'tool-output-error', toolCallId: call.toolCallId, errorText: error.message },
    toolErrorPart(call, error),
  ];
}

/** The `data-tool-error` part of a failed call. */
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
