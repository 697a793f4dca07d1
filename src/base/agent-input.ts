/** An agent's record as a developer writes it. A type that is inferred from a schema shows no comments in an editor; these do. */

import type { CallerSettings, ModelSettings, OutputSpec } from './model-settings.ts';

/** The name of a secret, never its value. */
export interface SecretRef {
  /** The name under which the composition's `secrets` find the value. */
  id: string;
  /** A version of the secret. Default: the current one. */
  version?: string | undefined;
}

/** Upper bounds of one run. They can only lower what the runtime allows. Whole numbers of at least 1; times in milliseconds. */
export interface LimitOverrides {
  /** Model calls of one run. The runtime's default: 16. */
  steps?: number | undefined;
  /** Tool calls of one run. The runtime's default: 64. */
  toolCalls?: number | undefined;
  /** The whole run. The runtime's default: 300,000 (5 minutes). */
  totalMs?: number | undefined;
  /** One step: the model call and its tool calls. The runtime's default: 240,000. */
  stepMs?: number | undefined;
  /** From the request to the first output of the model. The runtime's default: 120,000. */
  firstChunkMs?: number | undefined;
  /** Between two parts while the model reasons, and between its texts and calls. The runtime's default: 120,000. */
  reasoningMs?: number | undefined;
  /** Between two parts of a text or a tool input. The runtime's default: 60,000. */
  chunkMs?: number | undefined;
  /** One tool call. The runtime's default: 30,000. */
  toolMs?: number | undefined;
  /** Tokens that one model call may write. The runtime's default: no limit. */
  outputTokens?: number | undefined;
  /** Tool calls of the agent in a minute, over all its runs. The runtime's default: no limit. */
  callsPerMinute?: number | undefined;
  /** How often another instance continues a run whose own was lost; 0: never. The runtime's default: 8. */
  recoveries?: number | undefined;
}

/**
 * What of one MCP server an agent may use: the pinned tools that `allow` names, without those of `mask`. Prompts and resources are named
 * `prompt:<name>`, `resource:<uri>` and `template:<uri template>`.
 */
export interface McpSelection {
  /** Names of the server's tools, or prefixes with `*`. Default: everything that is pinned. */
  allow?: string[] | undefined;
  /** Names or prefixes of tools that are hidden from this agent, even if `allow` names them. Default: none. */
  mask?: string[] | undefined;
}

/** A model that takes over when those before it cannot answer. */
export interface Fallback {
  /** The id of its provider record. */
  providerId: string;
  /** The model. Default: the provider's own. */
  model?: string | undefined;
}

/** The fields that records and `defineAgent` share. */
export interface AgentFields {
  /** A name for people, up to 200 characters. */
  name: string;
  /** What the agent is, for people. The model does not receive it. Default: `''`. */
  role?: string | undefined;
  /** What the agent is for, for people and the search of the registry. The model does not receive it. Default: `''`. */
  description?: string | undefined;
  /** Semantic version, for people; `revision` counts the changes. Default: `'0.1.0'`. */
  version?: string | undefined;
  /** `internal`: not over HTTP, where it is `not_found`. `disabled`: no caller may run it. Default: `'public'`. */
  visibility?: 'public' | 'internal' | 'disabled' | undefined;
  /** `disabled`: the record stays, starts no runs (`forbidden`), and its open runs stop. Default: `'active'`. */
  state?: 'active' | 'disabled' | undefined;
  /** Words that lists filter by, up to 200. Default: `[]`. */
  tags?: string[] | undefined;
  /** The tools that it may call: ids, or prefixes with `*`, up to 1,000. Default: `[]`, no tools. */
  entryTools?: string[] | undefined;
  /** Another name of `entryTools`, by which the AI SDK and others know it. */
  tools?: string[] | undefined;
  /** Tools of MCP servers, by the id of the server's record. `{}` as a value selects all its pinned tools. Default: `{}`. */
  mcp?: Record<string, McpSelection> | undefined;
  /** The only secrets that its tools may use; `[]`: none. Default: those that each tool's definition names. */
  secrets?: SecretRef[] | undefined;
  /** The grounding sources that it may query, by id. Adds the tool `retrieve`. Default: `[]`. */
  dataSources?: string[] | undefined;
  /** The only origins that its tool calls may reach, up to 100: `https://api.example.com`, `https://*.example.com`. `[]`: none. Default: what each tool allows. */
  egress?: string[] | undefined;
  /** The id of the provider record that has its model. */
  providerId: string;
  /** The model. Default: the provider's own. */
  model?: string | undefined;
  /** Tokens that the model takes, prompt and answer together, at least 1,024. Can only lower the provider's. Default: the provider's. */
  contextTokens?: number | undefined;
  /** Up to four models that take over, in this order, before the first output of a step. `[]`: none. Default: `createRuntime({ fallbacks })`. */
  fallbacks?: Fallback[] | undefined;
  /** How the model is called: temperature, reasoning, `providerOptions` and others. Default: as the provider does. */
  modelSettings?: ModelSettings | undefined;
  /** What the `settings` of a request may set. Default: nothing. */
  callerSettings?: CallerSettings | undefined;
  /** What the model is told besides the chat, as data that stays in it. `date`: the day, in the time zone of the request. Default: none. */
  facts?: 'date'[] | undefined;
  /** Bounds of a run, below those of the runtime. `steps` and `totalMs` also bound each plan of the agent. Default: the runtime's. */
  limits?: LimitOverrides | undefined;
  /** Whether requests over HTTP may have it plan (`planner`). Code in the same process always may. Default: `false`. */
  plans?: boolean | undefined;
  /** What is done about texts of strangers: `watched` asks a person before a call that may act on them, `guarded` keeps them from the model that plans. Default: `'open'`, or the `trust` of `createRuntime`. */
  trust?: 'open' | 'watched' | 'guarded' | undefined;
  /** ISO 8601. A registry sets it. Default: 1970-01-01. */
  createdAt?: string | undefined;
  /** ISO 8601. A registry sets it. Default: 1970-01-01. */
  updatedAt?: string | undefined;
}

/** The fields of a record whose id a registry chooses. */
export interface AgentRegistration extends AgentFields {
  /** The tenant that the record belongs to. Default: all tenants share it. A registry sets it from the caller. */
  tenant?: string | undefined;
  /** The system prompt, up to 65,536 characters. Default: `''`. */
  instructions?: string | undefined;
  /** The JSON Schema of each run's last answer, unless the request says otherwise. Default: text. */
  output?: OutputSpec | undefined;
  /** Counts the changes. A registry sets it. Default: 1. */
  revision?: number | undefined;
}

/**
 * An agent's record: instructions, a model, and the allowlist of tools. Functions are for `defineAgent`.
 *
 * @example
 * const helper: AgentInput = {
 *   id: 'helper',
 *   name: 'Helper',
 *   providerId: 'main',
 *   instructions: 'Answer in one paragraph.',
 *   entryTools: ['add', 'mail_*'],
 * };
 */
export interface AgentInput extends AgentRegistration {
  /** What requests name as `agentId`: 1 to 128 letters, digits, `_`, `.` and `-`. */
  id: string;
}

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
  /** What is placed for its cache: `'marks'`, `'key'` or `'salt'` of an endpoint like OpenAI's, `'1h'` at Anthropic, `'off'`. Default: what its package is known to take. */
  cache?: 'off' | 'marks' | 'key' | 'salt' | '1h' | undefined;
  /** How models call what they have loaded: by the tool `tool_call`, or where Anthropic or OpenAI take definitions in the middle of a chat, `'native'`. Default: `'call'`. */
  toolLoading?: 'call' | 'native' | undefined;
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
