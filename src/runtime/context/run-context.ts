/** The context window of a run, which summarizes with the model of the run, or its fallbacks. */

import { reportedHook } from '../../events/reported-port.ts';
import type { RunOptions } from '../run-options.ts';
import type { Usage } from '../loop/loop-options.ts';
import type { LoopSpans } from '../loop/loop-spans.ts';
import type { ModelBudget } from '../model/model-budget.ts';
import type { ModelChain } from '../model/model-chain.ts';
import type { ModelRetry } from '../model/model-retry.ts';
import { definitionTokens, type StepTools } from '../loop/step-tools.ts';
import type { ResolvedModel } from '../resolve/resolve-model.ts';
import { lastCitation } from '../messages/citations.ts';
import { type ContextWindow, createContextWindow } from './context-window.ts';

/** More summaries than these do not help a run: its own turn is what is long. */
const mostCompactions = 2;

/** Creates the context window of a run. */
export function createRunContext(
  options: RunOptions,
  { spans, usage, budget, models, tools, onRetry }: {
    readonly spans: LoopSpans;
    readonly usage: Usage;
    readonly budget: ModelBudget;
    readonly models: Pick<ModelChain, 'current' | 'left'>;
    readonly tools: Pick<StepTools, 'current'>;
    readonly onRetry: (retry: ModelRetry) => void;
  },
): ContextWindow {
  const { agent, runId, contextTokens, contextStrategy, limits, redaction, abort: { signal } } = options;
  let compactions = 0;
  const maySummarize = (): boolean => ++compactions <= mostCompactions && usage.steps + 1 < limits.steps;
  return createContextWindow({
    contextTokens,
    strategy: contextStrategy && reportedHook(contextStrategy, options.report, 'contextStrategy'),
    agentId: agent.id,
    runId,
    signal,
    citations: lastCitation(options.request.chat.messages),
    toolTokens: () => definitionTokens(tools.current()),
    async summarize(messages, { mostTokens }) {
      if (!maySummarize()) return undefined;
      const { summarize } = await import('./summarize.ts'); // most chats do without
      const chain = {
        first: models.current.resolved,
        fallbacks: models.left,
        onResolved: ({ secret }: ResolvedModel) => secret && redaction.add(secret),
      };
      const redact = (text: string): string => redaction.text(text);
      return await summarize(messages, {
        ...options,
        models: chain,
        signal,
        spans,
        usage,
        budget,
        onRetry,
        mostTokens,
        redact,
      });
    },
    onTrimmed(payload) {
      const target = { type: 'agent', id: agent.id } as const;
      spans.current.emit({ action: 'context.trim', actor: target, target, status: 'ok', payload });
    },
  });
}
