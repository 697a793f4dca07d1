/**
 * What the models of a chat were sent: a chain with a link for each block, so that a changed beginning is seen before a call.
 *
 * What must hold:
 *
 * 1. Each call of a chat extends the call before it of the same provider and model, block by block: tools, instructions, messages.
 *    Providers cache a prompt by its beginning, so a changed block costs everything behind it.
 * 2. A difference has one reason of a closed list, which is emitted before the call. One without a reason is a bug of this runtime:
 *    `prompt.unexpected`. It never fails a run.
 * 3. A link has no text: 53 bits of a hash and a count of tokens. Who forges a message changes only what is announced.
 * 4. The chain is committed with the end of a run, and read beside the claim of the next one, where its messages are not those that
 *    this instance has answered last: a run costs no round trip more.
 */

import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';
import { BoundedMap } from '../base/bounded-map.ts';
import { quickHash } from '../base/hash.ts';
import { asRecord, isRecord } from '../base/is-record.ts';
import type { Key } from '../base/key.ts';
import type { Principal } from '../base/principal.ts';
import type { Provider } from '../base/schema.ts';
import type { UIMessage } from '../contracts/ai-types.ts';
import type { Storage } from '../contracts/storage.ts';
import type { Label } from '../permission/label.ts';
import { messageTokens, valueTokens } from './estimate-prompt.ts';
import { type AnsweredCall, answeredFields, type IssuedEntry, issuedWith } from './issued-metadata.ts';
import { type MessageOrigin, originOf } from './message-parts.ts';
import { wrapCalls } from './wrapped-calls.ts';

/** Why the beginning of a prompt has changed. */
export type BreakReason =
  | 'compaction'
  | 'strategy'
  | 'edit'
  | 'tools'
  | 'instructions'
  | 'output'
  | 'provider'
  | 'form'
  | 'signatures'
  | 'repair'
  | 'ephemeral'
  | 'choice'
  | 'retention';

/** A changed beginning. */
export interface PromptBreak {
  /** Absent: no reason is known, which is a bug. */
  readonly reason: BreakReason | undefined;
  readonly block: 'tools' | 'system' | 'messages';
  /** The first changed block: the tools are 0, the messages count from 1, instructions first. */
  readonly position: number;
  /** About how many tokens before it are the same, and how many of the last call are not. */
  readonly keptTokens: number;
  readonly lostTokens: number;
}

/** Receives a changed beginning before its call; `id` is that of the model. */
export type OnBreak = (broken: PromptBreak, target: { readonly id: string }) => void;

/** A call as its provider hashes it. */
export interface ChainedCall {
  readonly prompt: readonly LanguageModelV4Message[];
  readonly tools: LanguageModelV4CallOptions['tools'];
  readonly toolChoice?: LanguageModelV4CallOptions['toolChoice'] | undefined;
  readonly responseFormat?: LanguageModelV4CallOptions['responseFormat'] | undefined;
  /** How loaded tools are called; absent, by `tool_call`. */
  readonly form?: string | undefined;
  readonly provider: Pick<Provider, 'id' | 'jsonSchema'>;
  readonly model: { readonly provider: string; readonly modelId: string };
}

/** One block. */
interface Link {
  readonly hash: number;
  readonly tokens: number;
  /** The letter of its kind; a capital where its provider has signed it. */
  readonly kind: string;
  /** A hash of the id of its message; 0 where the run has made it. */
  readonly origin: number;
}

/** The last call of one model, as it is stored: the blocks by columns. */
interface Chain {
  readonly model: string;
  readonly form?: string | undefined;
  readonly tools: number;
  readonly toolTokens: number;
  readonly choice: string;
  readonly output: number;
  readonly hashes: readonly number[];
  readonly tokens: readonly number[];
  readonly origins: readonly number[];
  readonly kinds: string;
}

