/** What of a client's messages may be believed: what was said, and calls that have ended. */

import type { UIMessage } from '../ai-types.ts';
import { PinnaceError } from '../errors.ts';
import type { IssuedMetadata } from './issued-metadata.ts';

type Part = UIMessage['parts'][number];

/**
 * Returns the messages as history. They are never decisions: tool parts that have not ended, and so every approval, are left out.
 * They never speak to the provider either: its metadata comes from `issued` alone, for parts of the last message.
 *
 * @throws PinnaceError `invalid_argument` for a file that is not a data URL in base64.
 */
export function toHistory(messages: readonly UIMessage[], issued?: IssuedMetadata): UIMessage[] {
  requireInlineFiles(messages.flatMap(({ parts }) => parts));
  const last = messages.at(-1);
  return messages.map((message) => {
    const parts = message.parts.filter(hasEnded).map((part) => {
      const said = withoutProviderFields(part);
      const fields = message === last ? issued?.take(said) : undefined;
      return { ...said, ...fields };
    });
    return { ...message, parts };
  }).filter(({ parts }) => parts.length > 0);
}

/**
 * Rejects addresses, which the SDK would fetch past every guard, and data that is not base64: as such a text, the id of a file in
 * the provider's account would pass for a file.
 */
function requireInlineFiles(parts: readonly Part[]): void {
  for (const part of parts) {
    if (part.type === 'steering-message') requireInlineFiles(part.parts);
    if (part.type !== 'file' && part.type !== 'reasoning-file') continue;
    if (!/^data:/i.test(part.url)) {
      throw refused('Cannot read a file by its address: send its content as a data URL', 'file_by_address');
    }
    if (!/^data:[^,]*;base64,[A-Za-z0-9+/]*={0,2}$/i.test(part.url)) {
      throw refused('Cannot read a file: send its content as a data URL in base64', 'file_not_base64');
    }
  }
}

function refused(message: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', message, { details: { reason } });
}

function hasEnded(part: Part): boolean {
  if (!part.type.startsWith('tool-') && part.type !== 'dynamic-tool') return true;
  return 'state' in part && (part.state === 'output-available' || part.state === 'output-error');
}

/**
 * Metadata, options, references and calls of the provider's own may all name items of the account that every tenant shares. The
 * decision on a call that has ended is in its output.
 */
function withoutProviderFields(part: Part): Part {
  const fields = Object.entries(part).filter(([name]) => !/provider/i.test(name) && name !== 'approval');
  const rest = Object.fromEntries(fields) as Part; // all of these fields are optional
  return rest.type === 'steering-message' ? { ...rest, parts: rest.parts.map(withoutProviderFields) as never } : rest;
}
