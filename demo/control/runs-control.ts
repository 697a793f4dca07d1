/** The worker's interface for runs: events, tools, and prompts as sent to the models. */

import type { ErrorData } from '../../src/base/errors.ts';
import type { UIMessage } from '../../src/contracts/ai-types.ts';
import type { EventStatus, ObservedEvent } from '../../src/contracts/event-sink.ts';
import type { ForkEntry } from '../../src/runtime/runtime.ts';

/** A run in the list. Times in milliseconds since 1970. */
export interface RunHead {
  /** Names the run here: all that happens in a run has its trace id. */
  readonly traceId: string;
  readonly runId: string;
  readonly agentId: string;
  readonly planId?: string | undefined;
  readonly forkOf?: string | undefined;
  /** The user's message that started it; absent where it is not known. */
  readonly question?: string | undefined;
  readonly startedAt: number;
  /** `pending`: it is running, or its end was never emitted. */
  readonly status: EventStatus;
  /** How its last end was: `completed`, `awaiting_approval`, `suspended`, `stopped`, `cancelled`, `failed` or `interrupted`. */
  readonly end?: string | undefined;
  /** Its worker ended before it did. */
  readonly isInterrupted?: boolean | undefined;
  /** Absent as long as the run has not ended. */
  readonly durationMs?: number | undefined;
  /** How many events were stored, and how many came after the limit. */
  readonly events: number;
  readonly dropped: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
  readonly tokens: number;
  /** How many actions failed or were denied. */
  readonly failures: number;
}

/** The tool set of a run, and for each other tool the one reason why not. */
export interface RunTools {
  readonly digest: string;
  readonly tools: readonly { readonly id: string; readonly excluded?: string | undefined }[];
}

/** Everything stored of a run. */
export interface RunRecord {
  readonly head: RunHead;
  /** In the order in which they happened. */
  readonly events: readonly ObservedEvent[];
  readonly tools?: RunTools | undefined;
  /** Some of its events could not be had. */
  readonly isPartial?: true | undefined;
}

/** A piece of a message to a model. */
export type PromptPart =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | { readonly type: 'call'; readonly tool: string; readonly toolCallId: string; readonly input: unknown }
  | { readonly type: 'result'; readonly tool: string; readonly toolCallId: string; readonly output: unknown }
  /** Files are named, not held. */
  | { readonly type: 'file'; readonly mediaType: string }
  | { readonly type: 'other'; readonly value: unknown };

export interface PromptMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly parts: readonly PromptPart[];
}

/** What one call of a model was given. */
export interface Prompt {
  readonly spanId: string;
  readonly model: string;
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly { readonly name: string; readonly description: string; readonly input: unknown }[];
  /** What else the call says, such as the temperature. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** What the provider said when it refused the call. */
  readonly said?: string | undefined;
}

/** What a run was started from, and its forks. */
export interface RunInputs {
  readonly instructions: string;
  readonly providerId: string;
  readonly model?: string | undefined;
  /** The latest message of the user. */
  readonly message?: UIMessage | undefined;
  readonly forks: readonly ForkEntry[];
}

/** The runs that there are, the latest first. */
export interface RunList {
  readonly runs: readonly RunHead[];
  /** Whether they outlive the page. */
  readonly isStored: boolean;
}

/** What has happened in a run since. */
export interface RunNews {
  readonly head: RunHead;
  /** The place of the first of `events` among those of the run. */
  readonly from: number;
  readonly events: readonly ObservedEvent[];
  /** Present once it is known. */
  readonly tools?: RunTools | undefined;
}

/** The value or the error. Errors cross as data: comlink would drop their codes. */
export type Found<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: ErrorData };

/** The runs of this page's worker, called over comlink. */
export interface InspectorControl {
  list(): Promise<RunList>;
  run(traceId: string): Promise<Found<RunRecord>>;
  /** The prompts of a run; none for a run from before this page: they are held in memory alone. */
  prompts(traceId: string): Promise<readonly Prompt[]>;
  /** What the provider said when it refused the last call of a run, without keys; `undefined` where it said nothing. */
  said(traceId: string): Promise<string | undefined>;
  /** What a run was started from. */
  inputs(runId: string): Promise<Found<RunInputs>>;
  /** From now on `onNews` receives news a few times a second. */
  watch(onNews: (news: RunNews) => void): Promise<void>;
  /** Forgets every run, those that are going on too. */
  erase(): Promise<Found<void>>;
}
