/** Says in errors what a field is called here that other libraries call otherwise. */

import * as v from 'valibot';
import { JsonSchema, positive, ToolName } from './record-fields.ts';

/** Returns the messages of an object's schema: for a field that is unknown or missing, what to use by `advice`. */
export function otherNames(
  advice: Readonly<Record<string, string>>,
): (issue: v.StrictObjectIssue | v.LooseObjectIssue) => string {
  return ({ expected, path }) => {
    const name = String(path?.at(-1)?.key);
    const isUnknown = expected === 'never';
    if (!Object.hasOwn(advice, name) || (!isUnknown && expected !== `"${name}"`)) return ''; // the usual text
    return `is ${isUnknown ? 'not known here' : 'missing'}; use ${advice[name]}`;
  };
}

/** The answer as data. That `schema` is a JSON Schema is checked by `requireSchema`. */
export const OutputSpec = v.strictObject({
  schema: JsonSchema,
  name: v.optional(v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, "_" or "-"'))),
  description: v.optional(v.pipe(v.string(), v.maxLength(4096))),
}, /* @__PURE__ */ otherNames({ schema: '{ schema }, with a JSON Schema' }));

/** What the model receives about an answer besides its schema. */
export interface OutputLabel {
  /** A name for the model: 1 to 64 letters, digits, `_` and `-`. */
  name?: string | undefined;
  /** Tells the model what the answer is for, up to 4,096 characters. */
  description?: string | undefined;
}

/** What the last answer of a run must be: JSON that fits a schema. */
export interface OutputSpec extends OutputLabel {
  /** A JSON Schema. */
  schema: JsonSchema;
}

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
const Temperature = v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(2)));

/** Nucleus sampling. */
const TopP = v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1)));

const penalty = v.optional(v.pipe(v.number(), v.minValue(-2), v.maxValue(2)));

/** Which tool the model must call in the first step of a run. */
const ToolChoice = v.union([
  v.picklist(['auto', 'none', 'required']),
  v.strictObject({ type: v.literal('tool'), toolName: ToolName }),
]);
type ToolChoice = 'auto' | 'none' | 'required' | { type: 'tool'; toolName: string };

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

const Model = v.pipe(v.string(), v.minLength(1), v.maxLength(256));

/** The settings of one run. */
export const RunSettings = v.strictObject({
  instructions: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(16_384))),
  temperature: Temperature,
  topP: TopP,
  model: v.optional(Model),
});

/** The settings of one run. */
export interface RunSettings {
  /** Instructions for this run, after those of the agent, up to 16,384 characters. */
  instructions?: string | undefined;
  /** Randomness, 0 to 2, in place of the agent's. */
  temperature?: number | undefined;
  /** Nucleus sampling, 0 to 1, in place of the agent's. */
  topP?: number | undefined;
  /** Another model of the agent's provider. */
  model?: string | undefined;
}

/** The settings that callers may set. */
export const CallerSettings = v.strictObject({
  instructions: v.optional(v.boolean()),
  sampling: v.optional(v.boolean()),
  models: v.optional(v.pipe(v.array(Model), v.maxLength(100))),
});

/** The settings that callers may set. Callers who may write the record may set all. */
export interface CallerSettings {
  /** Whether a request may add instructions behind those of the agent. Default: no. */
  instructions?: boolean | undefined;
  /** Whether a request may set `temperature` and `topP`. Default: no. */
  sampling?: boolean | undefined;
  /** The models of the agent's provider that a request may choose. Its `prices` apply to them too. Default: none. */
  models?: string[] | undefined;
}

/** A schema with a check, and with types for the compiler. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Shows the schema as JSON Schema (Standard JSON Schema 1); newer libraries have it. */
    readonly jsonSchema?: {
      readonly input: ToJsonSchema;
      readonly output: ToJsonSchema;
    } | undefined;
  };
}

type ToJsonSchema = (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;

/** What a check returns. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One thing that is wrong with a value. */
interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
  readonly keys?: readonly PropertyKey[] | undefined;
}
