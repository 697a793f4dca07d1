/** Reads and changes stored chats. Loaded when an app uses them. */

import { PinnaceError } from '../base/errors.ts';
import {
  limitOf,
  maxLimit,
  type Page,
  pageNumber,
  type PageOptions,
  readPagePlace,
  writePageToken,
} from '../base/page.ts';
import * as v from 'valibot';
import { toBase64 } from '../base/base64.ts';
import type { BlobScope, BlobStore } from '../contracts/blob-store.ts';
import type { UIMessage } from '../contracts/ai-types.ts';
import { blobIdOf } from './message-files.ts';
import type { Key } from '../base/key.ts';
import { parse } from '../base/parse.ts';
import type { Principal } from '../base/principal.ts';
import {
  busyChat,
  type ChatExportOptions,
  type ChatParts,
  type ChatRecord,
  type ChatSummary,
  type ExportedChat,
  type FoundChat,
  lifetimeOf,
  listKey,
  listPrefix,
  maxTries,
  mayRead,
  messagesPrefix,
  noChat,
  type Owner,
  readChat,
  recordKey,
  resolveEntry,
  type Stored,
  type StoredChat,
  takeRecent,
  Title,
  toSummary,
} from './chat-record.ts';

export { ownerOf } from './chat-record.ts';
export { deleteStored } from './delete-chat.ts';
export { findKnown, importMessages, parseImport } from './import-chat.ts';
export { openChat, readWhole } from './start-in-chat.ts';

/** Lists one page of chats by one call of the storage. */
export async function listChats(
  { storage }: ChatParts,
  owner: Owner,
  { principal, ...page }: PageOptions & { readonly principal: Principal },
): Promise<Page<ChatSummary>> {
  const limit = limitOf(page);
  const query = ['chats', owner.tenant, owner.subject];
  const prefix = listPrefix(owner);
  const after = page.pageToken === undefined ? undefined : await readPagePlace(query, page.pageToken, keyOf);
  const entries = await storage.list({
    prefix,
    ...(after !== undefined && { after: [...prefix, ...after] }),
    limit: limit + 1,
  });
  const shown = entries.slice(0, limit);
  const last = shown.at(-1)?.key.slice(prefix.length);
  const more = entries.length > limit && last;
  return {
    items: shown.flatMap(({ key, value }) => {
      const record = value as ChatRecord; // only this folder writes it
      return mayRead(principal, record) ? [toSummary(String(key.at(-1)), record)] : [];
    }),
    ...(more && { nextPageToken: await writePageToken(query, JSON.stringify(more)) }),
  };
}

/** Reads the key behind which the next page of a list starts: time and chat id. */
function keyOf(after: string): Key | undefined {
  return /^\[-?[\d.]+,"([^"\\]|\\.)*"\]$/.test(after) ? JSON.parse(after) as Key : undefined; // as just checked
}

/** Finds a chat that the caller may read. @throws PinnaceError `not_found`. */
export async function requireChat(
  parts: ChatParts,
  owner: Owner,
  { chatId, principal }: { readonly chatId: string; readonly principal: Principal },
): Promise<FoundChat> {
  const found = await readChat(parts, owner, chatId);
  if (!found || found.record.deleting || !mayRead(principal, found.record)) throw noChat();
  return found;
}

/** Whether there is something to delete: a chat that the caller may read, or the rest of one. */
export async function isThere(
  parts: ChatParts,
  owner: Owner,
  { chatId, principal }: { readonly chatId: string; readonly principal: Principal },
): Promise<boolean> {
  const found = await readChat(parts, owner, chatId);
  return found !== undefined && mayRead(principal, found.record);
}

/** The most text of a page, as JSON in UTF-16 code units; one message at least. */
const pageLength = 4 * 1_048_576;

/** Reads a chat with one page of its messages. */
export async function getChat(
  parts: ChatParts,
  owner: Owner,
  { chatId, principal, limit: given = maxLimit, pageToken }: PageOptions & {
    readonly chatId: string;
    readonly principal: Principal;
  },
): Promise<StoredChat> {
  const limit = limitOf({ limit: given });
  const { record } = await requireChat(parts, owner, { chatId, principal });
  const prefix = messagesPrefix(owner, chatId, record);
  const query = ['chat', ...prefix];
  const after = pageToken === undefined ? undefined : await readPagePlace(query, pageToken, pageNumber);
  const entries = await parts.storage.list({
    prefix,
    ...(after !== undefined && { after: [...prefix, after] }),
    limit: limit + 1,
  });
  const stored = await Promise.all(entries.slice(0, limit).map((entry) => resolveEntry(parts, entry)));
  const page = withinLength(stored);
  const last = page.at(-1);
  const more = last && page.length < entries.length ? last : undefined;
  const runId = page.findLast((one) => one.runId !== undefined)?.runId;
  return {
    ...toSummary(chatId, record),
    messages: page.flatMap(({ message }) => message ?? []),
    ...(runId !== undefined && { runId }),
    ...(more && { nextPageToken: await writePageToken(query, String(more.number)) }),
  };
}

