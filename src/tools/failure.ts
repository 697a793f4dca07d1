/** Why a call has failed, as it is told of and counted. */

import type { ErrorData } from '../errors.ts';
import type { Tool, ToolOutcome } from './tool.ts';

/** What is told of a call that came back with a tool's own word that it failed; the name is OpenTelemetry's. */
export const toolError: ErrorData = { code: 'tool_error', message: 'The tool says that it failed', retryable: false };

/** Gives the error of a call; `null` where it went well. A tool of an MCP server may fail with an output, which says why. */
export function failureOf({ definition: { type } }: Tool, outcome: ToolOutcome): ErrorData | null {
  if (!outcome.ok) return outcome.error;
  const { output } = outcome;
  const saysSo = type === 'mcp' && typeof output === 'object' && output !== null && 'isError' in output;
  return saysSo && output.isError === true ? toolError : null;
}
