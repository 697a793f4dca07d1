/** How chats are stored: a record, an entry in the list of the owner's chats, and an entry for each message. */

import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import { type Principal, requireScope, type Scope } from '../base/principal.ts';
import { namedOwner } from '../permission/ownership.ts';
import type { UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';
import type { RuntimeParts } from './run-context.ts';
import * as v from 'valibot';
import type { Page, PageOptions } from '../base/page.ts';
import type { CallerTrace } from '../events/span.ts';
import type { Change, Entry } from '../contracts/storage.ts';
import { readLog } from './stored-run.ts';
import { foldMessage } from './fold-message.ts';
import type { WrittenLog } from './live-run.ts';

/** What the functions of stored chats share. */
export type ChatParts = Pick<
  RuntimeParts,
  'storage' | 'blobs' | 'closing' | 'now' | 'ttlMs' | 'limits' | 'budgets' | 'emit' | 'runs' | 'recentPrompts'
>;

/** The stored facts of a chat. */
export interface ChatRecord extends Omit<ChatSummary, 'chatId'> {
  /** Names the messages: those of a deleted chat of the same id have another. */
  readonly generation: string;
  /** The number of the next message. */
  readonly next: number;
  /** The run that was claimed last: its answer has the number before `next`. */
  readonly lastRunId?: string;
  /** When messages were imported last: the chat is stored as if it had a run then. */
  readonly importedAt?: number;
  /** How many messages were imported: they do not count as those of runs do. */
  readonly imported?: number;
  /** A delete has started: the chat no longer exists for its owner. */
  readonly deleting?: true;
}

/** A message, or the place of the answer that a run is writing. */
export interface MessageEntry {
  /** Absent in the place of a new answer; of a pending entry, the message that the run continues. */
  readonly message?: UIMessage;
  /** The runs that have written the message, the last one last. */
  readonly runIds?: readonly string[];
  /** The last run has not ended, or its chunks were not added to the message yet. */
  readonly pending?: true;
  /** When it was written. */
  readonly at: number;
}

/** The tenant and the subject that chats belong to. */
export interface Owner {
  readonly tenant: string;
  readonly subject: string;
}

/**
 * Returns whose chats a caller means.
 *
 * @throws PinnaceError `forbidden` without the scope, and for another subject without the scope `admin`.
 */
export function ownerOf(principal: Principal, scope: Scope, { subject }: ChatOwner): Owner {
  requireScope(principal, scope);
  return namedOwner(principal, subject);
}

function prefixOf({ tenant, subject }: Owner): Key {
  return ['chats', tenant, subject];
}

export function recordKey(owner: Owner, chatId: string): Key {
  return [...prefixOf(owner), 'record', chatId];
}

/** The keys of the list, the newest chat first. */
export function listPrefix(owner: Owner): Key {
  return [...prefixOf(owner), 'list'];
}

/** Where a chat is in the list. */
export function listKey(owner: Owner, chatId: string, updatedAt: number): Key {
  return [...listPrefix(owner), -updatedAt, chatId];
}

/** The keys of a chat's messages; without the record, also of deleted chats of the same id. */
export function messagesPrefix(owner: Owner, chatId: string, record?: ChatRecord): Key {
  return [...prefixOf(owner), 'message', chatId, ...(record ? [record.generation] : [])];
}

/** The chat as its owner sees it. */
export function toSummary(chatId: string, record: ChatRecord): ChatSummary {
  const { title, version, agentIds, createdAt, updatedAt } = record;
  return { chatId, title, version, agentIds, createdAt, updatedAt };
}

/** Whether a principal may run all agents that have answered in a chat. */
export function mayRead({ agents }: Principal, { agentIds }: Pick<ChatSummary, 'agentIds'>): boolean {
  return agents === '*' || agentIds.every((id) => agents.includes(id));
}

/** The lifetime of what was written at this time; `Infinity` stores without one. */
export function lifetime({ now, limits: { chatRetentionMs } }: ChatParts, writtenAt: number): { ttlMs?: number } {
  return chatRetentionMs === Infinity ? {} : { ttlMs: Math.max(1, writtenAt + chatRetentionMs - now()) };
}

export function lifetimeOf(parts: ChatParts, { updatedAt, importedAt = 0 }: ChatRecord): { ttlMs?: number } {
  return lifetime(parts, Math.max(updatedAt, importedAt));
}

/** How the files of a chat's messages are stored: as long as the chat. The store takes no `Infinity`. */
export function fileTerms({ blobs, limits, closing: signal }: ChatParts, { tenant, subject }: Owner) {
  return { blobs, limits, scope: { tenant, subject, signal, keepMs: Math.min(limits.chatRetentionMs, tenYears) } };
}

const tenYears = 315_360_000_000;

/** A chat's record, with the version that a write of it must name. */
export interface FoundChat {
  readonly record: ChatRecord;
  readonly version: string;
}

/** Reads the record of a chat, also of one that is being deleted. */
export async function readChat({ storage }: ChatParts, owner: Owner, chatId: string): Promise<FoundChat | undefined> {
  const entry = await storage.get(recordKey(owner, chatId));
  return entry && { record: entry.value as ChatRecord, version: entry.version }; // only this folder writes it
}

/** The error for a chat that does not exist for the caller. */
export function noChat(): PinnaceError {
  return new PinnaceError('not_found', 'Cannot find the chat: it is unknown, deleted or expired', {
    details: { reason: 'chat_unknown' },
  });
}

/** How often a write is repeated after another one came between. */
export const maxTries = 5;

/** The error for a chat that others write without a pause. */
export function busyChat(): PinnaceError {
  return new PinnaceError('conflict', 'Cannot write the chat: other requests are writing it; try again', {
    details: { reason: 'chat_busy' },
  });
}

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

const maxTitleLength = 200;
const shownLength = 80;

/** Control characters, line breaks, and what is drawn as nothing or turns the direction of text. */
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu;

/** A title as a rename sets it. */
export const Title = v.pipe(
  v.string(),
  v.maxLength(maxTitleLength),
  v.check((text) => text.trim() !== '', 'must not be empty'),
  v.check((text) => text.search(hidden) < 0, 'must be one line without control and format characters'),
);

/** Returns the title of a new chat: the start of its first message. */
export function titleOf(messages: readonly UIMessage[]): string {
  const texts = messages.flatMap(({ role, parts }) => role === 'user' ? parts : []);
  const text = texts.find((part) => part.type === 'text' && 'text' in part && typeof part.text === 'string');
  const line = text && 'text' in text
    ? text.text.slice(0, 1_000).replace(hidden, ' ').replace(/\s+/gu, ' ').trim()
    : '';
  const characters = Array.from(line);
  if (characters.length <= shownLength) return line === '' ? 'New chat' : line;
  return `${characters.slice(0, shownLength - 1).join('').trimEnd()}…`;
}

/** The longest message that is stored, as JSON in UTF-16 code units: in UTF-8 at most 3 of the 4 MiB of a stored value. */
export const maxMessageLength = 1_048_576;

const tooLong = 'This output was too long to be stored with the chat.';

/** Returns the message without the outputs and data that make it too long, the longest first. */
export function fitMessage(message: UIMessage): UIMessage {
  const lengths = message.parts.map((part) => JSON.stringify(part).length);
  let total = lengths.reduce((sum, length) => sum + length, 0);
  if (total <= maxMessageLength) return message;
  const parts: (UIMessage['parts'][number] | undefined)[] = [...message.parts];
  const longest = [...lengths.entries()].toSorted(([, a], [, b]) => b - a);
  for (const [at, length] of longest) {
    if (total <= maxMessageLength) break;
    const part = parts[at];
    const shorter = part && shortened(part);
    parts[at] = shorter;
    total -= length - (shorter ? JSON.stringify(shorter).length : 0);
  }
  return { ...message, parts: parts.filter((part) => part !== undefined) };
}

/** A call stays, so that the model sees that it was made. */
function shortened(part: UIMessage['parts'][number]): UIMessage['parts'][number] | undefined {
  if ('toolCallId' in part && part.state === 'output-available') return { ...part, input: {}, output: tooLong };
  if (part.type === 'text' || part.type === 'reasoning') {
    return { ...part, text: part.text.slice(0, maxTextLength).toWellFormed() };
  }
  return undefined;
}

const maxTextLength = 65_536;

/** A stored chat without its messages. */
export interface ChatSummary {
  readonly chatId: string;
  /** From the first message until a rename. Text from users: show it as text. */
  readonly title: string;
  /** Counts renames; a rename names the version that it has seen. */
  readonly version: number;
  /** The agents that have answered in it. */
  readonly agentIds: readonly string[];
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** When the last run was started. */
  readonly updatedAt: number;
}

/** A stored chat with one page of its messages, the oldest first. */
export interface StoredChat<Message extends UIMessage = UIMessage> extends ChatSummary {
  readonly messages: Message[];
  /** The run that writes the next message. */
  readonly runId?: string;
  readonly nextPageToken?: string;
}

/** What a delete has removed. */
export interface DeletedChat {
  readonly messages: number;
  /** Logs of runs that have ended. */
  readonly runs: number;
  /** Runs that were under way: they were asked to stop, and their logs expire with `Limits.retentionMs`. */
  readonly running: number;
}

/** A chat to import: its id, its messages, and what else is known of it. */
export interface ChatImport {
  readonly id: string;
  /** Messages of the AI SDK 5, 6 or 7, up to 10,000. Inline files are stored, and referred to. */
  readonly messages: readonly UIMessage[];
  /** As a rename sets it; the start of the first message when absent. */
  readonly title?: string | undefined;
  /** The agents that have answered in it. */
  readonly agentIds?: readonly string[] | undefined;
  /** Milliseconds since 1970, or ISO 8601; now when absent. */
  readonly createdAt?: number | string | undefined;
  /** Where it is in the list; now when absent. */
  readonly updatedAt?: number | string | undefined;
  /** Whose it is, as an export says it, where the call names no subject. */
  readonly subject?: string | undefined;
}

/** What an import has done: 0 `imported` where all was stored before. */
export interface ImportedChat extends ChatSummary {
  /** The messages that are new. */
  readonly imported: number;
  /** The messages that were stored before; they are not changed. */
  readonly known: number;
  /** The inline files of new messages that were stored. */
  readonly files: number;
}

/** A whole chat, as `import` takes it. */
export interface ExportedChat extends Omit<ChatSummary, 'chatId' | 'version'> {
  readonly id: string;
  readonly subject: string;
  readonly messages: readonly UIMessage[];
}

/** What to export. */
export interface ChatExportOptions extends ChatOwner {
  /** The chats of all subjects of the caller's tenant; needs the scope `admin`. */
  readonly everyone?: boolean | undefined;
  /** Whether stored files are in the messages as data URLs, for an app that does not know this storage. */
  readonly inlineFiles?: boolean | undefined;
  /** Ends the export. */
  readonly signal?: AbortSignal | undefined;
}

/** Whose chats: those of the caller, or with the scope `admin` those of another subject of its tenant. */
export interface ChatOwner {
  readonly subject?: string | undefined;
}

/** Options of a change. */
export interface ChatChange extends ChatOwner {
  readonly trace?: CallerTrace;
}

/**
 * The chats that requests with `chat.store` have stored. A chat belongs to the subject that started it: for all others it does not
 * exist, except for principals of its tenant with the scope `admin` that name the subject.
 */
export interface Chats {
  /**
   * Lists chats, the one with the newest run first. A chat that gets a run meanwhile moves to the front.
   *
   * Rejects with `invalid_argument` for a wrong limit or page token, `forbidden` for another subject without the scope `admin`.
   *
   * @example
   * const { items, nextPageToken } = await runtime.chats.list(principal, { limit: 20 });
   */
  list(principal: Principal, options?: ChatOwner & PageOptions): Promise<Page<ChatSummary>>;
  /** Returns a chat with up to `limit` messages (200). Rejects with `not_found`, and as `list`. */
  get(chatId: string, principal: Principal, options?: ChatOwner & PageOptions): Promise<StoredChat>;
  /**
   * Sets the title: 1 to 200 characters in one line, without control and format characters.
   *
   * Rejects with `conflict` when another rename came between (`version_mismatch`), `not_found`, `invalid_argument`, and as `guard` does.
   */
  rename(
    chatId: string,
    change: { readonly title: string; readonly version: number },
    principal: Principal,
    options?: ChatChange,
  ): Promise<ChatSummary>;
  /**
   * Deletes a chat with its messages and the logs of its runs, and cancels a run under way, if the caller may. Deleting an unknown chat
   * removes nothing. A delete that was interrupted is completed by the next one, or by the next request of the chat.
   */
  delete(chatId: string, principal: Principal, options?: ChatChange): Promise<DeletedChat>;
  /**
   * Stores a chat that another app has written, for the caller or the subject that it names. No model is called. Messages whose ids are
   * stored are not changed, and new ones are added behind them: an import that was cut off is repeated, and a long chat may come in
   * several calls.
   *
   * Rejects with `invalid_argument` (`messages_not_importable`) before anything is stored, with `details.refused`: the message, the part,
   * its type and what to pass; `conflict` (`chat_changed`) for new messages that do not follow the stored ones, or when a run has
   * answered in the chat; and as `guard` does.
   *
   * @example
   * const { imported, known } = await runtime.chats.import({ id: 'chat-1', messages }, principal, { subject: 'ada' });
   */
  import(chat: ChatImport, principal: Principal, options?: ChatChange): Promise<ImportedChat>;
  /**
   * Yields whole chats as `import` takes them: those of the caller, of a subject, or of the whole tenant.
   *
   * Rejects with `forbidden` for other subjects without the scope `admin`, and as `guard` does.
   */
  export(principal: Principal, options?: ChatExportOptions): AsyncGenerator<ExportedChat>;
}

/** A stored message. */
export interface Stored {
  readonly key: Key;
  /** From 1. */
  readonly number: number;
  readonly entry: MessageEntry;
  readonly version: string;
  /** Absent where a new answer is not there yet, or was lost with its instance and its log. */
  readonly message?: UIMessage | undefined;
  /** The run that is writing it now. */
  readonly runId?: string | undefined;
}

/** Reads one entry, and adds the answer of a run that has ended. */
export async function resolveEntry(parts: ChatParts, { key, value, version }: Entry): Promise<Stored> {
  const entry = value as MessageEntry; // only this folder writes it
  const facts = { key, number: Number(key.at(-1)), version };
  const runId = entry.runIds?.at(-1);
  if (!entry.pending || runId === undefined) return { ...facts, entry, message: entry.message };
  const head = await parts.runs.read(runId);
  if (head?.state.state === 'running') return { ...facts, entry, message: entry.message, runId };
  const log = await readLog(runId, parts.storage);
  return await writeAnswer(parts, { facts, entry, chunks: log.map(({ chunk }) => chunk) });
}

/** An entry with the answer that a run has written, and the change that makes it. */
export function answerOf(
  parts: ChatParts,
  { facts: { key, version }, entry, chunks }: {
    readonly facts: Pick<Stored, 'key' | 'version'>;
    readonly entry: MessageEntry;
    readonly chunks: readonly UIMessageChunk[];
  },
): Pick<Stored, 'entry' | 'message'> & { readonly change: Change } {
  const message = chunks.length === 0 ? entry.message : fitMessage(foldMessage(chunks, entry.message));
  const { pending: _, message: __, ...rest } = entry;
  const value: MessageEntry = { ...rest, ...(message && { message }) };
  return { entry: value, message, change: { key, value, ifVersion: version, ...lifetime(parts, entry.at) } };
}

/** Adds to an entry the answer that a run has written. */
async function writeAnswer(
  parts: ChatParts,
  { facts, entry, chunks }: {
    readonly facts: Pick<Stored, 'key' | 'number' | 'version'>;
    readonly entry: MessageEntry;
    readonly chunks: readonly UIMessageChunk[];
  },
): Promise<Stored> {
  const { entry: value, message, change } = answerOf(parts, { facts, entry, chunks });
  const written = await parts.storage.commit([change]).catch((error: unknown) => {
    if (!isFull(error)) throw error;
    return { ok: false as const }; // a full store can still be read: a later reader adds the answer
  });
  // Otherwise another reader has added the same, or the entry was deleted or replaced: then this is what it was.
  return { ...facts, entry: value, message, ...(written.ok && { version: written.version }) };
}

function isFull(error: unknown): boolean {
  return error instanceof PinnaceError && error.details?.['reason'] === 'storage_full';
}

/** Adds the answer of this run, if its place is still there, and returns it. */
export async function settleAnswer(
  parts: ChatParts,
  { key, runId }: { key: Key; runId: string },
): Promise<UIMessage | undefined> {
  const entry = await parts.storage.get(key);
  if (!entry || (entry.value as MessageEntry).runIds?.at(-1) !== runId) return undefined;
  return (await resolveEntry(parts, entry)).message;
}

/** A chat that is ready for a run. */
export interface OpenedChat {
  /** What the model is sent: the stored messages and the new ones. */
  readonly messages: UIMessage[];
  /** Whether the answers among them were stored: a new chat takes those of its client. */
  readonly isStored: boolean;
  /** The ids of the calls in the others. */
  readonly otherCallIds: readonly string[];
  /**
   * Stores the files of the messages that the claim adds, and pays for the messages where written bytes are limited, unless that was
   * done for the run before. Rejects as `Budgets.write` and the file store do.
   */
  prepare(options: { readonly isPaid: boolean }): Promise<void>;
  /** The changes that the claim of the run makes. They conflict at the record when the chat was changed meanwhile. */
  changes(runId: string): readonly Change[];
  /** The change that adds the answer; `undefined` for a long one. It conflicts where the chat was changed meanwhile. */
  readonly answer: (log: WrittenLog) => Change | undefined;
  /**
   * Adds the answer of a run that has ended, unless its end has done so, and remembers the chat for the next run. Where the log is not
   * passed, it is read.
   */
  settle(runId: string, written: WrittenLog | undefined): Promise<void>;
}