function withinLength(stored: readonly Stored[]): readonly Stored[] {
  let total = 0;
  const end = stored.findIndex(({ message }, i) => {
    total += message ? JSON.stringify(message).length : 0;
    return i > 0 && total > pageLength;
  });
  return end < 0 ? stored : stored.slice(0, end);
}

/** Yields the subjects of a tenant that have chats, in the order of their names. */
export async function* subjectsOf({ storage }: ChatParts, tenant: string): AsyncGenerator<string> {
  const prefix = ['chats', tenant];
  for (let after: Key | undefined;;) {
    const [entry] = await storage.list({ prefix, limit: 1, ...(after && { after }) });
    const subject = entry?.key[prefix.length];
    if (typeof subject !== 'string') return;
    yield subject;
    after = [...prefix, subject, 'record\uFFFF']; // the parts behind it are "list", "message" and "record"
  }
}

/** Yields the whole chats of an owner that the caller may read. */
export async function* exportChats(
  parts: ChatParts,
  owner: Owner,
  { principal, inlineFiles = false, signal = parts.closing }: ChatExportOptions & { readonly principal: Principal },
): AsyncGenerator<ExportedChat> {
  for (let listToken: string | undefined;;) {
    const page = await listChats(parts, owner, { principal, limit: maxLimit, pageToken: listToken });
    for (const { chatId, version: _, ...summary } of page.items) {
      const messages: UIMessage[] = [];
      for (let pageToken: string | undefined;;) {
        signal.throwIfAborted();
        const chat = await getChat(parts, owner, { chatId, principal, pageToken });
        messages.push(...chat.messages);
        if ((pageToken = chat.nextPageToken) === undefined) break;
      }
      const scope = { ...owner, signal };
      const whole = inlineFiles
        ? await Promise.all(messages.map((one) => withInlineFiles(one, parts.blobs, scope)))
        : messages;
      yield { ...summary, id: chatId, subject: owner.subject, messages: whole };
    }
    if ((listToken = page.nextPageToken) === undefined) return;
  }
}

/** A file that has expired keeps its address. */
async function withInlineFiles(message: UIMessage, blobs: BlobStore, scope: BlobScope): Promise<UIMessage> {
  if (!message.parts.some((part) => part.type === 'file' && blobIdOf(part.url) !== undefined)) return message;
  const parts = await Promise.all(message.parts.map(async (part) => {
    const id = part.type === 'file' ? blobIdOf(part.url) : undefined;
    const blob = id === undefined ? undefined : await blobs.get(id, scope);
    return blob ? { ...part, url: `data:${blob.mediaType};base64,${toBase64(blob.bytes)}` } : part;
  }));
  return { ...message, parts };
}

/** A rename as callers write it. */
const Rename = v.strictObject({
  title: Title,
  version: v.pipe(v.number(), v.integer(), v.minValue(1)),
});

/** Renames a chat that the caller may read. */
export async function renameChat(
  parts: ChatParts,
  owner: Owner,
  { chatId, principal, change }: {
    readonly chatId: string;
    readonly principal: Principal;
    readonly change: v.InferOutput<typeof Rename>;
  },
): Promise<ChatSummary> {
  const { title, version } = change;
  for (let tries = 0; tries < maxTries; tries++) {
    const found = await requireChat(parts, owner, { chatId, principal });
    if (found.record.version !== version) throw renamed(found.record.version);
    const record = { ...found.record, title, version: version + 1 };
    const { updatedAt } = record;
    const ttl = lifetimeOf(parts, record);
    const written = await parts.storage.commit([
      { key: recordKey(owner, chatId), value: record, ifVersion: found.version, ...ttl },
      { key: listKey(owner, chatId, updatedAt), value: record, ...ttl },
    ]);
    if (!written.ok) continue;
    takeRecent(parts, owner, chatId);
    return toSummary(chatId, record);
  }
  throw busyChat();
}

/** Parses a rename. @throws PinnaceError `invalid_argument`. */
export function parseRename(input: unknown): v.InferOutput<typeof Rename> {
  return parse(Rename, input, { what: 'the new title' });
}

function renamed(latestVersion: number): PinnaceError {
  return new PinnaceError('conflict', 'Cannot rename the chat: it was renamed meanwhile; read it again', {
    details: { reason: 'version_mismatch', latestVersion },
  });
}
