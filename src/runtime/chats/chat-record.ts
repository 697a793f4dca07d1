/** How chats are stored: a record, an entry in the list of the owner's chats, and an entry for each message. */

import { PinnaceError } from '../../base/errors.ts';
import type { Key } from '../../base/key.ts';
import { type Principal, requireScope, type Scope } from '../../base/principal.ts';
import { namedOwner } from '../../permission/ownership.ts';
import type { UIMessage } from '../../contracts/ai-types.ts';
import type { RuntimeParts } from '../runtime-options.ts';
import type { ChatOwner, ChatSummary } from './chat.ts';

/** What the functions of stored chats share. */
export type ChatParts = Pick<RuntimeParts, 'storage' | 'now' | 'ttlMs' | 'limits' | 'budgets' | 'emit' | 'runs'>;

/** The stored facts of a chat. */
export interface ChatRecord extends Omit<ChatSummary, 'chatId'> {
  /** Names the messages: those of a deleted chat of the same id have another. */
  readonly generation: string;
  /** The number of the next message. */
  readonly next: number;
  /** The run that was claimed last: its answer has the number before `next`. */
  readonly lastRunId?: string;
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

/** The key of a chat's record. */
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
export function toSummary(
  chatId: string,
  { generation: _, next: __, deleting: ___, lastRunId: ____, ...record }: ChatRecord,
): ChatSummary {
  return { chatId, ...record };
}

/** Whether a principal may run all agents that have answered in a chat. */
export function mayRead({ agents }: Principal, { agentIds }: Pick<ChatSummary, 'agentIds'>): boolean {
  return agents === '*' || agentIds.every((id) => agents.includes(id));
}

/** The lifetime of what was written at this time; `Infinity` stores without one. */
export function lifetime({ now, limits: { chatRetentionMs } }: ChatParts, writtenAt: number): { ttlMs?: number } {
  return chatRetentionMs === Infinity ? {} : { ttlMs: Math.max(1, writtenAt + chatRetentionMs - now()) };
}

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
