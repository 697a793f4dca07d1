/** Takes out of messages what only the provider that made it can read. */

import { foreignCall } from './call-ids.ts';
import { originOf, withOrigin } from './origin.ts';

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly providerExecuted?: boolean | undefined;
  readonly providerOptions?: unknown;
}

interface Message {
  readonly role: string;
  readonly content: unknown;
}

/**
 * Removes the parts of another provider in place: reasoning, custom parts, calls that the provider executed with their results and
 * approvals, and all metadata of answers. Another provider, or another account of the same one, refuses them.
 */
export function leaveProvider(messages: Message[]): void {
  const executed = new Set<string | undefined>();
  const portable = messages.flatMap((message) => {
    const { role, content } = message;
    if ((role !== 'assistant' && role !== 'tool') || !Array.isArray(content)) return [message];
    const parts: readonly Part[] = content; // of messages of the AI SDK, by their roles
    for (const { providerExecuted, toolCallId } of parts) if (providerExecuted === true) executed.add(toolCallId);
    const rest = parts.filter((part) => isPortable(part, executed)).map(withoutProvider);
    return rest.length === 0 ? [] : [withOrigin({ role, content: rest }, originOf(message))];
  });
  messages.splice(0, messages.length, ...portable);
}

/** The id of a call stays, marked as that of another provider: `fitHistory` writes it as the next one takes it. */
function withoutProvider({ providerOptions: _, ...part }: Part): Part {
  return part.toolCallId === undefined ? part : { ...part, providerOptions: foreignCall };
}

function isPortable({ type, text, toolCallId }: Part, executed: ReadonlySet<string | undefined>): boolean {
  switch (type) {
    case 'text':
      return text !== ''; // an empty one had only metadata
    case 'file':
      return true;
    case 'tool-call':
    case 'tool-result':
      return !executed.has(toolCallId);
    default:
      return false;
  }
}
