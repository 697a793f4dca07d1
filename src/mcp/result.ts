/** What a model gets of an MCP result: little, cut to size, and marked as the words of a stranger. */

import { PinnaceError } from '../base/errors.ts';
import { canonicalJson } from '../base/json.ts';
import type { McpCallResult } from '../contracts/mcp/mcp-connector.ts';
import type { ToolContext } from '../tools/tool.ts';
import { asRecord } from '../base/is-record.ts';

/** The output of an MCP tool. What the server said is facts to judge, never instructions. */
export interface McpToolOutput {
  /** The alias of the server. */
  readonly source: string;
  readonly untrusted: true;
  /** The tool reports a failure; `content` has the reason. */
  readonly isError?: true;
  /** The structured result. */
  readonly data?: unknown;
  readonly content?: readonly McpContent[];
  /** Whether there was more. */
  readonly truncated?: true;
}

/** One block of a result. */
export type McpContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'link'; readonly uri: string; readonly name?: string }
  | { readonly type: 'image' | 'audio' | 'resource'; readonly mimeType?: string; readonly base64: string }
  /** Something that a model cannot read as text, and how long it is as base64. */
  | { readonly type: 'image' | 'audio' | 'resource' | 'other'; readonly mimeType?: string; readonly omitted: number };

/** How a result is shaped. What is cut short loses its secrets before. */
export interface ResultOptions extends Pick<ToolContext, 'redact'> {
  readonly source: string;
  /** The longest text of all blocks together, and the longest structured result as JSON, in UTF-16 code units. */
  readonly maxLength: number;
  /** Whether the result keeps images, sounds and files. */
  readonly media: boolean;
  /** What is wrong with a structured result, by the pinned output schema; absent where none is pinned. */
  readonly listIssues?: ((data: unknown) => readonly unknown[]) | undefined;
}

/**
 * Returns the output for a result.
 *
 * @throws PinnaceError `unavailable` with the reason `mcp_output_invalid` for a result that breaks the pinned output schema. A
 * result that says that the tool failed is not held to it.
 */
export function shapeResult(result: McpCallResult, options: ResultOptions): McpToolOutput {
  const { isError, structuredContent } = result;
  if (!isError && options.listIssues) checkOutput(structuredContent, options.listIssues);
  const data = structuredContent === undefined ? {} : cutData(structuredContent, options);
  const { content, truncated } = cutContent(withoutCopy(result), options);
  return {
    source: options.source,
    untrusted: true,
    ...(isError && { isError: true as const }),
    ...data,
    ...((content.length > 0 || structuredContent === undefined) && { content }),
    ...(truncated && { truncated: true as const }),
  };
}

function checkOutput(data: unknown, listIssues: (data: unknown) => readonly unknown[]): void {
  if (data !== undefined && listIssues(data).length === 0) return;
  throw new PinnaceError(
    'unavailable',
    'Cannot use the result: it is not as the approved output schema says',
    { retryable: false, details: { reason: 'mcp_output_invalid' } },
  );
}

function cutData(data: unknown, { maxLength, redact }: ResultOptions): Pick<McpToolOutput, 'data' | 'truncated'> {
  const text = JSON.stringify(data);
  return text.length <= maxLength ? { data } : { data: cut(text, maxLength, redact), truncated: true };
}

function cut(text: string, maxLength: number, redact: ResultOptions['redact']): string {
  return (text.length <= maxLength ? text : redact(text).slice(0, maxLength)).toWellFormed();
}

/** Servers repeat a structured result as text, for clients that know no other: a model needs it once. */
function withoutCopy({ content, structuredContent }: McpCallResult): readonly unknown[] {
  if (structuredContent === undefined) return content;
  const copy = canonicalJson(structuredContent);
  return content.filter((block) => !isCopy(asRecord(block)['text'], copy));
}

function isCopy(text: unknown, copy: string): boolean {
  if (typeof text !== 'string') return false;
  try {
    return canonicalJson(JSON.parse(text)) === copy;
  } catch {
    return false;
  }
}

const maxBlocks = 100;

function cutContent(
  blocks: readonly unknown[],
  options: ResultOptions,
): { readonly content: readonly McpContent[]; readonly truncated: boolean } {
  let left = options.maxLength;
  let truncated = blocks.length > maxBlocks;
  const content = blocks.slice(0, maxBlocks).map((block): McpContent => {
    const shaped = shapeBlock(asRecord(block), options);
    if (shaped.type !== 'text') return shaped;
    if (shaped.text.length > left) truncated = true;
    const text = cut(shaped.text, left, options.redact);
    left -= text.length;
    return { type: 'text', text };
  });
  return { content: content.filter((block) => block.type !== 'text' || block.text !== ''), truncated };
}

function shapeBlock(block: Readonly<Record<string, unknown>>, { media, redact }: ResultOptions): McpContent {
  const { type, text, data, uri, name } = block;
  if (type === 'text' && typeof text === 'string') return { type, text };
  if (type === 'image' || type === 'audio') return binary(type, { data, mimeType: block['mimeType'] }, media);
  if (type === 'resource_link' && typeof uri === 'string') {
    const named = typeof name === 'string' && { name: cut(name, 200, redact) };
    return { type: 'link', uri: cut(uri, 2048, redact), ...named };
  }
  if (type !== 'resource') return { type: 'other', omitted: 0 };
  const resource = asRecord(block['resource']);
  if (typeof resource['text'] === 'string') return { type: 'text', text: resource['text'] };
  return binary(type, { data: resource['blob'], mimeType: resource['mimeType'] }, media);
}

function binary(
  type: 'image' | 'audio' | 'resource',
  { data, mimeType }: { readonly data: unknown; readonly mimeType: unknown },
  media: boolean,
): McpContent {
  const base64 = typeof data === 'string' ? data : '';
  const kind = typeof mimeType === 'string' ? { mimeType: mimeType.slice(0, 100) } : {};
  return media ? { type, ...kind, base64 } : { type, ...kind, omitted: base64.length };
}
