/** The tool calls of a run under way: each gets one end in the stream, on every path. */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { ErrorData } from '../../base/errors.ts';
import { leavesDoubt } from '../../tools/lost-call.ts';
import type { Tool, ToolOutcome } from '../../tools/tool.ts';
import { outcomeChunks } from './call-chunks.ts';
import { createOpenCalls, lossAt, lostChunks, lostError } from './open-calls.ts';
import type { RunEnd } from '../log/run-end.ts';

/** What is known of the calls of one run. */
export interface LiveCalls {
  /** Takes a chunk of the stream, before redaction. */
  observe(chunk: UIMessageChunk): void;
  /** The call has events of its own; `fail` ends them. */
  opened(toolCallId: string, fail: (error: ErrorData) => void): void;
  /** The tool runs from now on. */
  started(toolCallId: string, tool: Tool, input: unknown): void;
  /** The call may have changed something, whatever its tool declares. */
  acted(toolCallId: string): void;
  /** The call has its outcome, which the stream shows later. */
  settled(toolCallId: string, tool: Tool, outcome: ToolOutcome): void;
  /** Ends all calls that the stream has not ended, in the events as well, and returns their chunks. */
  closing(end: RunEnd): readonly UIMessageChunk[];
}

/** Creates the calls of a run that has made none. */
export function createLiveCalls({ traceId }: { readonly traceId: string }): LiveCalls {
  const open = createOpenCalls();
  const known = new Map<string, Known>();
  const of = (toolCallId: string): Known => {
    const call = known.get(toolCallId) ?? { mayHaveActed: false };
    known.set(toolCallId, call);
    return call;
  };
  return {
    observe(chunk) {
      open.observe(chunk);
      if (chunk.type === 'tool-input-available') known.delete(chunk.toolCallId); // models use an id again in a later step
    },
    opened(toolCallId, fail) {
      of(toolCallId).fail = fail;
    },
    started(toolCallId, { definition }, input) {
      of(toolCallId).mayHaveActed = leavesDoubt(definition, input);
    },
    acted(toolCallId) {
      of(toolCallId).mayHaveActed = true;
    },
    settled(toolCallId, tool, outcome) {
      of(toolCallId).ended = { tool, outcome };
    },
    closing(end) {
      return open.list().flatMap((call) => {
        const { mayHaveActed, ended, fail } = of(call.toolCallId);
        if (ended) return outcomeChunks(ended.tool, ended.outcome, { toolCallId: call.toolCallId, traceId });
        const error = lostError(call, { loss: lossAt(end), mayHaveActed });
        fail?.(error);
        return lostChunks(call, { error, traceId });
      });
    },
  };
}

interface Known {
  mayHaveActed: boolean;
  fail?: (error: ErrorData) => void;
  ended?: { readonly tool: Tool; readonly outcome: ToolOutcome };
}
