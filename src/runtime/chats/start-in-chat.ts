/** Starts a run in a stored chat: adds what was sent to what is stored, and reserves the place of the answer. */

import type { Key } from '../../base/key.ts';
import type { UIMessage } from '../../contracts/ai-types.ts';
import type { Change } from '../../contracts/storage.ts';
import { PinnaceError } from '../../base/errors.ts';
import { readPages } from '../../log/pages.ts';
import type { Principal } from '../../base/principal.ts';
import { approvalsRequestedIn } from '../calls/approvals.ts';
import { messagesToSend } from '../messages/compaction.ts';
import type { RunRequest } from '../run-request.ts';
import { resolveEntry, type Stored } from './answers.ts';
import {
  busyChat,
  type ChatParts,
  type ChatRecord,
  type FoundChat,
  lifetime,
  listKey,
  maxTries,
  mayRead,
  type MessageEntry,
  messagesPrefix,
  type Owner,
  readChat,
  recordKey,
} from './chat-record.ts';
import { finishDelete } from './delete-chat.ts';
import { maxMessageLength } from './fit-message.ts';
import { type Merged, mergeSent } from './merge-sent.ts';
import { titleOf } from './title.ts';

/** A chat that is ready for a run. */
export interface OpenedChat {
  /** What the model is sent: the stored messages and the new ones. */
  readonly messages: UIMessage[];
  /** Where the answer will be. */
  readonly answerKey: Key;
  /** The changes that the claim of the run makes. They conflict at the record when the chat was changed meanwhile. */
  changes(runId: string): readonly Change[];
}

/**
 * Opens the chat of a request.
 *
 * @throws PinnaceError `invalid_argument` for messages that cannot be added, `conflict` (`chat_changed`, `chat_busy`), `forbidden` when
 * an agent has answered in it that the caller may not run.
 */
export async function openChat(parts: ChatParts, request: RunRequest, principal: Principal): Promise<OpenedChat> {
  const { agentId, chat: { id: chatId, messages: sent } } = request;
  const owner: Owner = principal;
  const found = await findChat(parts, owner, chatId);
  if (found && !mayRead(principal, found.record)) throw otherAgent();
  const record = withRun(parts, { record: found?.record, sent, agentId });
  const prefix = messagesPrefix(owner, chatId, record);
  const stored = found ? await readMessages(parts, prefix) : [];
  const merged = mergeSent(stored, { sent, next: record.next });
  checkLengths(merged, parts);
  const last = merged.messages.at(-1);
  const isContinued = approvalsRequestedIn(last).length > 0;
  const answerAt = isContinued ? merged.lastNumber : merged.next;
  const answerKey = [...prefix, answerAt];
  const answered = stored.find(({ number }) => number === answerAt)?.entry.runIds ?? [];
  return {
    messages: messagesToSend(merged.messages),
    answerKey,
    changes(runId) {
      const at = parts.now();
      const ttl = lifetime(parts, at);
      const slot: MessageEntry = isContinued && last
        ? { message: last, runIds: [...answered.slice(-mostRuns), runId], pending: true, at }
        : { runIds: [runId], pending: true, at };
      return [
        ...recordChanges(parts, { owner, chatId, found, record: { ...record, next: answerAt + 1, updatedAt: at } }),
        ...merged.cut.map(({ key }) => ({ key })),
        ...merged.added.filter(({ number }) => number !== answerAt).map(({ number, message }) => {
          const value: MessageEntry = { message, at };
          return { key: [...prefix, number], value, ...ttl };
        }),
        { key: answerKey, value: slot, ...ttl },
      ];
    },
  };
}

/** A message that more runs than these have written forgets the oldest. */
const mostRuns = 15;

/** Reads the record. A delete that was interrupted is completed first. */
async function findChat(parts: ChatParts, owner: Owner, chatId: string): Promise<FoundChat | undefined> {
  for (let tries = 0; tries < maxTries; tries++) {
    const found = await readChat(parts, owner, chatId);
    if (!found?.record.deleting) return found;
    await finishDelete(parts, { owner, chatId, found });
  }
  throw busyChat();
}

async function readMessages(parts: ChatParts, prefix: Key): Promise<readonly Stored[]> {
  const stored: Stored[] = [];
  for await (const page of readPages(parts.storage, { prefix, limit: 100 })) {
    stored.push(...await Promise.all(page.map((entry) => resolveEntry(parts, entry))));
  }
  return stored;
}

function withRun(
  { now }: ChatParts,
  { record, sent, agentId }: {
    readonly record: ChatRecord | undefined;
    readonly sent: readonly UIMessage[];
    readonly agentId: string;
  },
): ChatRecord {
  const at = now();
  const known = record ??
    {
      title: titleOf(sent),
      version: 1,
      agentIds: [],
      createdAt: at,
      updatedAt: at,
      generation: crypto.randomUUID().replaceAll('-', ''),
      next: 1,
    };
  const agentIds = [...new Set([...known.agentIds, agentId])];
  if (agentIds.length <= mostAgents) return { ...known, agentIds };
  throw refused('too_many_chat_agents', `${mostAgents} agents have answered in it; start a new chat`);
}

const mostAgents = 16;

/** The record, and its entry in the list, which moves to the front. */
function recordChanges(
  parts: ChatParts,
  { owner, chatId, found, record }: {
    readonly owner: Owner;
    readonly chatId: string;
    readonly found: FoundChat | undefined;
    readonly record: ChatRecord;
  },
): readonly Change[] {
  const { updatedAt } = record;
  const ttl = lifetime(parts, updatedAt);
  const old = found && found.record.updatedAt !== updatedAt
    ? [{ key: listKey(owner, chatId, found.record.updatedAt) }]
    : [];
  return [
    { key: recordKey(owner, chatId), value: record, ifVersion: found?.version ?? null, ...ttl },
    ...old,
    { key: listKey(owner, chatId, updatedAt), value: record, ...ttl },
  ];
}

function checkLengths({ messages, added }: Merged, { limits }: ChatParts): void {
  if (messages.length > limits.chatMessages) {
    throw refused('chat_full', `it has ${limits.chatMessages} messages, more are not stored; start a new chat`);
  }
  for (const { message } of added) {
    const { length } = JSON.stringify(message);
    if (length <= maxMessageLength) continue;
    throw refused(
      'chat_message_too_large',
      `a message is ${length} long, ${maxMessageLength} is allowed; upload its files and send their addresses`,
    );
  }
  const total = JSON.stringify(messagesToSend(messages)).length;
  if (total > limits.requestLength) {
    throw refused('chat_full', `its messages are ${total} long, ${limits.requestLength} is allowed; start a new chat`);
  }
}

function refused(reason: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot add to the chat: ${why}`, { details: { reason } });
}

function otherAgent(): PinnaceError {
  return new PinnaceError(
    'forbidden',
    'Cannot add to the chat: an agent has answered in it that the caller may not run',
    {
      details: { reason: 'agent_not_allowed' },
    },
  );
}
