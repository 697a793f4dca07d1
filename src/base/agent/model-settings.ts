/** The settings of an agent's model calls, as data. */

import * as v from 'valibot';
import { positive, ToolName } from '../record-fields.ts';

/** Headers that the connection sets. */
const connectionHeaders =
  /^(?:host|connection|content-.*|accept-encoding|expect|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*|sec-.*)$/i;

/** Headers that hold a credential, such as `authorization`, `cookie`, `x-api-key` or `x-goog-api-key`. */
const credentialHeaders = /auth(?!or(?!iz))|cookie|token|secret|passw|credential|key$/i;
const credentialValue = /^(?:bearer|basic|digest)\s/i;
const credentialText = 'must not be a credential: name it in the "secret" of the provider, which sends it';

const HeaderName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be the name of a header'),
  v.check((name) => !connectionHeaders.test(name), 'must not be set by a record: the connection sets it'),
  v.check((name) => !credentialHeaders.test(name), credentialText),
);

const HeaderValue = v.pipe(
  v.string(),
  v.maxLength(1024),
  v.regex(/^[\x20-\x7e]*$/, 'must be printable ASCII on one line'),
  v.check((value) => !credentialValue.test(value), credentialText),
);

/** The longest `providerOptions`, as JSON. */
const mostOptions = 65_536;

/** By the name of the provider in the AI SDK, as `{ openai: { serviceTier: 'flex' } }`. */
const ProviderOptions = v.pipe(
  v.record(
    v.pipe(v.string(), v.regex(/^[\w.-]{1,64}$/, 'must be the name of a provider')),
    v.record(v.string(), v.unknown()),
  ),
  v.check((options) => JSON.stringify(options).length <= mostOptions, `must be at most ${mostOptions} long as JSON`),
);

/** Randomness. */
export const Temperature = v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(2)));

/** Nucleus sampling. */
export const TopP = v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1)));

const penalty = v.optional(v.pipe(v.number(), v.minValue(-2), v.maxValue(2)));

/** Which tool the model must call in the first step of a run. */
export const ToolChoice = v.union([
  v.picklist(['auto', 'none', 'required']),
  v.strictObject({ type: v.literal('tool'), toolName: ToolName }),
]);
export type ToolChoice = 'auto' | 'none' | 'required' | { type: 'tool'; toolName: string };

/** The call settings of the AI SDK. A provider ignores those that it does not know. */
export const ModelSettings = v.strictObject({
  temperature: Temperature,
  topP: TopP,
  topK: positive,
  maxOutputTokens: positive,
  presencePenalty: penalty,
  frequencyPenalty: penalty,
  stopSequences: v.optional(v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(256))), v.maxLength(16))),
  seed: v.optional(v.pipe(v.number(), v.integer())),
  reasoning: v.optional(
    v.picklist(['provider-default', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']),
  ),
  toolChoice: v.optional(ToolChoice),
  providerOptions: v.optional(ProviderOptions),
  headers: v.optional(v.pipe(v.record(HeaderName, HeaderValue), v.maxEntries(32))),
});

/** The call settings of the AI SDK. A provider ignores those that it does not know. */
export interface ModelSettings {
  /** Randomness, 0 to 2. */
  temperature?: number | undefined;
  /** Nucleus sampling, 0 to 1. */
  topP?: number | undefined;
  /** Sampling from the K most probable tokens. */
  topK?: number | undefined;
  /** Tokens that one model call may write; `limits.outputTokens` can lower it. */
  maxOutputTokens?: number | undefined;
  /** Discourages repeated topics, -2 to 2. */
  presencePenalty?: number | undefined;
  /** Discourages repeated words, -2 to 2. */
  frequencyPenalty?: number | undefined;
  /** Texts that end the answer, up to 16. */
  stopSequences?: string[] | undefined;
  /** Makes sampling repeatable where the provider can. */
  seed?: number | undefined;
  /** The reasoning effort. Models of specification v4 alone know it. Default: the provider's. */
  reasoning?: 'provider-default' | 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | undefined;
  /** Which tool the first step of an answer must call. Default: `'auto'`. */
  toolChoice?: ToolChoice | undefined;
  /** Options of one vendor, by the provider's name in the AI SDK: `{ openai: { serviceTier: 'flex' } }`. */
  providerOptions?: Record<string, Record<string, unknown>> | undefined;
  /** HTTP headers of each model call, up to 32. Credentials are refused: name them in the provider's `secret`. */
  headers?: Record<string, string> | undefined;
}
