/** The outcome of a tool call in the form of MCP. */

import { isRecord } from '../../../src/base/is-record.ts';
import type { ErrorData, PinnaceError } from '../../../src/base/errors.ts';
import type { ToolDefinition } from '../../../src/base/schema.ts';
import { type ContentBlock, readContent } from '../../../src/tools/content.ts';
import type { ToolOutcome } from '../../../src/tools/tool.ts';
import { isOfObject } from './definitions.ts';

/** The result of `tools/call`. */
export interface CallResult {
  readonly [key: string]: unknown;
  readonly content: ContentBlock[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
  readonly _meta?: Record<string, unknown>;
}

/** Returns the result for an outcome. */
export function toCallResult(outcome: ToolOutcome, definition: ToolDefinition): CallResult {
  return outcome.ok ? toOutput(outcome.output, definition) : toErrorResult(outcome.error);
}

/** Returns the result for a call that failed: the message for models, the code for programs. */
export function toErrorResult({ code, message, retryable, retryAfterMs, details }: ErrorData): CallResult {
  const error = {
    code,
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(details !== undefined && { details }),
  };
  return { content: [{ type: 'text', text: message }], isError: true, _meta: { 'pinnace/error': error } };
}

function toOutput(output: unknown, { type, outputSchema }: ToolDefinition): CallResult {
  const rich = foreign.has(type) ? undefined : readContent(output);
  const remote = type === 'mcp' && isRecord(output) ? output : undefined;
  const data = rich ? rich.data : remote ? remote['data'] : output;
  const content: ContentBlock[] = rich?.mcpContent ?? [{ type: 'text', text: textOf(output) }];
  return {
    content,
    ...(isOfObject(outputSchema) && isRecord(data) && { structuredContent: data }),
    ...(remote?.['isError'] === true && { isError: true }),
  };
}

/** Tools whose output comes from elsewhere: it is never read as MCP content blocks. */
const foreign: ReadonlySet<ToolDefinition['type']> = new Set(['http', 'mcp', 'code']);

function textOf(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output) ?? 'null';
}

const invalidParams = -32602;

/** Returns the JSON-RPC error for an unknown tool name: the SDKs send `code` and `data` unchanged. */
export function toProtocolError({ message, details }: PinnaceError): Error {
  const { reason, suggestions = [] } = (details ?? {}) as { reason?: string; suggestions?: readonly string[] }; // the lookup's
  const [suggest] = suggestions;
  const data = { reason, ...(suggest !== undefined && { suggest }), suggestions };
  return Object.assign(new Error(message), { code: invalidParams, data });
}
