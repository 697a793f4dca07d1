/** The chunks of our own that open and close a run's stream. */

import type { UIMessageChunk } from '../contracts/ai-types.ts';
import { countExcluded, type ToolSet } from './tool-sets.ts';
import type { ModelRetry } from './model-error.ts';
import type { ReportedUsage, RunEnd } from './run-record.ts';

/** What identifies a run in its chunks. */
interface RunFacts {
  readonly runId: string;
  readonly traceId: string;
}

/** So many names of tools a stream has: each run records them, and an agent may have thousands. */
const mostNames = 64;

/** The chunks before all others. */
export function openingChunks(
  { runId, traceId, messageId }: RunFacts & { readonly messageId: string },
  toolSet: ToolSet,
): readonly UIMessageChunk[] {
  const { digest, tools } = toolSet;
  const included = tools.slice(0, mostNames).map(({ definition }) => definition.name);
  const more = tools.length - included.length;
  return [
    { type: 'start', messageId },
    { type: 'data-run', id: runId, data: { runId, traceId, state: 'running' } },
    {
      type: 'data-manifest',
      data: { digest, included, ...(more > 0 && { more }), excluded: countExcluded(toolSet) },
    },
  ];
}

/** The chunk before a model call that is tried again. Stored messages do not have it. */
export function retryChunk(retry: ModelRetry, now: number): UIMessageChunk {
  return { type: 'data-retry', data: { ...retry, retryAt: now + retry.delayMs }, transient: true };
}

/** The chunks after all others, the last of them terminal. */
export function closingChunks(
  end: RunEnd,
  { runId, traceId, usage }: RunFacts & { readonly usage: ReportedUsage },
): readonly UIMessageChunk[] {
  const error = 'error' in end ? { error: end.error } : {};
  return [
    { type: 'data-usage', data: usage },
    { type: 'data-run', id: runId, data: { runId, traceId, state: end.type, ...error } },
    terminalChunk(end),
  ];
}

function terminalChunk(end: RunEnd): UIMessageChunk {
  switch (end.type) {
    case 'completed':
    case 'awaiting_approval':
    case 'suspended':
    case 'stopped':
      return { type: 'finish', finishReason: end.finishReason };
    case 'cancelled':
      return { type: 'abort', reason: end.reason };
    case 'failed':
      return { type: 'error', errorText: `${end.error.code}: ${end.error.message}` };
    default:
      return end satisfies never;
  }
}

/** A running loop. */
export interface Loop {
  read(): Promise<{ readonly chunks: readonly UIMessageChunk[] } | { readonly end: RunEnd }>;
}