/** What the runs of a chat have read. */
export interface ChatFacts {
  readonly read: Label;
  /** How often the run of the last answer has called each tool. */
  readonly calls: readonly (readonly [string, number])[];
  /** The calls that a person was asked about, with what had been read before them. */
  readonly asked?: readonly (readonly [toolCallId: string, read: Label])[];
  /** The answers that it is about. */
  readonly messages: readonly string[];
  /** What they say to a model, where the client keeps them. */
  readonly digests?: readonly string[];
}

/** What is stored of the calls of a chat. */
export interface PromptRecord {
  readonly v: 1;
  /** The run that made the last call. */
  readonly runId: string;
  readonly agentId: string;
  /** When it was made, in milliseconds since 1970. */
  readonly at: number;
  /** The instructions that the agent's function has made for the chat, a hash of the agent's record, and how many turns in a row they have changed in. */
  readonly instructions?: { readonly text: string; readonly of: number; readonly changes?: number } | undefined;
  /** What models have issued, which they need back. */
  readonly issued?: readonly IssuedEntry[] | undefined;
  /** What the chat has read; absent in records of version 0.2. */
  readonly facts?: ChatFacts | undefined;
  /** The chains, the last one first. */
  readonly chains: readonly Chain[];
}

/** So many models of a chat have a chain: a fallback, and the model that comes back after it. */
const mostChains = 3;

/** A call that was compared. */
interface Followed {
  /** How many messages are the same as in the call before. */
  readonly shared: number;
  /** About how many tokens of it a cache may have. */
  readonly cacheableTokens: number;
  readonly break?: PromptBreak;
}

/** The calls of one run, after those of its chat. */
export class PromptChain {
  #chains: Chain[];
  #cause: BreakReason | undefined;
  /** The chains of its own calls. */
  readonly #own = new Set<Chain>();
  /** About how many tokens of the calls a cache may have had. */
  cacheableTokens = 0;
  /** Whether the chat had calls that nothing is known of. */
  readonly #isLost: boolean;
  /** Whether the server stores the messages: then no client can have changed an answer. */
  readonly #isStored: boolean;
  readonly #issued: IssuedEntry[];
  /** The last calls of the run that a fork goes on from, and where it goes on exactly, what that run sent there. */
  readonly #forked: readonly Chain[];
  #sent: LanguageModelV4Message[] | undefined;

  constructor(
    record: PromptRecord | undefined,
    { isStored, isLost, forked }: {
      readonly isStored: boolean;
      readonly isLost: boolean;
      readonly forked?: PromptRecord | undefined;
    },
  ) {
    this.#chains = [...record?.chains ?? []];
    this.#issued = [...(record ?? forked)?.issued ?? []];
    this.#forked = forked?.chains ?? [];
    this.#isStored = isStored;
    this.#isLost = isLost;
  }

  /** Says what a fork goes on from: a prompt that its parent has sent. */
  goOnFrom(prompt: ChainedCall['prompt']): void {
    this.#sent = [...prompt];
  }

  /** How loaded tools are called in this chat: one that has begun with `tool_call` stays there. */
  formFor(wanted: string | undefined, of: Pick<ChainedCall, 'provider' | 'model'>): string | undefined {
    const known = this.#chains.find(({ model }) => model === modelKey(of));
    return known && known.form === undefined ? undefined : wanted;
  }

  /** Says why the next call may differ. */
  explain(reason: BreakReason): void {
    this.#cause = reason;
  }

  /** Compares the call with the last one of its model, which it becomes. */
  follow(call: ChainedCall): Followed {
    const chain = chainOf(call);
    const last = this.#chains[0] ?? this.#forked[0];
    const before = this.#chains.find(({ model }) => model === chain.model) ?? this.#parentOf(chain, call);
    const followed = before ? this.#compare(before, chain, call) : this.#started(last);
    const others = this.#chains.filter((one) => one !== before);
    this.#chains = [chain, ...others].slice(0, mostChains);
    this.#cause = undefined;
    this.#own.add(chain);
    return followed;
  }

