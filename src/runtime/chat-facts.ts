/**
 * What the runs of a chat have read, beside what its models were sent.
 *
 * What must hold:
 *
 * 1. The record of the chat says it, never a message: what a client sends as a label is not read.
 * 2. A chat has one label for all its answers, so that no part can be moved to where it has less. It only grows.
 * 3. An answer may be anybody's unless it is stored and the record names it, or the record has the digest of all that it says to a
 *    model. What a client leaves out, reorders or moves within the chat changes nothing: all answers have one label.
 * 4. A message of the user is the caller's, and so is why a person has denied a call; the files in a message are not.
 */

import { quickHash, sha256OfText, sha256Sync } from '../base/hash.ts';
import { canonicalJson } from '../base/json.ts';
import type { UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';
import { join, type Label, labelOf, parseLabel, trusted, unlabelled } from '../permission/label.ts';
import { RunFacts } from '../permission/run-facts.ts';
import { resourceOf } from './message-files.ts';
import type { ChatFacts } from './prompt-chain.ts';
import type { Resolution } from './run-context.ts';
import { isNoteOf } from './tool-sets.ts';

/** So many answers are named, and so many of their parts; those before count as anybody's. */
const mostMessages = 1_000;
const mostDigests = 2_000;

/** Returns what a run starts with. `onGrown` receives what has to be recorded before the model knows it. */
export async function openFacts(
  { request: { chat, context }, toolSet, continues, resumed }: Resolution,
  { known, isStored, onGrown }: {
    readonly known: ChatFacts | undefined;
    /** The answers come from the storage. */
    readonly isStored: boolean;
    readonly onGrown: (facts: RunFacts) => void;
  },
): Promise<RunFacts> {
  const given = context.every((item) => isNoteOf(toolSet, item)) ? trusted : labelOf(['*'], 'tenant');
  // The record of a run that goes on after its instance was lost is about its own answer.
  const others = known && resumed?.recovered ? chat.messages.slice(0, -1) : chat.messages;
  const isKnown = await areKnown(others, known, isStored);
  // A run that goes on in the middle has read what its record says, also before it has an answer.
  const answers = known ? parseLabel(known.read) : trusted;
  const read = [given, isKnown ? answers : join(answers, unlabelled), ...filesIn(chat.messages)];
  const isSame = resumed !== undefined || continues !== undefined;
  const said = chat.messages.findLast(({ role }) => role === 'user')?.parts ?? [];
  const facts = new RunFacts({
    read: read.reduce(join),
    asked: isKnown ? (known?.asked ?? []).map(([id, label]) => [id, parseLabel(label)]) : [],
    calls: isSame ? callsIn(chat.messages.at(-1), toolSet, known) : [],
    said: said.map((part) => part.type === 'text' ? part.text : '').join('\n'),
    onGrown,
  });
  if (!isKnown) facts.record(); // an instance that goes on cannot compare again
  return facts;
}

/** The calls that an answer shows: of those that a program has made, the record says what was there at its last growth. */
function callsIn(
  answer: UIMessage | undefined,
  { tools }: Resolution['toolSet'],
  known: ChatFacts | undefined,
): ReadonlyMap<string, number> {
  const shown = new Map<string, number>();
  for (const part of answer?.role === 'assistant' ? answer.parts : []) {
    if (!('toolCallId' in part) || part.state === 'approval-requested') continue;
    const name = part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length);
    const id = tools.find(({ definition }) => definition.name === name)?.definition.id ?? name;
    shown.set(id, (shown.get(id) ?? 0) + 1);
  }
  for (const [id, count] of known?.calls ?? []) shown.set(id, Math.max(count, shown.get(id) ?? 0));
  return shown;
}

/** Whether the record knows all answers. */
async function areKnown(
  messages: readonly UIMessage[],
  known: ChatFacts | undefined,
  isStored: boolean,
): Promise<boolean> {
  const compared = messages.filter(({ id, role }) => role !== 'user' && !(isStored && known?.messages.includes(id)));
  const digests = new Set(known?.digests);
  for (const { role, parts } of compared) {
    if (role !== 'assistant') return false;
    for (const part of parts) {
      for (const said of saidBy(part)) if (!digests.has(shortened(await sha256OfText(said)))) return false;
    }
  }
  return true;
}

/** Collects the digests of what an answer says to a model, from its chunks as clients receive them. */
export class SaidDigests {
  readonly #digests = new Set<string>();
  /** What is open, by the ids of its blocks. */
  readonly #open = { text: new Map<string, string>(), reasoning: new Map<string, string>() };

  /** @param messages What was said before the first chunk, as this runtime has recorded it. */
  constructor(messages: readonly UIMessage[]) {
    const parts = messages.flatMap(({ role, parts: own }) => role === 'user' ? [] : own);
    for (const said of parts.flatMap(saidBy)) this.#add(said);
  }

