/** The trusted part of a client's messages: texts, and how calls ended. */

import type { UIMessage } from '../../contracts/ai-types.ts';
import { PinnaceError } from '../../base/errors.ts';
import { wellFormed } from '../../base/well-formed.ts';
import { blobIdOf, resourceOf } from '../attachments/references.ts';
import type { IssuedMetadata } from './issued-metadata.ts';
import { isWaitingProgram, withoutInnerCalls } from './program-parts.ts';

type Part = UIMessage['parts'][number];

/**
 * Returns the messages as history. They are never decisions: a call that waits for a person was not made. A call whose result never
 * reached the client is shown with an unknown outcome, so that the model does not make it again unaware. Messages never speak to the
 * provider either: its metadata comes from `issued` alone, for parts of the last message.
 *
 * @throws PinnaceError `invalid_argument` for a file that is neither a data URL in base64, an https URL, a stored file nor a resource of an MCP server.
 */
export function toHistory(messages: readonly UIMessage[], issued?: IssuedMetadata): UIMessage[] {
  requireReadableFiles(messages.flatMap(({ parts }) => parts));
  const last = messages.at(-1);
  return messages.map((message) => {
    const parts = withoutInnerCalls(message).flatMap(toHistoryPart).map((part) => {
      const said = wellFormed(withoutProviderFields(part)); // an answer that an earlier version has stored may be cut
      const fields = message === last ? issued?.take(said) : undefined;
      return { ...said, ...fields };
    });
    return { ...message, parts };
  }).filter(({ parts }) => parts.length > 0);
}

/**
 * Rejects addresses that no run loads, and data that is not base64: as such a text, the id of a file in the provider's account would
 * pass for a file. Files by https are loaded through the egress, stored ones from the tenant's files.
 */
function requireReadableFiles(parts: readonly Part[]): void {
  for (const part of parts) {
    if (part.type === 'steering-message') requireReadableFiles(part.parts);
    if (part.type !== 'file' && part.type !== 'reasoning-file') continue;
    if (typeof part.url !== 'string' || blobIdOf(part.url) !== undefined) continue; // its type is checked with its part
    if (part.type === 'file' && (/^https:/i.test(part.url) || resourceOf(part.url))) continue;
    if (!/^data:/i.test(part.url)) {
      throw refused(
        'Cannot read a file by this address: send its content as a data URL, an https URL, the id of a stored file or of a resource',
        'file_by_address',
      );
    }
    if (!/^data:[^,]*;base64,[A-Za-z0-9+/]*={0,2}$/i.test(part.url)) {
      throw refused('Cannot read a file: send its content as a data URL in base64', 'file_not_base64');
    }
  }
}

function refused(message: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', message, { details: { reason } });
}

function toHistoryPart(part: Part): readonly Part[] {
  if (!part.type.startsWith('tool-') && part.type !== 'dynamic-tool') return [part];
  if (!('state' in part)) return [];
  if (('preliminary' in part && part.preliminary) || isWaitingProgram(part)) return [withUnknownOutcome(part)];
  if (part.state === 'output-available' || part.state === 'output-error') return [part];
  const { approved, reason }: { readonly approved?: unknown; readonly reason?: unknown } = // the client's, and not checked yet
    'approval' in part ? part.approval ?? {} : {};
  switch (part.state) {
    case 'output-denied':
      return [withError(part, denied(reason))];
    case 'approval-requested':
      return [withError(part, leftWaiting)];
    case 'approval-responded':
      return [approved === true ? withUnknownOutcome(part) : withError(part, denied(reason))];
    case 'input-available': // the client may have left before its end
      return [withUnknownOutcome(part)];
    default:
      return []; // its input never became complete
  }
}

/** What a model receives of a call that a person denied. */
export function denied(reason: unknown): string {
  const why = typeof reason === 'string' ? `: ${reason}` : '';
  return `The call was not made: a person denied it${why}`;
}

/** What a model receives of a call that waited for a person, who wrote the next message instead. */
export const leftWaiting =
  'The call was not made: it waited for the approval of a person, and the chat went on without it';

/** The part as a call that has ended with an error. */
export function withError(part: Part, errorText: string): Part {
  const { output: _, preliminary: __, ...call } = part as Part & { output?: unknown; preliminary?: unknown };
  return { ...call, state: 'output-error', errorText } as Part; // ended now; checked with all others
}

/** What a model receives of a call that may have been made. */
export const unknownOutcome =
  'The outcome of this call is unknown: its result never arrived. It may have taken effect; check before calling it again';

function withUnknownOutcome(part: Part): Part {
  return withError(part, unknownOutcome);
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
