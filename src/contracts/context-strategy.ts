/** The port to an own way of fitting a chat into a model's context window. */

import type { LanguageModelV4Message } from '@ai-sdk/provider';

/** A message as the model would receive it. */
export interface ContextMessage {
  readonly message: LanguageModelV4Message;
  /** About how many tokens it takes. */
  readonly tokens: number;
  /** The id of the chat's message that it was made of; absent for one that the run has added. */
  readonly id?: string;
  /** Whether the client has set `metadata.pinned` at it, or it is context of the request. */
  readonly isPinned: boolean;
}

/** What the next call of a model would be sent. */
export interface ContextState {
  readonly agentId: string;
  readonly runId: string;
  /** Without the instructions of the agent, which are always sent. Results follow their calls. */
  readonly messages: readonly ContextMessage[];
  /** About how many tokens everything takes, with instructions and tools. */
  readonly tokens: number;
  /** How many tokens the model takes. */
  readonly contextTokens: number;
  /** Aborts with the run. */
  readonly signal: AbortSignal;
}

/**
 * Is asked before each call of a model. Returns the messages to send, or `undefined` to leave them. What is still longer than 80 % of
 * the context window is then trimmed as usual. A run fails as `internal` (reason `context_strategy`) when a strategy throws, returns a
 * system message, or separates a call from its result.
 */
export type ContextStrategy = (
  state: ContextState,
) => readonly LanguageModelV4Message[] | undefined | Promise<readonly LanguageModelV4Message[] | undefined>;
