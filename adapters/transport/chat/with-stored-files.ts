/** The files of a chat's messages, by their addresses in the store. */

import type { UIMessage } from '../../../src/contracts/ai-types.ts';

/**
 * Returns the messages with the address of every inline file that the runtime has stored (`data-attachment`) in place of its bytes.
 * Store these: they are small, and the agent still reads their files.
 *
 * @example
 * localStorage.setItem(chatId, JSON.stringify(withStoredFiles(messages)));
 */
export function withStoredFiles<M extends UIMessage>(
  messages: readonly M[],
): M[] {
  const addresses = new Map(
    messages.flatMap(({ parts }) => parts.flatMap(addressOf)),
  );
  return messages.map((message) => ({
    ...message,
    parts: message.parts.map((part, at) => {
      const url = addresses.get(`${message.id}:${at}`);
      return part.type === 'file' && part.url.startsWith('data:') &&
          url !== undefined
        ? { ...part, url }
        : part;
    }),
  }));
}

function addressOf(
  part: UIMessage['parts'][number],
): readonly (readonly [string, string])[] {
  if (part.type !== 'data-attachment' || !('data' in part)) return [];
  const { messageId, part: at, url } = part.data as {
    messageId?: string;
    part?: number;
    url?: string;
  };
  return typeof url === 'string' ? [[`${messageId}:${at}`, url]] : [];
}
