/** The tool calls that a stream has shown and not yet ended. Whatever ends the stream ends them first. */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import { type ErrorData, toData } from '../../base/errors.ts';
import { type Loss, outcomeUnknown, stoppedCall } from '../../tools/lost-call.ts';
import { failureChunks, toolErrorPart } from './call-chunks.ts';
import type { RunEnd } from '../log/run-end.ts';

/** A call without an end. */
export interface OpenCall {
  readonly toolCallId: string;
  readonly tool: string;
  /** Whether its input is complete; without that, nothing was called. */
  readonly isComplete: boolean;
}

/** Follows the chunks of one stream. */
export interface OpenCalls {
  observe(chunk: UIMessageChunk): void;
  /** In the order in which they were shown. */
  list(): readonly OpenCall[];
}

/** Creates a follower without calls. */
export function createOpenCalls(): OpenCalls {
  const open = new Map<string, OpenCall>();
  return {
    observe(chunk) {
      switch (chunk.type) {
        case 'tool-input-start':
        case 'tool-input-available': {
          const { toolCallId, toolName: tool } = chunk;
          open.set(toolCallId, { toolCallId, tool, isComplete: chunk.type === 'tool-input-available' });
          break;
        }
        case 'tool-output-available':
          if (chunk.preliminary !== true) open.delete(chunk.toolCallId);
          break;
        // A call or a program that waits for a person is not ended: the next run goes on with it.
        case 'data-program':
          if (isSuspended(chunk.data)) open.delete(chunk.data.toolCallId);
          break;
        case 'tool-approval-request':
        case 'tool-input-error':
        case 'tool-output-error':
        case 'tool-output-denied':
          open.delete(chunk.toolCallId);
          break;
        default:
      }
    },
    list: () => [...open.values()],
  };
}

function isSuspended(data: unknown): data is { readonly toolCallId: string } {
  return typeof data === 'object' && data !== null && 'state' in data && data.state === 'suspended';
}

/** Why calls that are open at this end of their run have no result. */
export function lossAt(end: RunEnd): Loss {
  if (end.type === 'cancelled') return 'cancelled';
  if (!('error' in end)) return 'run_failed';
  if (end.error.details?.['reason'] === 'worker_lost') return 'worker_lost';
  return end.error.code === 'deadline_exceeded' ? 'run_timeout' : 'run_failed';
}

/** The error of a call without a result. `mayHaveActed`: it had started, and may have changed something. */
export function lostError(
  { tool }: OpenCall,
  { loss, mayHaveActed }: { readonly loss: Loss; readonly mayHaveActed: boolean },
): ErrorData {
  return toData(mayHaveActed ? outcomeUnknown(tool, loss) : stoppedCall(tool, loss));
}

/** The chunks that end a call without a result. */
export function lostChunks(
  { toolCallId, tool, isComplete }: OpenCall,
  { error, traceId }: { readonly error: ErrorData; readonly traceId: string },
): UIMessageChunk[] {
  const call = { toolCallId, tool, traceId };
  if (isComplete) return failureChunks(call, error);
  const errorText = error.message;
  return [{ type: 'tool-input-error', toolCallId, toolName: tool, input: {}, errorText }, toolErrorPart(call, error)];
}
