/** Adds the messages of a request to those of a stored chat. The server's copy of a message counts, not the client's. */

import type { UIMessage } from '../../contracts/ai-types.ts';
import { PinnaceError } from '../../base/errors.ts';
import type { Stored } from './answers.ts';

/** Messages of one request that a chat may not have yet, and stored ones that an edit may remove: both are one commit. */
const mostAdded = 32;
const mostCut = 48;

/** A chat with the messages of a request. */
export interface Merged {
  readonly messages: UIMessage[];
  /** The messages that are not stored yet, or replace a stored one. */
  readonly added: readonly { readonly number: number; readonly message: UIMessage }[];
  /** The entries that a replaced message removes. */
  readonly cut: readonly Stored[];
  /** The number of the last message, and the next free one. */
  readonly lastNumber: number;
  readonly next: number;
}

/**
 * Merges. A chat without messages takes all that are sent, if a user has said something. Otherwise the last message decides: a stored message of a user is replaced,
 * and those after it are removed; the last stored message, of an assistant, is continued as it is stored; a new message is added, with
 * those before it that follow the last stored one.
 *
 * @throws PinnaceError `invalid_argument` for a message of an assistant that is not stored, `conflict` (`chat_changed`) for one that is
 * not the last.
 */
export function mergeSent(
  stored: readonly Stored[],
  { sent, next }: { readonly sent: readonly UIMessage[]; readonly next: number },
): Merged {
  const shown = stored.filter((one) => one.message !== undefined);
  const last = sent.at(-1);
  const at = shown.findIndex(({ message }) => message?.id === last?.id);
  const known = shown[at];
  if (known && last) {
    return known.message?.role === 'user' ? replaced(stored, known, last) : continued(stored, known, last);
  }
  const ids = new Set(shown.map(({ message }) => message?.id));
  const fresh = sent.slice(sent.findLastIndex(({ id }) => ids.has(id)) + 1);
  const isForeign = ({ role }: UIMessage): boolean => role !== 'user';
  if (stored.length > 0 ? fresh.some(isForeign) : fresh.every(isForeign)) throw foreignAnswer();
  return withAdded(shown, { fresh, from: next, cut: [] });
}

function replaced(stored: readonly Stored[], known: Stored, message: UIMessage): Merged {
  if (message.role !== 'user') throw changed();
  const kept = stored.filter(({ number }) => number < known.number);
  const cut = stored.filter(({ number }) => number > known.number);
  if (cut.length > mostCut) {
    throw refused('chat_edit_too_far', `only the last ${mostCut} messages can be replaced; start a new chat`);
  }
  return withAdded(kept, { fresh: [message], from: known.number, cut });
}

function continued(stored: readonly Stored[], known: Stored, { role }: UIMessage): Merged {
  const isLast = stored.at(-1) === known && known.runId === undefined;
  if (!isLast || role !== 'assistant') throw changed();
  return withAdded(stored, { fresh: [], from: known.number + 1, cut: [] });
}

function withAdded(
  kept: readonly Stored[],
  { fresh, from, cut }: {
    readonly fresh: readonly UIMessage[];
    readonly from: number;
    readonly cut: readonly Stored[];
  },
): Merged {
  if (fresh.length > mostAdded) {
    throw refused('too_many_new_messages', `${fresh.length} of its messages are new, ${mostAdded} are allowed`);
  }
  const added = fresh.map((message, i) => ({ number: from + i, message }));
  const next = from + fresh.length;
  return {
    messages: [...kept.flatMap(({ message }) => message ?? []), ...fresh],
    added,
    cut: cut.filter(({ number }) => number > next), // the message and the answer take the first two places
    lastNumber: added.at(-1)?.number ?? kept.at(-1)?.number ?? 0,
    next,
  };
}

function refused(reason: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot add to the chat: ${why}`, { details: { reason } });
}

function foreignAnswer(): PinnaceError {
  return refused(
    'chat_foreign_answer',
    'a message of an assistant is not stored in it; send only new messages of the user',
  );
}

function changed(): PinnaceError {
  return new PinnaceError('conflict', 'Cannot add to the chat: it has changed; read it again', {
    details: { reason: 'chat_changed' },
  });
}
