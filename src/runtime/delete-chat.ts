/** Deletes a stored chat: its messages, the logs of its runs, and then its record. */

import type { Key } from '../base/key.ts';
import type { Principal } from '../base/principal.ts';
import { readPages, removeKeys } from '../log/commits.ts';
import { removeQuestions } from '../permission/interruption.ts';
import { promptKey } from './prompt-chain.ts';
import { chatKey, runPrefix } from './run-record.ts';
import {
  busyChat,
  type ChatParts,
  type DeletedChat,
  type FoundChat,
  lifetimeOf,
  listKey,
  maxTries,
  type MessageEntry,
  messagesPrefix,
  type Owner,
  readChat,
  recordKey,
  takeRecent,
} from './chat-record.ts';

/** The chat to delete, and who deletes it. */
interface Deleting {
  readonly owner: Owner;
  readonly chatId: string;
  readonly principal: Principal;
}

/** Deletes the chat. From the first commit on it does not exist for its owner; repeating the call completes an interrupted one. */
export async function deleteStored(parts: ChatParts, { owner, chatId, principal }: Deleting): Promise<DeletedChat> {
  const found = await markDeleted(parts, owner, chatId);
  takeRecent(parts, owner, chatId);
  if (!found) return { messages: 0, runs: 0, running: 0 };
  return await finishDelete(parts, { owner, chatId, found, principal });
}

async function markDeleted(parts: ChatParts, owner: Owner, chatId: string): Promise<FoundChat | undefined> {
  for (let tries = 0; tries < maxTries; tries++) {
    const found = await readChat(parts, owner, chatId);
    if (!found || found.record.deleting) return found;
    const record = { ...found.record, deleting: true as const };
    const { updatedAt } = record;
    const written = await parts.storage.commit([
      { key: recordKey(owner, chatId), value: record, ifVersion: found.version, ...lifetimeOf(parts, record) },
      { key: listKey(owner, chatId, updatedAt) },
    ]);
    if (written.ok) return { record, version: written.version };
  }
  throw busyChat();
}

/** Removes what belongs to a chat whose record says that it is deleted, and then the record. */
export async function finishDelete(
  parts: ChatParts,
  { owner, chatId, found: { record, version }, principal }: Omit<Deleting, 'principal'> & {
    readonly found: FoundChat;
    /** Absent, runs under way go on. */
    readonly principal?: Principal;
  },
): Promise<DeletedChat> {
  const { storage } = parts;
  let deleted: DeletedChat = { messages: 0, runs: 0, running: 0 };
  for await (const page of readPages(storage, { prefix: messagesPrefix(owner, chatId, record), limit: 100 })) {
    const runs = await deleteRuns(parts, { entries: page.map(({ value }) => value as MessageEntry), principal });
    await removeKeys(storage, page.map(({ key }) => key));
    deleted = {
      messages: deleted.messages + page.filter(({ value }) => (value as MessageEntry).message !== undefined).length,
      runs: deleted.runs + runs.ended,
      running: deleted.running + runs.running,
    };
  }
  await forgetLastRun(parts, owner, chatId);
  // A conflict: another delete has removed the record.
  parts.recentPrompts.delete(JSON.stringify(promptKey(owner, chatId)));
  await storage.commit([{ key: recordKey(owner, chatId), ifVersion: version }, { key: promptKey(owner, chatId) }]);
  return deleted;
}

/** Removes the logs of runs that have ended, and cancels the others. Older logs have expired. */
async function deleteRuns(
  parts: ChatParts,
  { entries, principal }: { readonly entries: readonly MessageEntry[]; readonly principal: Principal | undefined },
): Promise<{ readonly ended: number; readonly running: number }> {
  const { now, ttlMs, runs } = parts;
  let [ended, running] = [0, 0];
  for (const runId of entries.filter(({ at }) => at + ttlMs > now()).flatMap(({ runIds = [] }) => runIds)) {
    const head = await runs.read(runId);
    if (head?.state.state === 'running') {
      running++;
      if (principal) await runs.cancel(principal, runId).catch(() => undefined); // without the scope it goes on
    } else if (head) {
      ended++;
      await removeQuestions(parts.storage, runId);
      await removeLog(parts, runPrefix(runId));
    }
  }
  return { ended, running };
}

async function removeLog({ storage }: ChatParts, prefix: Key): Promise<void> {
  for await (const page of readPages(storage, { prefix, limit: 100 })) {
    await removeKeys(storage, page.map(({ key }) => key));
  }
}

/** The key that names the last run of a chat, unless that run is still stored. */
async function forgetLastRun({ storage }: ChatParts, owner: Owner, chatId: string): Promise<void> {
  const key = chatKey(owner, chatId);
  const entry = await storage.get(key);
  if (typeof entry?.value !== 'string' || await storage.get([...runPrefix(entry.value), 'head'])) return;
  await storage.commit([{ key, ifVersion: entry.version }]);
}
