/** Keeps messages within what one stored value takes. */

import type { UIMessage } from '../../contracts/ai-types.ts';

/** The longest message that is stored, as JSON in UTF-16 code units: in UTF-8 at most 3 of the 4 MiB of a stored value. */
export const maxMessageLength = 1_048_576;

const tooLong = 'This output was too long to be stored with the chat.';

/** Returns the message without the outputs and data that make it too long, the longest first. */
export function fitMessage(message: UIMessage): UIMessage {
  const lengths = message.parts.map((part) => JSON.stringify(part).length);
  let total = lengths.reduce((sum, length) => sum + length, 0);
  if (total <= maxMessageLength) return message;
  const parts: (UIMessage['parts'][number] | undefined)[] = [...message.parts];
  const longest = [...lengths.entries()].toSorted(([, a], [, b]) => b - a);
  for (const [at, length] of longest) {
    if (total <= maxMessageLength) break;
    const part = parts[at];
    const shorter = part && shortened(part);
    parts[at] = shorter;
    total -= length - (shorter ? JSON.stringify(shorter).length : 0);
  }
  return { ...message, parts: parts.filter((part) => part !== undefined) };
}

/** A call stays, so that the model sees that it was made. */
function shortened(part: UIMessage['parts'][number]): UIMessage['parts'][number] | undefined {
  if ('toolCallId' in part && part.state === 'output-available') return { ...part, input: {}, output: tooLong };
  if (part.type === 'text' || part.type === 'reasoning') {
    return { ...part, text: part.text.slice(0, maxTextLength).toWellFormed() };
  }
  return undefined;
}

const maxTextLength = 65_536;
