/** Reads a chat with all its messages in one round trip, up to 100 messages. */

import type { Entry } from '../../contracts/storage.ts';
import { readPages } from '../../log/pages.ts';
import { resolveEntry, type Stored } from './answers.ts';
import {
  type ChatParts,
  type ChatRecord,
  type FoundChat,
  type MessageEntry,
  messagesPrefix,
  type Owner,
  readChat,
} from './chat-record.ts';

const pageSize = 100;

/** Reads the record, and its messages beside it. A chat that is being deleted has none. */
export async function readWhole(
  parts: ChatParts,
  owner: Owner,
  chatId: string,
): Promise<{ readonly found: FoundChat | undefined; readonly stored: readonly Stored[] }> {
  const prefixOfAll = messagesPrefix(owner, chatId);
  const [found, first] = await Promise.all([
    readChat(parts, owner, chatId),
    parts.storage.list({ prefix: prefixOfAll, limit: pageSize }),
  ]);
  if (!found || found.record.deleting) return { found, stored: [] };
  const { record } = found;
  const own = first.filter(({ key }) => key[prefixOfAll.length] === record.generation);
  const stored: Stored[] = [];
  const pages = first.length < pageSize && hasLastRun(own, record)
    ? [own]
    : readPages(parts.storage, { prefix: messagesPrefix(owner, chatId, record), limit: pageSize });
  for await (const page of pages) {
    stored.push(...await Promise.all(page.map((entry) => resolveEntry(parts, entry))));
  }
  return { found, stored };
}

/** Whether messages that were read beside the record are not older than it. Newer ones make the claim conflict at the record. */
function hasLastRun(entries: readonly Entry[], { next, lastRunId }: ChatRecord): boolean {
  const last = entries.find(({ key }) => key.at(-1) === next - 1);
  return lastRunId !== undefined && (last?.value as MessageEntry | undefined)?.runIds?.at(-1) === lastRunId;
}
