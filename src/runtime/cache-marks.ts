/**
 * Marks and keys of the caches of providers, placed on a copy at the last moment: they are never stored, never hashed, and never make a
 * block. What a provider takes stands in one table; what is unknown gets nothing. A provider that refuses them is called without.
 */

import type { LanguageModelV4CallOptions, LanguageModelV4Message } from '@ai-sdk/provider';
import { sha256Sync } from '../base/hash.ts';
import { isRecord } from '../base/is-record.ts';
import type { Provider } from '../base/schema.ts';
import { promptTokens, valueTokens } from './estimate-prompt.ts';

/** Whose chat it is. A key has no name of a person in it. */
interface CachedChat {
  readonly tenant: string;
  readonly agentId: string;
  readonly chatId: string;
}

type Request = LanguageModelV4CallOptions;
type Options = NonNullable<Request['providerOptions']>;

/** What a provider takes. */
interface CacheForm {
  /** The options of a message that ends a cached beginning. */
  readonly mark?: Options;
  /** Those of the message that ends the instructions, where all other places are the provider's own. */
  readonly first?: Options;
  /** The options of a call that name the chat, or the tenant. */
  readonly key?: (key: string, salt: string) => Options;
}

/** No provider caches a shorter prompt. */
const leastTokens = 1_024;

/** The providers whose records refuse what was placed. */
const refusing = new WeakSet<Provider>();

/** The form of a provider: by its record, and by what its package calls itself. */
function formOf({ cache }: Provider, { provider, modelId }: MarkOptions['model']): CacheForm | undefined {
  if (cache === 'off') return undefined;
  const name = provider.split('.', 1)[0] ?? '';
  const inBody = (fields: Options[string]): Options => ({ [name]: fields, openaiCompatible: fields });
  if (cache === 'marks') return { mark: { openaiCompatible: { cache_control: { type: 'ephemeral' } } } };
  if (cache === 'key') return { key: (key) => inBody({ prompt_cache_key: key }) };
  if (cache === 'salt') return { key: (_, salt) => inBody({ cache_salt: salt }) };
  if (/(?:^|\.)anthropic(?:\.|$)/.test(provider)) {
    return { mark: { anthropic: { cacheControl: { type: 'ephemeral', ...(cache === '1h' && { ttl: '1h' }) } } } };
  }
  if (name === 'amazon-bedrock') return { mark: { bedrock: { cachePoint: { type: 'default' } } } };
  if (name !== 'openai') return undefined;
  return {
    key: (promptCacheKey) => ({ openai: { promptCacheKey } }),
    ...(/^gpt-(?:5\.(?:[6-9]|\d\d)|[6-9])/.test(modelId) && {
      first: { openai: { promptCacheBreakpoint: { mode: 'explicit' } } },
    }),
  };
}

/** What the marks of a call are placed by. */
export interface MarkOptions {
  readonly provider: Provider;
  readonly model: { readonly provider: string; readonly modelId: string };
  /** How many messages of the call before are the beginning of this one. */
  readonly shared: number;
}

/** Creates the function that places marks and keys in the calls of a chat; it returns `undefined` where there is nothing to place. */
export function createCacheMarks(chat: CachedChat): (request: Request, options: MarkOptions) => Request | undefined {
  const digests = new Map<string, string>();
  const digestOf = (...of: readonly string[]): string => {
    const text = JSON.stringify(of);
    const digest = digests.get(text) ?? sha256Sync(text).slice(0, 32);
    digests.set(text, digest);
    return digest;
  };
  return (request, { provider, model, shared }) => {
    const form = refusing.has(provider) ? undefined : formOf(provider, model);
    if (!form || isMarked(request) || tokensOf(request) < leastTokens) return undefined;
    const { tenant, agentId, chatId } = chat;
    const key = form.key?.(digestOf(tenant, agentId, chatId), digestOf(tenant));
    const keyed = key ? { ...request, providerOptions: merged(key, request.providerOptions) } : request;
    const { mark, first } = form;
    if (mark) return { ...keyed, prompt: withMarks(keyed.prompt, { mark, shared }) };
    return first ? { ...keyed, prompt: withFirst(keyed.prompt, first) } : keyed;
  };
}

/** A mark that the agent's settings set goes first. */
function isMarked({ providerOptions }: Request): boolean {
  return Object.values(providerOptions ?? {}).some((own) =>
    ['cacheControl', 'cache_control', 'cachePoint', 'promptCacheKey', 'prompt_cache_key', 'cache_salt'].some((name) =>
      name in own
    )
  );
}

function tokensOf({ prompt, tools = [] }: Request): number {
  return promptTokens(prompt) + (tools.length > 0 ? valueTokens(tools) : 0);
}

/** Three of four: the end of the instructions, of the call before, and of this one. A long life stands before short ones. */
function withMarks(
  prompt: Request['prompt'],
  { mark, shared }: { readonly mark: Options; readonly shared: number },
): Request['prompt'] {
  const instructions = prompt.findIndex(({ role }) => role !== 'system') - 1;
  // Definitions of tools in the middle have no text that could be marked.
  const markable = (at: number): number => prompt.slice(0, at + 1).findLastIndex(({ content }) => content !== '');
  const places = new Set([instructions, markable(shared - 1), markable(prompt.length - 1)]);
  const isFirst = (at: number): boolean => at === Math.min(...[...places].filter((place) => place >= 0));
  return prompt.map((message, at): LanguageModelV4Message =>
    places.has(at)
      ? { ...message, providerOptions: merged(isFirst(at) ? mark : shortLived(mark), message.providerOptions) }
      : message
  );
}

function withFirst(prompt: Request['prompt'], mark: Options): Request['prompt'] {
  const instructions = prompt.findIndex(({ role }) => role !== 'system') - 1;
  return prompt.map((message, at) =>
    at === instructions ? { ...message, providerOptions: merged(mark, message.providerOptions) } : message
  );
}

function shortLived(mark: Options): Options {
  return mark['anthropic'] ? { anthropic: { cacheControl: { type: 'ephemeral' } } } : mark;
}

function merged(ours: Options, theirs: Options | undefined): Options {
  if (!theirs) return ours;
  const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])];
  return Object.fromEntries(names.map((name) => [name, { ...ours[name], ...theirs[name] }]));
}

/** What an error of the AI SDK may have. */
interface ApiError {
  readonly statusCode?: unknown;
  readonly responseBody?: unknown;
}

/** Whether an error refuses what was placed. Then its provider is remembered, and called without. */
export function refusesMarks(thrown: unknown, provider: Provider): boolean {
  const { statusCode, responseBody } = isRecord(thrown) || thrown instanceof Error ? thrown as ApiError : {}; // read with care
  const text = `${String(responseBody)} ${thrown instanceof Error ? thrown.message : ''}`;
  const isRefusal = (statusCode === 400 || statusCode === 422) &&
    /cache[_ -]?(?:control|point|key|salt)|prompt[_ ]?cache/i.test(text);
  if (isRefusal) refusing.add(provider);
  return isRefusal;
}
