/** Joins the messages that are here with what another tab has written. */

import { batch } from '@preact/signals';
import type { PlacedMessage } from './chat-rows.ts';
import type { Message } from '../state/message.ts';

interface MergeOptions {
  /** The ids of messages that were stored before. */
  readonly stored: ReadonlySet<string>;
  /** The stored places of messages, by id. */
  readonly places: ReadonlyMap<string, number>;
  /** Those that were read. */
  readonly placed: readonly PlacedMessage[];
  /** Whether an answer is being written here: then this tab has the latest. */
  readonly isOurs: (messageId: string) => boolean;
}

/** Returns all messages in their order; those that are here stay the same objects, with what they are now. */
export function mergeMessages(here: readonly Message[], { stored, places, placed, isOurs }: MergeOptions): Message[] {
  const own = new Map(here.map((message) => [message.id, message]));
  const read = new Map(placed.map(({ message }) => [message.id, message]));
  for (const [id, message] of own) {
    const fresh = read.get(id);
    if (fresh && !isOurs(id)) takeIn(message, fresh);
  }
  const isRemoved = ({ id }: Message): boolean => stored.has(id) && !places.has(id); // dropped by the other tab
  const stay = here.filter((message) => isOurs(message.id) || !isRemoved(message));
  const all = [...stay, ...placed.flatMap(({ message }) => own.has(message.id) ? [] : [message])];
  return all.toSorted((a, b) => (places.get(a.id) ?? Infinity) - (places.get(b.id) ?? Infinity) || 0); // messages that are not stored yet are last
}

function takeIn(message: Message, fresh: Message): void {
  if (message.role === 'user' && fresh.role === 'user' && message.files && fresh.files) {
    message.files.value = fresh.files.value;
  }
  if (message.role !== 'assistant' || fresh.role !== 'assistant') return;
  batch(() => {
    message.parts.value = fresh.parts.value;
    message.facts.value = fresh.facts.value;
    message.outcome.value = fresh.outcome.value;
  });
}
