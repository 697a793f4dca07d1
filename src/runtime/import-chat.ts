/**
 * Brings chats into the storage that another app, or another deployment, has written. No model is called.
 *
 * What must hold:
 * - Everything is checked before anything is written: a refusal names each part that cannot be stored.
 * - Each commit leaves a whole chat: its messages up to one of them. So an import that was cut off is repeated, and goes on from there.
 * - Messages are known by their ids. A message that is stored is never changed, so a repeat changes nothing.
 * - Messages are added behind imported ones alone: once a run has answered, the order of the two would be a guess.
 */

import * as v from 'valibot';
import { suggest } from '../base/check-options.ts';
import { PinnaceError } from '../base/errors.ts';
import { asRecord } from '../base/is-record.ts';
import { readData } from '../base/json.ts';
import { parse } from '../base/parse.ts';
import type { Principal } from '../base/principal.ts';
import type { UIMessage } from '../contracts/ai-types.ts';
import { readPages } from '../log/commits.ts';
import {
  busyChat,
  type ChatParts,
  type ChatRecord,
  fileTerms,
  type FoundChat,
  type ImportedChat,
  lifetime,
  maxMessageLength,
  maxTries,
  mayRead,
  type MessageEntry,
  messagesPrefix,
  noChat,
  type Owner,
  readChat,
  takeRecent,
  Title,
  titleOf,
  toSummary,
} from './chat-record.ts';
import { finishDelete } from './delete-chat.ts';
import { problemOfPart } from './model-messages.ts';
import { lengthWithoutFiles, storeInlineFiles } from './run-files.ts';
import { promptKey } from './prompt-chain.ts';
import { mostAgents, recordChanges } from './start-in-chat.ts';

/** The most messages that a chat may be imported with. */
export const mostImported = 10_000;

const Time = v.union([
  v.pipe(v.number(), v.integer(), v.minValue(0)),
  v.pipe(v.string(), v.isoTimestamp(), v.transform((text) => Date.parse(text))),
]);

/** A chat as it is imported: what `runtime.chats.export` yields is one. */
const ChatToImport = v.strictObject({
  id: v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
  title: v.optional(Title),
  /** The agents that have answered in it: who may not run them all does not see the chat. */
  agentIds: v.optional(v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(256))), v.maxLength(mostAgents))),
  createdAt: v.optional(Time),
  updatedAt: v.optional(Time),
  subject: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(256))),
  messages: v.pipe(v.array(v.unknown()), v.minLength(1), v.maxLength(mostImported)),
});

/** A checked chat. */
type Chat = Omit<v.InferOutput<typeof ChatToImport>, 'messages'> & { readonly messages: readonly UIMessage[] };

/** Reads a chat. @throws PinnaceError `invalid_argument`, and of messages with all that is wrong (`messages_not_importable`). */
export function parseImport(input: unknown): Chat {
  const chat = parse(ChatToImport, readData(input), { what: 'the chat to import' });
  const refused: Refused[] = [];
  const ids = new Map<string, number>();
  for (const [at, message] of chat.messages.entries()) {
    refused.push(...problemsOf(message, at));
    const { id } = asRecord(message);
    if (typeof id !== 'string') continue;
    if (ids.has(id)) {
      refused.push({ message: at, advice: `an "id" of its own: that of message ${ids.get(id)} is the same` });
    }
    ids.set(id, at);
  }
  if (refused.length > 0) throw notImportable(refused);
  return chat as Chat; // each message was checked
}

/** What of a message cannot be stored, and what to pass instead. */
interface Refused {
  readonly message: number;
  readonly part?: number;
  readonly type?: string;
  readonly advice: string;
}

