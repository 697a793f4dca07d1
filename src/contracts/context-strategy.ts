/** The port for a custom strategy that fits a chat into a model's context window. */

import type { LanguageModelV4Message } from '@ai-sdk/provider';

/** A message as the model would receive it. */
export interface ContextMessage {
  readonly message: LanguageModelV4Message;
  /** About how many tokens it takes. */
  readonly tokens: number;
  /** The id of the chat message that it comes from; absent for a message that the run has added. */
  readonly id?: string;
  /** Whether the client has set its `metadata.pinned`, or it is context of the request. */
  readonly isPinned: boolean;
}

/** The input of the next step. */
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
 * Called before each step of a run. Returns the messages to send, or `undefined` to leave them unchanged. The runtime then trims
 * messages that still exceed 80 % of the context window, as without a strategy. A run fails as `internal` (reason `context_strategy`)
 * when a strategy throws, returns a system message, or separates a call from its result.
 */
export type ContextStrategy = (
  state: ContextState,
) => readonly LanguageModelV4Message[] | undefined | Promise<readonly LanguageModelV4Message[] | undefined>;
