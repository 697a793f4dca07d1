/** What the loop of a run needs, and what it counts. */

import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import type { Agent } from '../base/schema.ts';
import type { ModelMessage, UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';
import type { Report } from '../events/report.ts';
import type { RunCalls } from '../tools/run-calls.ts';
import type { Tool } from '../tools/tool.ts';
import type { ContextWindow } from './context-window.ts';
import type { ModelBudget, Usage } from './model-budget.ts';
import type { ModelChain } from './model-chain.ts';
import type { ModelRetry } from './model-error.ts';
import type { ResumedRun } from './forks/resumed-run.ts';
import type { Limits } from './limits.ts';
import type { LoopSpans } from './run-spans.ts';
import type { Answer } from './step-content.ts';
import type { Steering } from './steering.ts';
import type { StepTools } from './step-tools.ts';
import type { Issue } from '../base/parse.ts';
import type { RunFiles } from './message-files.ts';

/** What the loop needs. */
export interface LoopOptions {
  readonly agent: Agent;
  /** The model that answers, and its fallbacks. */
  readonly models: ModelChain;
  /** Observes steps, model calls and their times. */
  readonly spans: LoopSpans;
  readonly messages: readonly ModelMessage[];
  /** The messages of the chat, which may have more calls than `messages`. */
  readonly chat?: readonly UIMessage[];
  /** The ids of calls in messages of the chat that a summary covers. */
  readonly otherCallIds?: readonly string[] | undefined;
  readonly tools: StepTools;
  /** All tools of the run, to count what discovery saves. */
  readonly allTools: readonly Tool[];
  /** Keeps the prompt short enough for the model. */
  readonly contextWindow: ContextWindow;
  readonly limits: Limits;
  /** What the run may use, and counts what it uses: every call of a model goes through it. */
  readonly budget: ModelBudget;
  readonly signal: AbortSignal;
  readonly traceId: string;
  /** The run whose message this one continues: its first step has been made. */
  readonly continues?: string | undefined;
  /** Where the loop goes on after earlier steps; from the first step when absent. */
  readonly resumed?: Pick<ResumedRun, 'step' | 'shownIds'> | undefined;
  /** What the last answer must be; absent, any text. */
  readonly output?: RunOutput | undefined;
  /** Whether the run ends after a step that another one would follow. */
  readonly isEnough?:
    | ((answer: Answer<Tool>, results: readonly LanguageModelV4ToolResultPart[]) => boolean)
    | undefined;
  /** Receives what was thrown, for the host. */
  readonly report: Report;
  /** Is added to as the run goes on. */
  readonly usage: Usage;
  /** Prepares, asks for and makes the calls of tools. */
  readonly calls: Pick<RunCalls, 'open' | 'requestApproval' | 'settle'>;
  readonly files: Pick<RunFiles, 'result' | 'shown'>;
  /** The messages that arrive while the run works; none when absent. */
  readonly steering?: Pick<Steering, 'deliver' | 'continues'>;
  /** Receives the prompt of each step before its model. */
  readonly onPrompt?: ((prompt: readonly LanguageModelV4Message[], step: number) => Promise<void>) | undefined;
  /** Is called before a model call is tried again. */
  readonly onRetry?: ((retry: ModelRetry) => void) | undefined;
}

/** What the last answer of a run must be. */
export interface RunOutput {
  /** Is sent with every step. */
  readonly responseFormat: NonNullable<LanguageModelV4CallOptions['responseFormat']>;
  /** Reads an answer. */
  read(text: string): Promise<OutputReading>;
  /** The chunk of a valid answer. */
  chunk(data: unknown): UIMessageChunk;
  /** The message that lists the errors of the answer for the model. */
  correction(issues: readonly Issue[]): LanguageModelV4Message;
  /** Whether the model has received that message. */
  isRepaired: boolean;
}

/** An answer as data, or what is wrong with it. */
export type OutputReading = { readonly ok: true; readonly data: unknown } | {
  readonly ok: false;
  readonly issues: readonly Issue[];
};
