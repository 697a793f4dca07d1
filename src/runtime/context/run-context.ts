/** The context window of a run, which summarizes with the model of the run. */

import type { RunOptions } from '../run-options.ts';
import type { Usage } from '../loop/loop-options.ts';
import type { LoopSpans } from '../loop/loop-spans.ts';
import { definitionTokens, type StepTools } from '../loop/step-tools.ts';
import { type ContextWindow, createContextWindow } from './context-window.ts';

/** More summaries than these do not help a run: its own turn is what is long. */
const mostCompactions = 2;

/** Creates the context window of a run. */
export function createRunContext(
  options: RunOptions,
  { spans, usage, tools }: {
    readonly spans: LoopSpans;
    readonly usage: Usage;
    readonly tools: Pick<StepTools, 'current'>;
  },
): ContextWindow {
  const { agent, runId, contextTokens, contextStrategy, limits, redaction, abort: { signal }, request } = options;
  const { budget } = request;
  let compactions = 0;
  const maySummarize = (): boolean =>
    ++compactions <= mostCompactions && usage.steps + 1 < limits.steps &&
    usage.totalTokens < (budget?.tokens ?? Infinity);
  return createContextWindow({
    contextTokens,
    strategy: contextStrategy,
    agentId: agent.id,
    runId,
    signal,
    toolTokens: () => definitionTokens(tools.current()),
    async summarize(messages) {
      if (!maySummarize()) return undefined;
      const { summarize } = await import('./summarize.ts'); // most chats do without
      return await summarize(messages, { ...options, signal, spans, usage, redact: (text) => redaction.text(text) });
    },
    onTrimmed(payload) {
      const target = { type: 'agent', id: agent.id } as const;
      spans.current.emit({ action: 'context.trim', actor: target, target, status: 'ok', payload });
    },
  });
}
