/** Starts a run in a stored chat: adds what was sent to what is stored, and reserves the place of the answer. */

import type { UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';
import type { Key } from '../base/key.ts';
import type { WrittenLog } from './live-run.ts';
import type { Change, Entry } from '../contracts/storage.ts';
import { PinnaceError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import { approvalsRequestedIn } from './decided-calls.ts';
import { callIdsIn } from './call-ids.ts';
import { messagesToSend } from './message-parts.ts';
import type { RunRequest } from './run-request.ts';
import {
  answerOf,
  busyChat,
  type ChatParts,
  type ChatRecord,
  fileTerms,
  type FoundChat,
  lifetime,
  lifetimeOf,
  listKey,
  maxMessageLength,
  maxTries,
  mayRead,
  type MessageEntry,
  messagesPrefix,
  type OpenedChat,
  type Owner,
  putRecent,
  type ReadChat,
  readChat,
  recordKey,
  resolveEntry,
  settleAnswer,
  type Stored,
  takeRecent,
  titleOf,
} from './chat-record.ts';
import { lengthWithoutFiles, storeInlineFiles } from './run-files.ts';
import { finishDelete } from './delete-chat.ts';
import { readPages } from '../log/commits.ts';

/**
 * Opens the chat of a request. Not read is a chat that this instance has answered last, and that of a single message while such chats
 * are new: the claim conflicts where this is out of date, and a stale chat is read. A plan is taken once, before the claim, so its
 * chat is always read, and so is a chat before it rejects a request.
 *
 * @throws PinnaceError `invalid_argument` for messages that cannot be added, `conflict` (`chat_changed`, `chat_busy`), `forbidden` when
 * an agent has answered in it that the caller may not run.
 */
export async function openChat(
  parts: ChatParts,
  request: RunRequest,
  { principal, isStale }: { readonly principal: Principal; readonly isStale: boolean },
): Promise<OpenedChat> {
  const { chat: { id, messages }, planner } = request;
  const assumed = messages.length === 1 && !isStale && areNew.has(parts.runs) ? noChat : undefined;
  for (let recent = planner ? undefined : takeRecent(parts, principal, id) ?? assumed;; recent = undefined) {
    const chat = recent ?? await findChat(parts, principal, id);
    if (!recent && messages.length === 1) areNew[chat.found ? 'delete' : 'add'](parts.runs);
    try {
      return addToChat(parts, { request, principal, chat });
    } catch (rejection) {
      if (!recent) throw rejection;
    }
  }
}

/** The runs of the runtimes that found no chat when they last read that of a single message. */
const areNew = new WeakSet<ChatParts['runs']>();
const noChat = { found: undefined, stored: [] };

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
  checkLengths(merged, record, parts);
  let added = merged.added;
  const last = merged.messages.at(-1);
  const isContinued = approvalsRequestedIn(last).length > 0;
  const answerAt = isContinued ? merged.lastNumber : merged.next;
  const answerKey = [...prefix, answerAt];
  const answered = stored.find(({ number }) => number === answerAt)?.entry.runIds ?? [];
  let claimed: ClaimedChat | undefined;
  let answer: ReturnType<typeof answerOf> | undefined;
  const messages = messagesToSend(merged.messages);
  const sentAgain = new Set(messages);
  return {
    messages,
    isStored: stored.length > 0,
    otherCallIds: callIdsIn(merged.messages.filter((message) => !sentAgain.has(message))),
    prepare: async ({ isPaid }) => void (added = await withStoredFiles(parts, merged.added, { owner, isPaid })),
    changes(runId) {
      const at = parts.now();
      const ttl = lifetime(parts, at);
      const slot: MessageEntry = isContinued && last
        ? { message: last, runIds: [...answered.slice(-mostRuns), runId], pending: true, at }
        : { runIds: [runId], pending: true, at };
      const place = { key: answerKey, number: answerAt, value: slot };
      const after: ChatRecord = { ...record, next: answerAt + 1, lastRunId: runId, updatedAt: at };
      claimed = claimedChat(stored, { record: after, merged, added, place, prefix, at });
      return [
        ...recordChanges(parts, { owner, chatId, found, record: claimed.record }),
        ...merged.cut.map(({ key }) => ({ key })),
        ...claimed.entries.map(({ key, value }) => ({ key, value, ...ttl })),
      ];
    },
    answer: (written) => (answer = claimed && answerAtEnd(parts, claimed, written))?.change,
    async settle(runId, written) {
      const isAnswered = written?.answered !== undefined;
      const known = claimed && answer && isAnswered ? answeredChat(claimed, written, answer) : undefined;
      const message = known ? answer?.message : await settleAnswer(parts, { key: answerKey, runId });
      // It is written whatever is left: the next message is refused.
      if (message) await parts.budgets?.write(owner, bytesOf(message)).catch(() => undefined);
      if (merged.messages.length > mostRemembered) return;
      const { found: now, stored: all } = known ?? await readWhole(parts, owner, chatId);
      if (now && !now.record.deleting) putRecent(parts, { owner, chatId, chat: { found: now, stored: all } });
    },
  };
}

/** What the claim of a run makes of its chat. */
interface ClaimedChat {
  readonly record: ChatRecord;
  /** What it writes: the new messages, and last the place of the answer. */
  readonly entries: readonly ClaimedEntry[];
  /** The messages before. */
  readonly kept: readonly Stored[];
}

interface ClaimedEntry {
  readonly key: Key;
  readonly number: number;
  readonly value: MessageEntry;
}

function claimedChat(
  stored: readonly Stored[],
  { record, merged, added, place, prefix, at }: {
    readonly record: ChatRecord;
    readonly merged: Merged;
    readonly added: Merged['added'];
    readonly place: ClaimedEntry;
    readonly prefix: Key;
    readonly at: number;
  },
): ClaimedChat {
  const before = added.filter(({ number }) => number !== place.number)
    .map(({ number, message }): ClaimedEntry => ({ key: [...prefix, number], number, value: { message, at } }));
  const entries = [...before, place];
  const written = new Set([...entries, ...merged.cut].map(({ number }) => number));
  return { record, entries, kept: stored.filter(({ number }) => !written.has(number)) };
}

/** What adds the answer to the chat; `undefined` where it is long. */
function answerAtEnd(
  parts: ChatParts,
  { entries }: ClaimedChat,
  { claim: version, texts }: WrittenLog,
): ReturnType<typeof answerOf> | undefined {
  const place = entries.at(-1);
  if (!place || texts.reduce((sum, { length }) => sum + length, 0) > mostWithEnd) return undefined;
  const chunks = texts.map((text) => JSON.parse(text) as UIMessageChunk); // `record` alone writes them
  return answerOf(parts, { facts: { key: place.key, version }, entry: place.value, chunks });
}

/** The chat with the answer that was written with the end of the run. */
function answeredChat(
  { record, entries, kept }: ClaimedChat,
  { claim, answered = claim }: WrittenLog,
  { entry, message }: Pick<Stored, 'entry' | 'message'>,
): ReadChat {
  const written = entries.map(({ key, number, value }, i): Stored =>
    i === entries.length - 1
      ? { key, number, entry, version: answered, message }
      : { key, number, entry: value, version: claim, message: value.message }
  );
  return { found: { record, version: claim }, stored: [...kept, ...written] };
}

/** An answer of so many UTF-16 code units is written with the end of its run; a longer one after it. */
const mostWithEnd = 262_144;

/** Pays for the messages and their files, and stores the files. */
async function withStoredFiles(
  parts: ChatParts,
  added: Merged['added'],
  { owner, isPaid }: { readonly owner: Owner; readonly isPaid: boolean },
): Promise<Merged['added']> {
  const pay = isPaid ? undefined : async (bytes: number) => await parts.budgets?.write(owner, bytes);
  const stored = await Promise.all(added.map(async ({ number, message }) => {
    try {
      return { number, message: (await storeInlineFiles(message, { ...fileTerms(parts, owner), pay })).message };
    } catch (error) {
      const isRefused = error instanceof PinnaceError && error.code === 'budget_exceeded';
      if (isRefused || JSON.stringify(message).length > maxMessageLength) throw error;
      return { number, message }; // a store that fails refuses no message that can be stored with its files
    }
  }));
  await pay?.(stored.reduce((sum, { message }) => sum + bytesOf(message), 0));
  return stored;
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

/** The most agents that may answer in a chat. */
export const mostAgents = 16;

/** The record, and its entry in the list, which moves to the front. */
export function recordChanges(
  parts: ChatParts,
  { owner, chatId, found, record }: {
    readonly owner: Owner;
    readonly chatId: string;
    readonly found: FoundChat | undefined;
    readonly record: ChatRecord;
  },
): readonly Change[] {
  const { updatedAt } = record;
  const ttl = lifetimeOf(parts, record);
  const old = found && found.record.updatedAt !== updatedAt
    ? [{ key: listKey(owner, chatId, found.record.updatedAt) }]
    : [];
  return [
    { key: recordKey(owner, chatId), value: record, ifVersion: found?.version ?? null, ...ttl },
    ...old,
    { key: listKey(owner, chatId, updatedAt), value: record, ...ttl },
  ];
}

function checkLengths({ messages, added }: Merged, { imported = 0 }: ChatRecord, { limits }: ChatParts): void {
  const most = limits.chatMessages + imported;
  if (messages.length > most) {
    throw refused('chat_full', `it has ${most} messages, more are not stored; start a new chat`);
  }
  for (const { message } of added) {
    const length = lengthWithoutFiles(message);
    if (length <= maxMessageLength) continue;
    throw refused(
      'chat_message_too_large',
      `a message is ${length} long without its files, ${maxMessageLength} is allowed; upload what is long as a file`,
    );
  }
  const total = messagesToSend(messages).reduce((sum, message) => sum + lengthWithoutFiles(message), 0);
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

/** Messages of one request that a chat may not have yet, and stored ones that an edit may remove: both are one commit. */
const mostAdded = 32;
const mostCut = 48;

/** A chat with the messages of a request. */
interface Merged {
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
function mergeSent(
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
