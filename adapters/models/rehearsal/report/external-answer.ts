/** The answers of other servers (MCP, HTTP) without the frame that marks them as untrusted. */

import { asRecord } from '../../../../src/base/is-record.ts';
import { own } from '../shape.ts';

/** What a server said, and which one. */
export interface ExternalAnswer {
  readonly source: string;
  /** The server says that the call failed. */
  readonly isError: boolean;
  /** Its data, or its texts as one. */
  readonly said: unknown;
}

/** Returns the answer in a frame; `undefined` for every other value. */
export function externalAnswer(value: unknown): ExternalAnswer | undefined {
  const { source, untrusted, isError, data, content, text } = asRecord(value);
  if (untrusted !== true || typeof source !== 'string') return undefined;
  const texts = Array.isArray(content) ? textOf(content) : text;
  if (data === undefined && texts === undefined) return undefined;
  return { source, isError: isError === true, said: data ?? texts };
}

/** Texts, and what else there is by its type: `(image)`. */
function textOf(blocks: readonly unknown[]): string {
  return blocks.map((block) => {
    const words = own(block, 'text') ?? own(block, 'uri');
    return typeof words === 'string' ? words : `(${String(own(block, 'type'))})`;
  }).join('\n\n');
}
