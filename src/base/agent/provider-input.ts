/** A provider's record as a developer writes it, with comments that an editor shows. */

import type { SecretRef } from './agent-input.ts';

/** Prices for a million tokens. Pinnace does not bill; it shows costs, and budgets need them. */
export interface Prices {
  /** Input tokens. */
  input?: number | undefined;
  /** Output tokens, reasoning included. */
  output?: number | undefined;
  /** Input that the provider reads from its cache. Default: `input`. */
  cachedInput?: number | undefined;
  /** Input that the provider writes to its cache. Default: `input`. */
  cacheWrite?: number | undefined;
  /** ISO 4217, such as `'EUR'`. */
  currency?: string | undefined;
}

/** The fields of a record whose id a registry chooses. */
export interface ProviderRegistration {
  /** The tenant that the record belongs to. Default: all tenants share it. A registry sets it from the caller. */
  tenant?: string | undefined;
  /** `openai-compatible`: a server at `baseUrl`. `custom`: a model of the AI SDK, from `modelSource({ custom })`. `rehearsal`: a scripted model. */
  kind: 'openai-compatible' | 'rehearsal' | 'custom';
  /** Semantic version, for people. Default: `'0.1.0'`. */
  version?: string | undefined;
  /** `disabled`: runs of its agents are `forbidden`. Default: `'active'`. */
  state?: 'active' | 'disabled' | undefined;
  /** The API's address, such as `'https://api.example.com/v1'`. Kind `openai-compatible` needs it. */
  baseUrl?: string | undefined;
  /** The model where the agent names none. */
  model?: string | undefined;
  /** Tokens that the model takes, prompt and answer together, at least 1,024. Default: 128,000. */
  contextTokens?: number | undefined;
  /** The name of the API key. Only the provider's own origin receives the value. Default: no key. */
  secret?: SecretRef | undefined;
  /** Its models take a JSON Schema for their answer. Default: `false`, the schema is part of the instructions. */
  jsonSchema?: boolean | undefined;
  /** Parameters that the server does not take, such as `['stream_options']`. Default: learned from its refusals. */
  unsupportedParameters?: string[] | undefined;
  /** Prices for a million tokens. Default: unknown, and a run has no costs. */
  prices?: Prices | undefined;
  /** What its models take besides text; `[]`: text alone. Default: unknown, and every file is sent. */
  inputs?: ('image' | 'pdf' | 'audio')[] | undefined;
  /** Results of tools may hold files. Default: `false`, they follow in a message of the user. */
  toolContent?: boolean | undefined;
  /** Counts the changes. A registry sets it. Default: 1. */
  revision?: number | undefined;
}

/**
 * A provider's record: where models are, and what they take.
 *
 * @example
 * const local: ProviderInput = { id: 'local', kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', model: 'qwen3' };
 */
export interface ProviderInput extends ProviderRegistration {
  /** What agents name as `providerId`: 1 to 128 letters, digits, `_`, `.` and `-`. */
  id: string;
}