  add(chunk: UIMessageChunk): void {
    switch (chunk.type) {
      case 'text-delta':
      case 'reasoning-delta': {
        const open = chunk.type === 'text-delta' ? this.#open.text : this.#open.reasoning;
        return void open.set(chunk.id, (open.get(chunk.id) ?? '') + chunk.delta);
      }
      case 'text-end':
      case 'reasoning-end':
        return this.#end(chunk.type === 'text-end' ? 'text' : 'reasoning', chunk.id);
      case 'tool-input-available':
      case 'tool-input-error':
        this.#add(callOf(chunk.toolCallId, chunk.toolName, chunk.input));
        if (chunk.type === 'tool-input-error') this.#add(resultOf(chunk.toolCallId, chunk.errorText));
        return;
      case 'tool-output-available':
        return this.#add(resultOf(chunk.toolCallId, chunk.output));
      case 'tool-output-error':
        return this.#add(resultOf(chunk.toolCallId, chunk.errorText));
      case 'file':
      case 'reasoning-file':
      case 'custom':
      case 'steering-message':
        return saidBy(chunk).forEach((said) => this.#add(said)); // as the part that it makes
      default:
        if ('data' in chunk) saidBy(chunk).forEach((said) => this.#add(said));
    }
  }

  /** Those of the record, and these; an open text counts as far as it was said. */
  after(known: ChatFacts | undefined): readonly string[] {
    const open = (['text', 'reasoning'] as const).flatMap((type) =>
      [...this.#open[type].values()].map((text) => shortened(sha256Sync(`${type} ${text}`)))
    );
    return [...new Set([...known?.digests ?? [], ...this.#digests, ...open])].slice(-mostDigests);
  }

  #end(type: 'text' | 'reasoning', id: string): void {
    const text = this.#open[type].get(id);
    this.#open[type].delete(id);
    if (text) this.#add(`${type} ${text}`);
  }

  #add(said: string): void {
    this.#digests.add(shortened(sha256Sync(said)));
  }
}

/** 96 bits: no other text has the same. */
function shortened(digest: string): string {
  return digest.slice(0, 24);
}

/** What a part of an answer says to a model, without what a client may write otherwise; nothing for what no model receives. */
function saidBy(part: UIMessage['parts'][number]): readonly string[] {
  if (part.type === 'text' || part.type === 'reasoning') return part.text === '' ? [] : [`${part.type} ${part.text}`];
  if ('toolCallId' in part) {
    const { toolCallId, state } = part;
    const name = part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length);
    const call = callOf(toolCallId, name, part.input ?? ('rawInput' in part ? part.rawInput : undefined));
    if (state === 'output-available' && part.preliminary !== true) return [call, resultOf(toolCallId, part.output)];
    return state === 'output-error' ? [call, resultOf(toolCallId, part.errorText)] : [call];
  }
  if (part.type === 'step-start' || part.type.startsWith('source-')) return [];
  if ('data' in part) return readData.has(part.type) ? [canonicalJson([part.type, part.data])] : [];
  const { providerMetadata: _, ...rest } = part as typeof part & { readonly providerMetadata?: unknown };
  return [canonicalJson(rest)];
}

/** The data parts of an answer that models receive. */
const readData: ReadonlySet<string> = new Set(['data-context', 'data-compaction', 'data-edited-call', 'data-stall']);

function callOf(toolCallId: string, name: string, input: unknown): string {
  return `call ${canonicalJson([toolCallId, name, input])}`;
}

function resultOf(toolCallId: string, output: unknown): string {
  return `result ${canonicalJson([toolCallId, output])}`;
}

function filesIn(messages: readonly UIMessage[]): readonly Label[] {
  return messages.flatMap(({ role, parts }) =>
    role !== 'user' ? [] : parts.flatMap((part) => {
      if (part.type !== 'file') return [];
      const resource = resourceOf(part.url);
      return [labelOf([resource ? `mcp:${resource.server}` : `file:${quickHash(part.url).toString(36)}`], 'principal')];
    })
  );
}

/** Returns what is stored of a chat after a run, which writes the answer of this id. */
export function chatFactsOf(
  { read, calls, asked }: RunFacts,
  { messages, digests }: { readonly messages: readonly UIMessage[]; readonly digests: readonly string[] },
  answerId: string,
): ChatFacts {
  const ids = new Set([...messages.flatMap(({ id, role }) => role === 'user' ? [] : [id]), answerId]);
  return {
    read,
    calls: [...calls],
    ...(asked.size > 0 && { asked: [...asked] }),
    messages: [...ids].slice(-mostMessages),
    ...(digests.length > 0 && { digests }),
  };
}
