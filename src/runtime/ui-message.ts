/** The messages of Pinnace's agents, typed: their data parts and tools. */

import type { UIMessage } from '../contracts/ai-types.ts';
import type { ErrorData } from '../base/errors.ts';

/** The data parts of messages, by their names without `data-`. */
export interface PinnaceDataParts {
  /** A run of the message. A stored part has how the run ended; that it is running arrives at `onData` only. */
  readonly run: {
    readonly runId: string;
    readonly traceId: string;
    readonly state: 'running' | 'completed' | 'awaiting_approval' | 'suspended' | 'stopped' | 'cancelled' | 'failed';
    readonly error?: ErrorData;
  };
  /** The tools that the run had, and how many were excluded for which reason. `runtime.manifest` lists all. */
  readonly manifest: {
    readonly digest: string;
    /** The names of the first 64. */
    readonly included: readonly string[];
    /** How many tools the run had besides those named; absent when none. */
    readonly more?: number;
    readonly excluded: Readonly<Record<string, number>>;
  };
  /** The run that this one goes on from. `exact`: nothing was changed, and its model receives the very prompt of that one. */
  readonly fork: {
    readonly parent: string;
    readonly atStep: number;
    readonly chatId: string;
    readonly changed: readonly string[];
    readonly effects: 'dry' | 'live';
    readonly exact: boolean;
  };
  /** What the run has used. */
  readonly usage: {
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    readonly totalTokens?: number;
    readonly steps?: number;
    readonly toolCalls?: number;
    readonly durationMs?: number;
    readonly cost?: { readonly amount: number; readonly currency: string };
    readonly [name: string]: unknown;
  };
  /** The error of a tool call. */
  readonly 'tool-error': ErrorData & { readonly toolCallId: string; readonly tool: string; readonly attempt: number };
  /** What a tool has logged for people. */
  readonly 'tool-log': { readonly toolCallId: string; readonly level: string; readonly text: string };
  /** How far a tool is; arrives at `onData` only. `message` may be the words of an MCP server. */
  readonly 'tool-progress': {
    readonly toolCallId: string;
    readonly progress: number;
    readonly total?: number;
    readonly message?: string;
  };
  /** The app of an MCP server that shows the result of a call. */
  readonly 'mcp-app': {
    readonly toolCallId: string;
    readonly serverId: string;
    readonly uri: string;
    readonly sha256: string;
  };
  /** The plan that the run follows. */
  readonly plan: Readonly<Record<string, unknown>>;
  /** The sources that the answer cites. */
  readonly sources: unknown;
  /** The structured answer. */
  readonly output: unknown;
  /** The fallback that took over. */
  readonly model: { readonly providerId: string; readonly modelId: string };
  /** The model call is tried again, after a delay or by a fallback; arrives at `onData` only. The next chunk of the run ends it. */
  readonly retry: {
    /** The number of the try that follows, from 1. */
    readonly attempt: number;
    /** The most tries of this model. */
    readonly of: number;
    readonly delayMs: number;
    /** When the try is made, in milliseconds since 1970 by the clock of the runtime. */
    readonly retryAt: number;
    /** The model that is tried. */
    readonly providerId: string;
    readonly modelId: string;
    /** It takes over from a model that failed. */
    readonly isFallback?: boolean;
    /** Why the last try failed: the code of an error, and its `details.reason`. */
    readonly code: string;
    readonly reason?: string;
  };
  /** What earlier messages were summarized to. */
  readonly compaction: Readonly<Record<string, unknown>>;
  /** Where a file of the user's message was stored: `part` is its place among the parts of `messageId`. */
  readonly attachment: {
    readonly messageId: string;
    readonly part: number;
    readonly url: string;
    readonly mediaType: string;
    readonly size: number;
  };
  /** A message that the run ended without. */
  readonly steering: Readonly<Record<string, unknown>>;
}

/**
 * A message with typed data and tool parts, for `useChat<PinnaceUIMessage>()`.
 *
 * @example
 * const { messages } = useChat<PinnaceUIMessage<ToolsOf<typeof tools>>>({ transport });
 */
export type PinnaceUIMessage<
  Tools extends Record<string, { input: unknown; output: unknown }> = Record<
    string,
    { input: unknown; output: unknown }
  >,
  Metadata = unknown,
> = UIMessage<Metadata, { [Name in keyof PinnaceDataParts]: PinnaceDataParts[Name] }, Tools>;
