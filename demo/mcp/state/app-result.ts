/** The output of an MCP tool as apps receive it: an MCP tool result. */

import { asRecord } from '../../../src/base/is-record.ts';

export interface AppResult {
  readonly content: readonly Readonly<Record<string, unknown>>[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: true;
}

/** Returns the result. What the runtime has left out of an output is left out here too. */
export function toAppResult(output: unknown): AppResult {
  const { data, content, isError } = asRecord(output);
  const blocks = (Array.isArray(content) ? content : []).map(asRecord).flatMap(toBlock);
  const isStructured = typeof data === 'object' && data !== null && !Array.isArray(data);
  const copy = data !== undefined && !blocks.some(({ type }) => type === 'text');
  return {
    content: copy
      ? [...blocks, { type: 'text', text: typeof data === 'string' ? data : JSON.stringify(data) }]
      : blocks,
    ...(isStructured && { structuredContent: asRecord(data) }),
    ...(isError === true && { isError: true as const }),
  };
}

/** A result that says why there is none. */
export function failedResult(message: string): AppResult {
  return { content: [{ type: 'text', text: message }], isError: true };
}

function toBlock(block: Readonly<Record<string, unknown>>): AppResult['content'][number][] {
  const { type, text, uri, name, base64, mimeType } = block;
  if (type === 'text') return [{ type, text }];
  if (type === 'link') return [{ type: 'resource_link', uri, name: name ?? uri }];
  const isMedia = (type === 'image' || type === 'audio') && typeof base64 === 'string';
  return isMedia ? [{ type, data: base64, mimeType }] : [];
}
