/** Keeps the prompt of a run within the context window of its model. Short chats only cost an estimate. */

import type { Tool } from '../tools/tool.ts';
import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Agent } from '../base/schema.ts';
import type { ContextStrategy } from '../contracts/context-strategy.ts';
import { type Report, reportedHook } from '../events/report.ts';
import type { RunRedaction } from '../permission/redaction/run-redaction.ts';
import type { Limits } from './limits.ts';
import {
  type ContextWindowOptions,
  definitionTokens,
  type FitPrompt,
  promptTokens,
  roomOf,
} from './estimate-prompt.ts';
import type { RunSpans } from './run-clock.ts';
import type { ModelBudget, Usage } from './model-budget.ts';
import type { ModelChain } from './model-chain.ts';
import type { ModelRetry } from './model-error.ts';
import type { ResolvedModel } from './provider-model.ts';
import { type AppliedCompaction, lastCitation, newestCompaction } from './message-parts.ts';

/** The context window of a run. */
export interface ContextWindow {
  /** Shortens what the chat's compaction has shortened; `undefined` where there is nothing to do. */
  restore(prompt: LanguageModelV4Message[]): Promise<void> | undefined;
  /**
   * Makes the prompt fit before a call of the model; replaces messages of it where it must, and yields what readers see of that.
   * Returns `undefined` when the prompt fits as it is.
   *
   * @throws PinnaceError `budget_exceeded` with the reason `context_window` when nothing is left to trim.
   */
  fit(prompt: LanguageModelV4Message[]): AsyncGenerator<readonly UIMessageChunk[], void> | undefined;
  /** Makes the prompt fit a model that takes over, and from then on the window is that of this model. */
  readonly fitTo: FitPrompt;
  /** Learns how many tokens the prompt of the last call really had. */
  learn(inputTokens: number | undefined): void;
}

/** Estimates of a run are scaled by what its model has counted, but not by any number that an endpoint may report. */
const [leastScale, mostScale] = [0.5, 4];

/** Creates the context window of a run that has not called its model. */
export function createContextWindow(options: ContextWindowOptions): ContextWindow {
  const { toolTokens } = options;
  let { contextTokens } = options;
  let scale = 1;
  let estimate = 0;
  let { applied } = options;
  const isFit = (prompt: LanguageModelV4Message[], room: number): boolean => {
    estimate = promptTokens(prompt) + toolTokens();
    return estimate * scale <= room;
  };
  const onApplied = (compaction: AppliedCompaction): void => {
    applied = compaction;
    options.onApplied?.(compaction);
  };
  async function* fitWith(prompt: LanguageModelV4Message[], used: ContextWindowOptions) {
    const { fitPrompt } = await import('./fit-context.ts'); // most chats do without
    const tokensOf = (messages: readonly LanguageModelV4Message[]): number =>
      Math.ceil((promptTokens(messages) + toolTokens()) * scale);
    yield* fitPrompt(prompt, { ...used, applied, onApplied, tokensOf, scale });
    estimate = promptTokens(prompt) + toolTokens();
  }
  return {
    restore(prompt) {
      const { shortenedThrough } = applied ?? {};
      if (applied === undefined || shortenedThrough === undefined) return undefined;
      const compaction = applied;
      return import('./fit-context.ts').then(({ applyShortening }) => applyShortening(prompt, compaction));
    },
    fit(prompt) {
      const fits = isFit(prompt, roomOf(contextTokens)) && !options.strategy;
      return fits ? undefined : fitWith(prompt, { ...options, contextTokens });
    },
    async fitTo(prompt, otherTokens) {
      scale = Math.max(1, scale); // another model may count more
      const fitted = [...prompt];
      if (!isFit(fitted, roomOf(otherTokens))) {
        const { strategy: _strategy, summarize: _summarize, ...rules } = options; // a summary could fail as the last call did
        for await (const _ of fitWith(fitted, { ...rules, strategy: undefined, contextTokens: otherTokens }));
        prompt.splice(0, prompt.length, ...fitted);
      }
      contextTokens = otherTokens;
    },
    learn(inputTokens) {
      if (!inputTokens || estimate === 0) return;
      scale = Math.min(mostScale, Math.max(leastScale, inputTokens / estimate));
    },
  };
}

/** The tools of the run. */
interface WindowedTools {
  current(): readonly Tool[];
  discovered(): readonly string[] | undefined;
  compacted(): void;
}

/** What the window reads of its run. */
interface WindowedRun {
  readonly runtime: { readonly contextStrategy?: ContextStrategy | undefined };
  readonly resolution: {
    readonly contextTokens: number;
    readonly stepTools: WindowedTools;
  };
  readonly runId: string;
  readonly agent: Agent;
  readonly request: { readonly chat: { readonly messages: readonly UIMessage[] } };
  readonly limits: Limits;
  readonly abort: { readonly signal: AbortSignal };
  readonly redaction: RunRedaction;
  readonly metrics: Metrics;
  readonly report: Report;
  readonly spans: RunSpans;
  readonly usage: Usage;
  readonly budget: ModelBudget;
}

/** More summaries than these do not help a run: its own turn is what is long. */
const mostCompactions = 2;

export function createRunContextWindow(
  run: WindowedRun,
  { models, chain, messageId, onRetry }: {
    readonly messageId: string;
    readonly models: Pick<ModelChain, 'current' | 'left'>;
    readonly chain: { explain(by: 'strategy' | 'compaction'): void };
    readonly onRetry: (retry: ModelRetry) => void;
  },
): ContextWindow {
  const { agent, runId, limits, redaction, abort: { signal }, metrics, report, spans, usage, budget } = run;
  const { runtime: { contextStrategy }, resolution: { contextTokens, stepTools } } = run;
  let compactions = 0;
  const maySummarize = (): boolean => ++compactions <= mostCompactions && usage.steps + 1 < limits.steps;
  return createContextWindow({
    contextTokens,
    strategy: contextStrategy && reportedHook(contextStrategy, report, 'contextStrategy'),
    agentId: agent.id,
    runId,
    signal,
    citations: lastCitation(run.request.chat.messages),
    messageId,
    applied: newestCompaction(run.request.chat.messages),
    loaded: () => stepTools.discovered(),
    onApplied: ({ throughMessageId }) => throughMessageId !== undefined && stepTools.compacted(),
    toolTokens: () => definitionTokens(stepTools.current()),
    async summarize(messages, { mostTokens }) {
      if (!maySummarize()) return undefined;
      const { summarizeMessages } = await import('./fit-context.ts'); // most chats do without
      const summarizing = {
        first: models.current.resolved,
        fallbacks: models.left,
        onResolved: ({ secret }: ResolvedModel) => secret && redaction.add(secret),
      };
      const redact = (text: string): string => redaction.text(text);
      return await summarizeMessages(messages, {
        agent,
        limits,
        metrics,
        report,
        models: summarizing,
        signal,
        spans,
        usage,
        budget,
        onRetry,
        mostTokens,
        redact,
      });
    },
    onReplaced: (by) => chain.explain(by),
    onTrimmed(payload) {
      const target = { type: 'agent', id: agent.id } as const;
      spans.current.emit({ action: 'context.trim', actor: target, target, status: 'ok', payload });
    },
  });
}
