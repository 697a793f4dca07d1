/** Starts a run in a stored chat: adds what was sent to what is stored, and reserves the place of the answer. */

import type { UIMessage } from '../../contracts/ai-types.ts';
import type { Change } from '../../contracts/storage.ts';
import { PinnaceError } from '../../base/errors.ts';
import type { Principal } from '../../base/principal.ts';
import { approvalsRequestedIn } from '../loop/decided-calls.ts';
import { callIdsIn } from '../messages/call-ids.ts';
import { messagesToSend } from '../messages/compaction.ts';
import type { RunRequest } from '../run-request.ts';
import { settleAnswer } from './answers.ts';
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
  recordKey,
} from './chat-record.ts';
import { finishDelete } from './delete-chat.ts';
import { maxMessageLength } from './fit-message.ts';
import { type Merged, mergeSent } from './merge-sent.ts';
import { putRecent, takeRecent } from './recent-chats.ts';
import { readWhole } from './read-whole.ts';
import { titleOf } from './title.ts';

/** A chat that is ready for a run. */
export interface OpenedChat {
  /** What the model is sent: the stored messages and the new ones. */
  readonly messages: UIMessage[];
  /** The ids of the calls in the others. */
  readonly otherCallIds: readonly string[];
  /** Pays for the messages that the claim adds, where written bytes are limited. Rejects as `Budgets.write`. */
  pay(): Promise<void>;
  /** The changes that the claim of the run makes. They conflict at the record when the chat was changed meanwhile. */
  changes(runId: string): readonly Change[];
  /** Adds the answer of the run, which has ended, and remembers the chat for the next one. */
  settle(runId: string): Promise<void>;
}

/**
 * Opens the chat of a request. A chat that this instance has answered last is not read: the claim conflicts where it has changed. A plan
 * is taken once, before the claim, so its chat is always read, and so is a chat before it rejects a request.
 *
 * @throws PinnaceError `invalid_argument` for messages that cannot be added, `conflict` (`chat_changed`, `chat_busy`), `forbidden` when
 * an agent has answered in it that the caller may not run.
 */
export async function openChat(parts: ChatParts, request: RunRequest, principal: Principal): Promise<OpenedChat> {
  const { chat: { id }, planner } = request;
  for (let recent = planner ? undefined : takeRecent(parts, principal, id);; recent = undefined) {
    const chat = recent ?? await findChat(parts, principal, id);
    try {
      return addToChat(parts, { request, principal, chat });
    } catch (rejection) {
      if (!recent) throw rejection;
    }
  }
}

function addToChat(
  parts: ChatParts,
  { request, principal, chat: { found, stored } }: {
    readonly request: RunRequest;
    readonly principal: Principal;
    readonly chat: Awaited<ReturnType<typeof readWhole>>;
  },
): OpenedChat {
  const { agentId, chat: { id: chatId, messages: sent } } = request;
  const owner: Owner = principal;
  if (found && !mayRead(principal, found.record)) throw otherAgent();
  const record = withRun(parts, { record: found?.record, sent, agentId });
  const prefix = messagesPrefix(owner, chatId, record);
  const merged = mergeSent(stored, { sent, next: record.next });
  checkLengths(merged, parts);
  const last = merged.messages.at(-1);
  const isContinued = approvalsRequestedIn(last).length > 0;
  const answerAt = isContinued ? merged.lastNumber : merged.next;
  const answerKey = [...prefix, answerAt];
  const lastRun = (lastRunId: string, updatedAt: number): ChatRecord => ({
    ...record,
    next: answerAt + 1,
    lastRunId,
    updatedAt,
  });
  const answered = stored.find(({ number }) => number === answerAt)?.entry.runIds ?? [];
  const messages = messagesToSend(merged.messages);
  const sentAgain = new Set(messages);
  return {
    messages,
    otherCallIds: callIdsIn(merged.messages.filter((message) => !sentAgain.has(message))),
    async pay() {
      await parts.budgets?.write(owner, merged.added.reduce((sum, { message }) => sum + bytesOf(message), 0));
    },
    changes(runId) {
      const at = parts.now();
      const ttl = lifetime(parts, at);
      const slot: MessageEntry = isContinued && last
        ? { message: last, runIds: [...answered.slice(-mostRuns), runId], pending: true, at }
        : { runIds: [runId], pending: true, at };
      return [
        ...recordChanges(parts, { owner, chatId, found, record: lastRun(runId, at) }),
        ...merged.cut.map(({ key }) => ({ key })),
        ...merged.added.filter(({ number }) => number !== answerAt).map(({ number, message }) => {
          const value: MessageEntry = { message, at };
          return { key: [...prefix, number], value, ...ttl };
        }),
        { key: answerKey, value: slot, ...ttl },
      ];
    },
    async settle(runId) {
      const answer = await settleAnswer(parts, { key: answerKey, runId });
      // It is written whatever is left: the next message is refused.
      if (answer) await parts.budgets?.write(owner, bytesOf(answer)).catch(() => undefined);
      if (merged.messages.length > mostRemembered) return;
      const { found: now, stored: all } = await readWhole(parts, owner, chatId);
      if (now && !now.record.deleting) putRecent(parts, { owner, chatId, chat: { found: now, stored: all } });
    },
  };
}

/** About how many bytes a message takes. */
function bytesOf(message: UIMessage): number {
  return JSON.stringify(message).length;
}

/** A message that more runs than these have written forgets the oldest. */
const mostRuns = 15;

/** A longer chat is read at the start of each run. */
const mostRemembered = 90;

/** Reads the chat. A delete that was interrupted is completed first. */
async function findChat(parts: ChatParts, owner: Owner, chatId: string): ReturnType<typeof readWhole> {
  for (let tries = 0; tries < maxTries; tries++) {
    const chat = await readWhole(parts, owner, chatId);
    if (!chat.found?.record.deleting) return chat;
    await finishDelete(parts, { owner, chatId, found: chat.found });
  }
  throw busyChat();
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
