/** Why a call has failed, for events and metrics. */

import { type ErrorData, PinnaceError } from '../base/errors.ts';
import { codeRunId } from './program-host.ts';
import type { Tool, ToolOutcome } from './tool.ts';

/** The error of a call whose result says that the tool failed, as streams show it; the result itself says why. */
export const toolFailure: ErrorData = {
  code: 'internal',
  message: 'The tool says that it failed',
  retryable: false,
  details: { reason: 'mcp_tool_error' },
};

/** The same in events and metrics, where the code is OpenTelemetry's name for it. */
export const toolError: ErrorData = { ...toolFailure, code: 'tool_error' };

/** The error of a call that failed with an output, as streams show it. */
export function shownFailure({ definition: { id } }: Tool): ErrorData {
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
