/** The chats that this instance has answered last: their next run starts without reading them. */

import type { ChatParts, FoundChat, Owner } from './chat-record.ts';
import type { Stored } from './answers.ts';

/** A chat as it was read. */
export interface ReadChat {
  readonly found: FoundChat;
  readonly stored: readonly Stored[];
}

interface Recent {
  readonly chat: ReadChat;
  readonly readAt: number;
  /** Of its messages as JSON, in UTF-16 code units. */
  readonly length: number;
}

const mostChats = 32;
const mostLength = 8 * 1_048_576;
const mostLengthOfOne = 1_048_576;
const maxAgeMs = 300_000;

/** By the runs of a runtime: two runtimes share nothing. */
const recentOf = new WeakMap<ChatParts['runs'], Map<string, Recent>>();

/** Takes a chat out. It may be out of date: the claim of its run conflicts then. */
export function takeRecent({ runs, now }: ChatParts, owner: Owner, chatId: string): ReadChat | undefined {
  const recent = recentOf.get(runs);
  const name = nameOf(owner, chatId);
  const taken = recent?.get(name);
  recent?.delete(name);
  return taken && now() - taken.readAt < maxAgeMs ? taken.chat : undefined;
}

/** Stores a chat, unless it is long or an answer is still being written. */
export function putRecent(
  { runs, now }: ChatParts,
  { owner, chatId, chat }: { readonly owner: Owner; readonly chatId: string; readonly chat: ReadChat },
): void {
  const length = JSON.stringify(chat.stored).length;
  if (length > mostLengthOfOne || chat.stored.some(({ entry }) => entry.pending)) return;
  const recent = recentOf.get(runs) ?? new Map<string, Recent>();
  recentOf.set(runs, recent);
  const name = nameOf(owner, chatId);
  recent.delete(name);
  recent.set(name, { chat, readAt: now(), length });
  let total = recent.values().reduce((sum, one) => sum + one.length, 0);
  for (const [oldest, one] of recent) {
    if (recent.size <= mostChats && total <= mostLength) return;
    recent.delete(oldest);
    total -= one.length;
  }
}

function nameOf({ tenant, subject }: Owner, chatId: string): string {
  return JSON.stringify([tenant, subject, chatId]);
}
