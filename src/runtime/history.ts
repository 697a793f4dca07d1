/** What of a client's messages may be believed: what was said, and calls that have ended. */

import type { UIMessage } from '../ai-types.ts';
import { PinnaceError } from '../errors.ts';

/**
 * Gives the messages as history. They are never decisions: tool parts that have not ended, and so every approval, are left out.
 *
 * @throws PinnaceError `invalid_argument` for a file that is named by its address.
 */
export function toHistory(messages: readonly UIMessage[]): UIMessage[] {
  requireInlineFiles(messages);
  return messages.map((message) => ({ ...message, parts: message.parts.filter(hasEnded) }))
    .filter(({ parts }) => parts.length > 0);
}

/** The SDK would fetch a file by its address itself, past every guard of ours: no address in a chat is ever followed. */
function requireInlineFiles(messages: readonly UIMessage[]): void {
  for (const part of messages.flatMap(({ parts }) => parts)) {
    if ((part.type !== 'file' && part.type !== 'reasoning-file') || /^data:/i.test(part.url)) continue;
    throw new PinnaceError('invalid_argument', 'Cannot read a file by its address: send its content as a data URL', {
      details: { reason: 'file_by_address' },
    });
  }
}

function hasEnded(part: UIMessage['parts'][number]): boolean {
  if (!part.type.startsWith('tool-') && part.type !== 'dynamic-tool') return true;
  return 'state' in part && (part.state === 'output-available' || part.state === 'output-error');
}