  /** Notes what the model of an answer needs back. */
  issued(answer: LanguageModelV4Message, by: Pick<IssuedEntry, 'messageId' | 'agentId' | 'model'>): void {
    const issued = issuedWith(answer);
    if (issued) this.#issued.push({ ...by, ...issued });
  }

  /** Notes what a provider is answered that has asked about a call. */
  answered(call: AnsweredCall, by: Pick<IssuedEntry, 'messageId' | 'agentId' | 'model'>): void {
    this.#issued.push({ ...by, calls: { [call.toolCallId]: answeredFields(call) }, said: [] });
  }

  /** What the next run of the chat compares with; `undefined` where no model was called. `isThere` knows the messages of the chat. */
  record(
    run: Omit<PromptRecord, 'v' | 'issued' | 'chains'>,
    isThere: (messageId: string) => boolean,
  ): PromptRecord | undefined {
    if (this.#own.size === 0) return undefined;
    const issued = newestOf(this.#issued.filter(({ messageId }) => isThere(messageId)));
    return { v: 1, ...run, ...(issued.length > 0 && { issued }), chains: this.#chains };
  }

  /** What the parent of a fork has sent of a call: its last call may have gone further, and by another choice. */
  #parentOf(chain: Chain, { tools: offered, form }: ChainedCall): Chain | undefined {
    if (this.#own.size > 0) return undefined;
    const parent = this.#forked.find(({ model }) => model === chain.model);
    if (!parent && !this.#sent) return undefined;
    const { tools, toolTokens, output } = parent ?? chain;
    const { hashes, tokens, origins, kinds } = this.#sent && form === undefined
      ? columnsOf(wrapCalls(this.#sent, offered))
      : parent ?? chain;
    const length = this.#sent && form === undefined ? hashes.length : chain.hashes.length;
    const common = { hashes: hashes.slice(0, length), tokens: tokens.slice(0, length) };
    return { ...chain, tools, toolTokens, output, ...common, origins, kinds };
  }

  /** Another model than before, or the first one of which anything is known. */
  #started(last: Chain | undefined): Followed {
    const reason = last ? 'provider' : this.#isLost ? 'retention' : undefined;
    if (!reason) return { shared: 0, cacheableTokens: 0 };
    const lostTokens = last ? tokensOf(last) : 0;
    return {
      shared: 0,
      cacheableTokens: 0,
      break: { reason, block: 'tools', position: 0, keptTokens: 0, lostTokens },
    };
  }

  #compare(before: Chain, chain: Chain, { provider, model }: ChainedCall): Followed {
    const total = tokensOf(before);
    const broken = (reason: BreakReason | undefined, at: Omit<PromptBreak, 'reason' | 'lostTokens'>): Followed => ({
      shared: Math.max(0, at.position - 1),
      cacheableTokens: at.keptTokens,
      break: { reason, ...at, lostTokens: total - at.keptTokens },
    });
    if (before.form !== chain.form) return broken('form', { block: 'tools', position: 0, keptTokens: 0 });
    if (before.tools !== chain.tools) {
      return broken(this.#cause ?? 'tools', { block: 'tools', position: 0, keptTokens: 0 });
    }
    if (provider.jsonSchema === true && before.output !== chain.output) {
      return broken('output', { block: 'tools', position: 0, keptTokens: 0 });
    }
    const { hashes, tokens } = before;
    let kept = before.toolTokens;
    for (let i = 0; i < hashes.length; i++) {
      if (hashes[i] === chain.hashes[i]) kept += tokens[i] ?? 0;
      else {
        const block = kindAt(before, i) === 'system' ? 'system' : 'messages';
        return broken(this.#reasonAt(i, { before, chain }), { block, position: i + 1, keptTokens: kept });
      }
    }
    const isChoice = before.choice !== chain.choice && /anthropic/i.test(model.provider);
    if (!isChoice) return { shared: hashes.length, cacheableTokens: kept };
    const system = chain.tokens.filter((_, i) => kindAt(chain, i) === 'system');
    const keptTokens = system.reduce((sum, own) => sum + own, chain.toolTokens);
    return broken('choice', { block: 'messages', position: system.length + 1, keptTokens });
  }

  #reasonAt(
    at: number,
    { before, chain }: { readonly before: Chain; readonly chain: Chain },
  ): BreakReason | undefined {
    const [kind, next] = [kindAt(before, at), kindAt(chain, at)];
    if (kind === 'repair' || kind === 'ephemeral') return kind;
    if (kind === 'definitions' || next === 'definitions') return this.#cause ?? 'tools';
    if (kind === 'system' || next === 'system') return 'instructions';
    if (this.#cause) return this.#cause;
    if (next === 'summary') return 'compaction';
    if (isSignedAt(before, at) && next === kind && !isSignedAt(chain, at)) return 'signatures';
    if (this.#own.has(before)) return undefined; // a run changes nothing without saying so
    if (kind === 'context' || kind === 'summary') return 'retention';
    const isOther = kind === 'user' || next !== kind || chain.origins[at] !== before.origins[at];
    return isOther || !this.#isStored ? 'edit' : undefined;
  }
}

/** UTF-16 code units of all metadata in a record. */
const mostIssued = 524_288;

/** The newest ones that a record has room for. */
function newestOf(issued: readonly IssuedEntry[]): readonly IssuedEntry[] {
  let left = mostIssued;
  const first = issued.findLastIndex((entry) => (left -= JSON.stringify(entry).length) < 0);
  return issued.slice(first + 1);
}

function tokensOf({ toolTokens, tokens }: Chain): number {
  return tokens.reduce((sum, own) => sum + own, toolTokens);
}

const ofTools = new WeakMap<object, { readonly hash: number; readonly tokens: number }>();
const ofFormats = new WeakMap<object, number>();

function chainOf({ prompt, tools = none, toolChoice, responseFormat, form, provider, model }: ChainedCall): Chain {
  const known = ofTools.get(tools) ?? { hash: quickHash(tools), tokens: tools.length && valueTokens(tools) };
  ofTools.set(tools, known);
  const output = responseFormat ? ofFormats.get(responseFormat) ?? quickHash(responseFormat) : 0;
  if (responseFormat) ofFormats.set(responseFormat, output);
  return {
    model: modelKey({ provider, model }),
    ...(form !== undefined && { form }),
    tools: known.hash,
    toolTokens: known.tokens,
    choice: toolChoice && toolChoice.type !== 'auto' ? JSON.stringify(toolChoice) : '',
    output,
    ...columnsOf(prompt),
  };
}

function columnsOf(prompt: ChainedCall['prompt']): Pick<Chain, 'hashes' | 'tokens' | 'origins' | 'kinds'> {
  const hashes: number[] = [];
  const tokens: number[] = [];
  const origins: number[] = [];
  let kinds = '';
  for (const message of prompt) {
    const link = linkOf(message);
    hashes.push(link.hash);
    tokens.push(link.tokens);
    origins.push(link.origin);
    kinds += link.kind;
  }
  return { hashes, tokens, origins, kinds };
}

/** Names a model of a provider. */
export function modelKey(
  { provider, model }: { readonly provider: { readonly id: string }; readonly model: { readonly modelId: string } },
): string {
  return `${provider.id}/${model.modelId}`;
}

const none: never[] = [];
const linked = new WeakMap<LanguageModelV4Message, Link>();

function linkOf(message: LanguageModelV4Message): Link {
  const known = linked.get(message);
  if (known) return known;
  const origin = originOf(message);
  const { role, content } = message;
  const parts: readonly object[] = typeof content === 'string' ? [] : content;
  const isSigned = parts.some((part) => 'providerOptions' in part && isRecord(part.providerOptions));
  const letter = letters[origin && isOfData(origin.kind) ? origin.kind : role];
  const link: Link = {
    hash: quickHash([role, content, message.providerOptions]),
    tokens: messageTokens(message),
    kind: isSigned ? letter.toUpperCase() : letter,
    origin: origin ? quickHash(origin.id) % 0x100_0000 : 0,
  };
  linked.set(message, link);
  return link;
}

/** The letter of each kind in a stored chain. */
const letters = {
  system: 's',
  user: 'u',
  assistant: 'a',
  tool: 't',
  context: 'c',
  summary: 'm',
  repair: 'r',
  ephemeral: 'e',
  definitions: 'd',
} as const;
const kindOfLetter = new Map(Object.entries(letters).map(([kind, letter]) => [letter as string, kind]));

function isOfData(kind: MessageOrigin['kind']): kind is Exclude<MessageOrigin['kind'], 'user' | 'assistant'> {
  return kind !== 'user' && kind !== 'assistant';
}

/** The kind of a block; `undefined` behind the last one. */
function kindAt({ kinds }: Chain, at: number): string | undefined {
  return kindOfLetter.get(kinds[at]?.toLowerCase() ?? '');
}

function isSignedAt({ kinds }: Chain, at: number): boolean {
  return /[A-Z]/.test(kinds[at] ?? '');
}

/** Where the prompt of a chat is recorded. */
export function promptKey({ tenant, subject }: Pick<Principal, 'tenant' | 'subject'>, chatId: string): Key {
  return ['prompt', tenant, subject, chatId];
}

/** So many chats an instance remembers, and so many links of each. */
const [mostRemembered, mostLinks, mostLength] = [256, 1_000, 65_536];

/** The records of the chats that this instance has answered last. */
export type RecentPrompts = BoundedMap<string, PromptRecord>;

export function createRecentPrompts(): RecentPrompts {
  return new BoundedMap(mostRemembered);
}

/** What a record is found by. */
interface PromptPlace {
  readonly storage: Pick<Storage, 'get'>;
  readonly recent: RecentPrompts;
  readonly principal: Principal;
  readonly chatId: string;
}

/** Reads the record of a chat; at most once, and not where this instance has made the last answer of these messages. */
export async function readPrompt(
  { storage, recent, principal, chatId }: PromptPlace,
  messages: readonly UIMessage[],
): Promise<PromptRecord | undefined> {
  const key = promptKey(principal, chatId);
  const known = recent.use(JSON.stringify(key));
  const runId = lastRunIn(messages);
  if (known && (runId === undefined || known.runId === runId)) return known;
  if (!hasAnswer(messages)) return undefined;
  return await readPromptRecord(storage, key);
}

export async function readPromptRecord(
  storage: Pick<Storage, 'get'>,
  key: Key,
): Promise<PromptRecord | undefined> {
  const value: unknown = (await storage.get(key))?.value;
  const text = isRecord(value) && value['v'] === 1 ? value['text'] : undefined;
  return typeof text === 'string' ? JSON.parse(text) as PromptRecord : undefined; // only `rememberPrompt` writes it
}

/** Remembers the record, and returns what stores it. */
export function rememberPrompt(
  { recent, principal, chatId }: Omit<PromptPlace, 'storage'>,
  record: PromptRecord,
): { readonly key: Key; readonly value: { readonly v: 1; readonly text: string } } {
  const key = promptKey(principal, chatId);
  const text = JSON.stringify(record); // a text is stored faster than lists
  if ((record.chains[0]?.hashes.length ?? 0) <= mostLinks && text.length <= mostLength) {
    recent.set(JSON.stringify(key), record);
  } else recent.delete(JSON.stringify(key));
  return { key, value: { v: 1, text } };
}

/** Whether a model has answered in these messages. */
export function hasAnswer(messages: readonly UIMessage[]): boolean {
  return messages.some(({ role }) => role === 'assistant');
}

/** The run that the last answer names: what a client sends, so no more than a hint. */
export function lastRunIn(messages: readonly UIMessage[]): unknown {
  const answer = messages.findLast(({ role }) => role === 'assistant');
  const part = answer?.parts.findLast(({ type }) => type === 'data-run');
  return part && 'data' in part ? asRecord(part.data)['runId'] : undefined;
}
