/**
 * The provider metadata that the runs of a chat have issued: signatures of thoughts and calls, which a model needs back to continue.
 * It is read from the log, never from the client.
 */

import type { LanguageModelV4Message, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { quickHash } from '../base/hash.ts';
import type { UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';
import type { Storage } from '../contracts/storage.ts';
import type { OwnedRecord } from '../permission/ownership.ts';
import { readMessageLog } from './stored-run.ts';

/** The metadata, to be handed out once for each part that it was issued for. */
export interface IssuedMetadata {
  /** Returns the fields that a part of this message had when it was issued; `undefined` for a part that was not. */
  take(part: UIMessage['parts'][number], messageId: string): Readonly<Record<string, unknown>> | undefined;
}

/** Whose metadata it is. */
interface IssuedTo {
  readonly owner: OwnedRecord;
  readonly agentId: string;
  readonly chatId: string;
  /** The last of the runs that made the message which is continued. */
  readonly runId: string;
}

/** Reads what these runs have issued. Runs of another person, chat or agent issue nothing. */
export async function readIssued(storage: Storage, to: IssuedTo): Promise<IssuedMetadata> {
  return issuedIn((await readMessageLog(to, storage)).map(({ chunk }) => chunk));
}

type Fields = Readonly<Record<string, unknown>>;

/** A call that its provider has asked about, and what it is answered. */
export interface AnsweredCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly providerApprovalId: string;
  readonly approved: boolean;
  readonly reason?: string | undefined;
}

/** What a part of such a call goes back with. */
export function answeredFields({ providerApprovalId, approved, reason }: AnsweredCall): Fields {
  const approval = { approved, ...(reason !== undefined && { reason }) };
  return { providerExecuted: true, callProviderMetadata: askedOptions(providerApprovalId), approval };
}

/** Hands out the same, and of calls that are answered now that their result follows. */
export function issuedWithAnswers(
  issued: IssuedMetadata | undefined,
  answered: readonly AnsweredCall[],
): IssuedMetadata | undefined {
  if (answered.length === 0) return issued;
  return {
    take(part, messageId) {
      const fields = issued?.take(part, messageId);
      const answer = 'toolCallId' in part && answered.find(({ toolCallId }) => toolCallId === part.toolCallId);
      return answer ? { ...fields, ...answeredFields(answer), state: 'approval-responded' } : fields;
    },
  };
}

/** What the model of one answer has issued, in the record of its chat. */
export interface IssuedEntry {
  /** The message that the run has made: the run names it, no client. */
  readonly messageId: string;
  readonly agentId: string;
  /** Its provider and model: no other one takes it. */
  readonly model: string;
  readonly calls: Readonly<Record<string, Fields>>;
  /** By the hashes of what was said, in order. */
  readonly said: readonly (readonly [said: number, fields: Fields])[];
}

/**
 * What the model of a call gets back that its provider has asked about: by the id of the question the package of OpenAI knows which call
 * a result is of. Not itself a decision.
 */
export function askedOptions(
  approvalRequestId: string,
  options: SharedV4ProviderMetadata = {},
): SharedV4ProviderMetadata {
  return { ...options, openai: { ...options['openai'], approvalRequestId } };
}

/** Collects the metadata of an answer by the parts that a client makes of it; `undefined` where there is none. */
export function issuedWith({ content }: LanguageModelV4Message): Pick<IssuedEntry, 'calls' | 'said'> | undefined {
  const calls: Record<string, Fields> = {};
  const said: [number, Fields][] = [];
  for (const part of typeof content === 'string' ? [] : content) {
    const providerMetadata = 'providerOptions' in part ? part.providerOptions : undefined;
    const isExecuted = part.type === 'tool-call' && part.providerExecuted === true; // by the provider: also without metadata
    if (providerMetadata === undefined && !isExecuted) continue;
    if (part.type === 'tool-call') {
      const fields = { callProviderMetadata: providerMetadata, providerExecuted: part.providerExecuted };
      calls[part.toolCallId] = { ...calls[part.toolCallId], ...defined(fields) };
    } else if (part.type === 'tool-result') {
      calls[part.toolCallId] = { ...calls[part.toolCallId], resultProviderMetadata: providerMetadata };
    } else if (part.type === 'text' || part.type === 'reasoning') {
      said.push([quickHash(`${part.type}\n${part.text}`), { providerMetadata }]);
    } else if (part.type === 'custom') said.push([quickHash(`custom\n${part.kind}`), { providerMetadata }]);
  }
  return said.length > 0 || Object.keys(calls).length > 0 ? { calls, said } : undefined;
}

/** Hands out what an agent and a model have issued in a chat, and for other messages what `others` has. */
export function issuedFrom(
  entries: readonly IssuedEntry[],
  { agentId, model }: Pick<IssuedEntry, 'agentId' | 'model'>,
  others?: IssuedMetadata,
): IssuedMetadata | undefined {
  const own = entries.filter((entry) => entry.agentId === agentId && entry.model === model);
  if (own.length === 0) return others;
  const left = new Map<string, IssuedEntry['said'][number][]>();
  for (const { messageId, said } of own) left.set(messageId, [...left.get(messageId) ?? [], ...said]);
  return {
    take(part, messageId) {
      const said = left.get(messageId);
      if (!said) return others?.take(part, messageId);
      if ('toolCallId' in part) {
        const { toolCallId } = part;
        const ofCall = own.filter((entry) => entry.messageId === messageId && Object.hasOwn(entry.calls, toolCallId));
        return ofCall.length === 0 ? undefined : Object.assign({}, ...ofCall.map(({ calls }) => calls[toolCallId]));
      }
      const hash = quickHash(keyOf(part));
      const at = said.findIndex(([one]) => one === hash);
      return at < 0 ? undefined : said.splice(at, 1)[0]?.[1];
    },
  };
}

/** Of other messages than this one, nothing. */
export function issuedOnly(messageId: string, issued: IssuedMetadata): IssuedMetadata {
  return { take: (part, id) => id === messageId ? issued.take(part, id) : undefined };
}

/** Collects the metadata of these chunks by the parts that a client makes of them. */
export function issuedIn(chunks: readonly UIMessageChunk[]): IssuedMetadata {
  const blocks = new Map<string, { text: string; metadata: unknown }>();
  const calls = new Map<string, Fields>();
  const said = new Map<string, Fields[]>();
  const add = (type: string, content: string, providerMetadata: unknown): void => {
    const key = `${type}\n${content}`;
    said.set(key, [...said.get(key) ?? [], defined({ providerMetadata })]);
  };
  const addCall = (toolCallId: string, fields: Fields): void => {
    calls.set(toolCallId, { ...calls.get(toolCallId), ...defined(fields) });
  };
  let isOther = false;
  for (const chunk of chunks) {
    if (chunk.type === 'start') isOther = false;
    if (chunk.type === 'data-model') isOther = true; // a fallback answers: the next run starts with the first model again
    if (isOther) continue;
    switch (chunk.type) {
      case 'text-start':
      case 'reasoning-start':
        blocks.set(blockKey(chunk), { text: '', metadata: chunk.providerMetadata });
        break;
      case 'text-delta':
      case 'reasoning-delta':
      case 'text-end':
      case 'reasoning-end': {
        const block = blocks.get(blockKey(chunk));
        if (!block) break;
        if ('delta' in chunk) block.text += chunk.delta;
        block.metadata = chunk.providerMetadata ?? block.metadata;
        if (chunk.type.endsWith('-end')) add(typeOf(chunk), block.text, block.metadata);
        break;
      }
      case 'file':
      case 'reasoning-file':
        add(chunk.type, chunk.url, chunk.providerMetadata);
        break;
      case 'custom':
        add(chunk.type, chunk.kind, chunk.providerMetadata);
        break;
      case 'tool-input-available':
      case 'tool-input-error': {
        const { toolCallId, providerExecuted, providerMetadata: callProviderMetadata } = chunk;
        addCall(toolCallId, { callProviderMetadata, providerExecuted });
        break;
      }
      case 'tool-output-available':
      case 'tool-output-error':
        addCall(chunk.toolCallId, { resultProviderMetadata: chunk.providerMetadata });
        break;
      default: // has no metadata that a model gets back
    }
  }
  return {
    take: (part) => 'toolCallId' in part ? calls.get(part.toolCallId) : said.get(keyOf(part))?.shift(),
  };
}

function keyOf(part: UIMessage['parts'][number]): string {
  const content = 'text' in part ? part.text : 'url' in part ? part.url : 'kind' in part ? part.kind : '';
  return `${part.type}\n${content}`;
}

function blockKey(chunk: { readonly type: string; readonly id: string }): string {
  return `${typeOf(chunk)}\n${chunk.id}`;
}

function typeOf({ type }: { readonly type: string }): string {
  return type.slice(0, type.indexOf('-'));
}

function defined(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