function problemsOf(given: unknown, message: number): readonly Refused[] {
  const { id, role, parts } = asRecord(given);
  const refused: Refused[] = [];
  if (typeof id !== 'string' || id === '' || id.length > 256) {
    refused.push({ message, advice: 'an "id" of 1 to 256 characters' });
  }
  if (role === 'system') refused.push({ message, advice: 'no system messages: they are "instructions" of the agent' });
  else if (role !== 'user' && role !== 'assistant') {
    refused.push({ message, advice: 'the "role" "user" or "assistant"' });
  }
  if (!Array.isArray(parts)) {
    refused.push({ message, advice: '"parts", such as [{ type: "text", text }], and no "content"' });
    return refused;
  }
  for (const [at, part] of parts.entries()) {
    const advice = adviceFor(part);
    const { type } = asRecord(part);
    if (advice) {
      refused.push({ message, part: at, ...(typeof type === 'string' && { type: type.slice(0, 64) }), advice });
    }
  }
  // Its parts are parts, or it is refused.
  const length = refused.some(({ part }) => part !== undefined) ? 0 : lengthWithoutFiles(given as UIMessage);
  if (length > maxMessageLength) {
    refused.push({ message, advice: `at most ${maxMessageLength} characters without its files: it has ${length}` });
  }
  return refused;
}

const call = 'a part "tool-<name>" with "toolCallId", "state", "input" and "output"';

/** What parts of other versions and libraries are called here. */
const nowCalled: Readonly<Record<string, string>> = {
  'tool-invocation': call,
  'tool-call': call,
  'tool-result': call,
  'image': 'a part "file" with "mediaType" and "url"',
  'source': 'a part "source-url" with "sourceId" and "url"',
  'redacted-reasoning': 'a part "reasoning" with "text"',
};

const knownTypes = [
  'text',
  'file',
  'reasoning',
  'reasoning-file',
  'source-url',
  'source-document',
  'step-start',
  'custom',
];

/** What a part should be; `undefined` for one that can be stored. */
function adviceFor(part: unknown): string | undefined {
  const problem = problemOfPart(part);
  if (problem === undefined) return undefined;
  const { type } = asRecord(part);
  if (typeof type !== 'string') return 'parts with a "type"';
  if (Object.hasOwn(nowCalled, type) && problem === 'type') return nowCalled[type];
  if (problem !== 'type') return problem;
  if (type.startsWith('tool-') || type === 'dynamic-tool') return call;
  const [nearest] = suggest(type, knownTypes, { limit: 1 });
  return nearest === undefined ? '"data-<name>" for parts of your own' : `a part "${nearest}"`;
}

const mostListed = 20;

function notImportable(refused: readonly Refused[]): PinnaceError {
  const [{ message, part, type, advice }] = refused as readonly [Refused, ...Refused[]]; // there is one
  const where = `messages.${message}${part === undefined ? '' : `.parts.${part}`}`;
  const what = type === undefined ? '' : ` of the type "${type}"`;
  const more = refused.length > 1 ? ` (and ${refused.length - 1} more, see "refused")` : '';
  return new PinnaceError(
    'invalid_argument',
    `Cannot import the chat: "${where}"${what} cannot be stored; pass ${advice}${more}`,
    {
      details: { reason: 'messages_not_importable', refused: refused.slice(0, mostListed) },
    },
  );
}

/** What is stored of the chat that is imported. */
interface Known {
  readonly found: FoundChat | undefined;
  readonly fresh: readonly UIMessage[];
}

/**
 * Finds which messages are new.
 *
 * @throws PinnaceError `conflict` (`chat_changed`) where new messages would not follow the stored ones, `not_found` for a chat that the
 * caller may not see, `invalid_argument` (`chat_full`).
 */
export async function findKnown(
  parts: ChatParts,
  { owner, principal, chat }: { readonly owner: Owner; readonly principal: Principal; readonly chat: Chat },
): Promise<Known> {
  const found = await readChat(parts, owner, chat.id);
  if (found?.record.deleting) {
    await finishDelete(parts, { owner, chatId: chat.id, found });
    return await findKnown(parts, { owner, principal, chat });
  }
  if (!found) return { found, fresh: chat.messages };
  if (!mayRead(principal, found.record)) throw noChat();
  const ids = new Set<string>();
  for await (
    const page of readPages(parts.storage, { prefix: messagesPrefix(owner, chat.id, found.record), limit: 500 })
  ) {
    for (const { value } of page) ids.add((value as MessageEntry).message?.id ?? ''); // only this folder writes it
  }
  const fresh = chat.messages.filter(({ id }) => !ids.has(id));
  const isBehind = chat.messages.slice(-fresh.length).every(({ id }) => !ids.has(id));
  if (fresh.length > 0 && (!isBehind || found.record.lastRunId !== undefined)) throw changed();
  if ((found.record.imported ?? 0) + fresh.length > mostImported) throw full();
  return { found, fresh };
}

