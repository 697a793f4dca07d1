/** What became of a tool call, as MCP writes it. */

import { isRecord } from '../../../src/base/is-record.ts';
import type { ErrorData, PinnaceError } from '../../../src/base/errors.ts';
import type { ToolDefinition } from '../../../src/base/schema.ts';
import { type ContentBlock, readContent } from '../../../src/tools/content.ts';
import type { ToolOutcome } from '../../../src/tools/tool.ts';
import { isOfObject } from './definitions.ts';

/** The answer to `tools/call`. */
export interface CallResult {
  readonly [key: string]: unknown;
  readonly content: ContentBlock[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
  readonly _meta?: Record<string, unknown>;
}

/** Returns the answer for an outcome. */
export function toCallResult(outcome: ToolOutcome, definition: ToolDefinition): CallResult {
  return outcome.ok ? toOutput(outcome.output, definition) : toErrorResult(outcome.error);
}

/** Returns the answer for a call that failed: a model reads why, a program the code. */
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

/** Tools whose output is what somebody else has sent: it never counts as blocks of content. */
const foreign: ReadonlySet<ToolDefinition['type']> = new Set(['http', 'mcp', 'code']);

function textOf(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output) ?? 'null';
}

const invalidParams = -32602;

/** Returns the JSON-RPC error for a name that stands for no tool: the SDKs send `code` and `data` as they are. */
export function toProtocolError({ message, details }: PinnaceError): Error {
  const { reason, suggestions = [] } = (details ?? {}) as { reason?: string; suggestions?: readonly string[] }; // the lookup's
  const [suggest] = suggestions;
  const data = { reason, ...(suggest !== undefined && { suggest }), suggestions };
  return Object.assign(new Error(message), { code: invalidParams, data });
}