/** Messages and characters of one commit. */
const perCommit = 50;
const lengthPerCommit = 1_048_576;

/** Stores the new messages, a commit after another. */
export async function importMessages(
  parts: ChatParts,
  given: { readonly owner: Owner; readonly principal: Principal; readonly chat: Chat; readonly known: Known },
): Promise<ImportedChat> {
  const { owner, principal, chat } = given;
  let { found, fresh } = given.known;
  const known = chat.messages.length - fresh.length;
  let [imported, files, tries] = [0, 0, 0];
  while (fresh.length > 0) {
    const batch = await nextBatch(parts, owner, fresh);
    const written = await commitBatch(parts, { owner, chat, found, messages: batch.messages });
    takeRecent(parts, owner, chat.id);
    if (written) {
      found = written;
      fresh = fresh.slice(batch.messages.length);
      imported += batch.messages.length;
      files += batch.files;
    } else {
      if (++tries === maxTries) throw busyChat();
      ({ found, fresh } = await findKnown(parts, { owner, principal, chat }));
    }
  }
  if (!found) throw noChat();
  return { ...toSummary(chat.id, found.record), imported, known, files };
}

interface Batch {
  readonly messages: readonly UIMessage[];
  readonly files: number;
}

async function nextBatch(parts: ChatParts, owner: Owner, fresh: readonly UIMessage[]): Promise<Batch> {
  const pay = async (bytes: number) => await parts.budgets?.write(owner, bytes);
  const messages: UIMessage[] = [];
  let [length, files] = [0, 0];
  for (const message of fresh.slice(0, perCommit)) {
    length += lengthWithoutFiles(message);
    if (messages.length > 0 && length > lengthPerCommit) break;
    const stored = await storeInlineFiles(message, { ...fileTerms(parts, owner), pay });
    messages.push(stored.message);
    files += stored.files;
  }
  await pay(messages.reduce((sum, message) => sum + JSON.stringify(message).length, 0));
  return { messages, files };
}

async function commitBatch(
  parts: ChatParts,
  { owner, chat, found, messages }: {
    readonly owner: Owner;
    readonly chat: Chat;
    readonly found: FoundChat | undefined;
    readonly messages: readonly UIMessage[];
  },
): Promise<FoundChat | undefined> {
  const at = parts.now();
  const before = found?.record ?? newRecord(chat, at);
  const record: ChatRecord = {
    ...before,
    agentIds: [...new Set([...before.agentIds, ...chat.agentIds ?? []])].slice(0, mostAgents),
    next: before.next + messages.length,
    imported: (before.imported ?? 0) + messages.length,
    importedAt: at,
  };
  const prefix = messagesPrefix(owner, chat.id, record);
  const ttl = lifetime(parts, at);
  // What the record knows are answers of runs: an imported one of the same id is none.
  parts.recentPrompts.delete(JSON.stringify(promptKey(owner, chat.id)));
  const { ok } = await parts.storage.commit([
    { key: promptKey(owner, chat.id) },
    ...recordChanges(parts, { owner, chatId: chat.id, found, record }),
    ...messages.map((message, i) => {
      const value: MessageEntry = { message, at };
      return { key: [...prefix, before.next + i], value, ...ttl };
    }),
  ]);
  return ok ? await readChat(parts, owner, chat.id) : undefined;
}

function newRecord({ title, createdAt, updatedAt, messages }: Chat, now: number): ChatRecord {
  const created = Math.min(now, createdAt ?? updatedAt ?? now);
  return {
    title: title ?? titleOf(messages),
    version: 1,
    agentIds: [],
    createdAt: created,
    updatedAt: Math.max(created, Math.min(now, updatedAt ?? now)),
    generation: crypto.randomUUID().replaceAll('-', ''),
    next: 1,
  };
}

function changed(): PinnaceError {
  return new PinnaceError(
    'conflict',
    'Cannot import the chat: its new messages do not follow the stored ones, or a run has answered in it; import it under another id',
    { retryable: false, details: { reason: 'chat_changed' } },
  );
}

function full(): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot import the chat: it would have more than ${mostImported} messages; import the rest under another id`,
    { details: { reason: 'chat_full' } },
  );
}
