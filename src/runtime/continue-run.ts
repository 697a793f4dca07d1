/** How a run continues a chat that waited for a person: approved calls are made first, and the model is told of all of them. */

import type { UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';
import { PinnaceError, toData } from '../base/errors.ts';
import type { UnspendableReason } from '../permission/interruption.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import type { AskedCall } from './calls/approvals.ts';
import { outcomeChunks } from './calls/call-chunks.ts';
import type { Invoke } from './calls/run-calls.ts';

/** What continuing needs. */
export interface ContinueOptions {
  readonly calls: readonly AskedCall[];
  readonly invoke: Invoke;
  readonly push: (chunk: UIMessageChunk) => void;
  readonly signal: AbortSignal;
  readonly traceId: string;
}

/** Makes the approved calls, at once, tells how each ended, and gives the chat with the calls as they stand now. */
export async function settleCalls(
  messages: readonly UIMessage[],
  options: ContinueOptions,
): Promise<readonly UIMessage[]> {
  const { calls } = options;
  if (calls.length === 0) return messages;
  const outcomes = await Promise.all(
    calls.map(async (call) => [call.toolCallId, await settle(call, options)] as const),
  );
  const byId = new Map(outcomes);
  const last = messages.at(-1);
  if (!last) return messages;
  const parts = last.parts.map((part) => {
    const outcome = 'toolCallId' in part ? byId.get(part.toolCallId) : undefined;
    return outcome ? withOutcome(part, outcome) : part;
  });
  return [...messages.slice(0, -1), { ...last, parts }];
}

async function settle(
  { toolCallId, tool, input, decision }: AskedCall,
  options: ContinueOptions,
): Promise<ToolOutcome> {
  const { invoke, push, signal, traceId } = options;
  push({ type: 'tool-input-available', toolCallId, toolName: tool.definition.name, input });
  const outcome = 'approved' in decision && decision.approved
    ? await invoke(tool, input, { toolCallId, signal, approved: true })
    : { ok: false as const, error: toData(refusal(tool.definition.id, decision)) };
  outcomeChunks(tool, outcome, { toolCallId, traceId }).forEach(push);
  return outcome;
}

const unspendable: Readonly<Record<UnspendableReason, string>> = {
  approval_not_found: 'no approval has this id',
  approval_undecided: 'no one has decided on it yet',
  approval_expired: 'its approval has expired; ask for it again',
  approval_spent: 'its approval was used before; each is good for one call',
  approval_moved: 'its approval was given in another chat or to another agent',
  approval_altered: 'the call, its tool or its agent has changed since the approval was asked for',
};

function refusal(toolId: string, decision: AskedCall['decision']): PinnaceError {
  if ('unspendable' in decision) {
    const { unspendable: reason } = decision;
    const message = `Tool "${toolId}" was not called: ${unspendable[reason]}`;
    return new PinnaceError('approval_required', message, { details: { reason } });
  }
  const why = decision.reason === undefined ? '' : `: ${decision.reason}`;
  return new PinnaceError('forbidden', `Tool "${toolId}" was not called: a person denied it${why}`, {
    details: { reason: 'approval_denied' },
  });
}

/** The part as the AI SDK would have it after the call. */
function withOutcome(part: UIMessage['parts'][number], outcome: ToolOutcome): UIMessage['parts'][number] {
  const { approval: _, ...call } = part as UIMessage['parts'][number] & { approval?: unknown };
  const settled = outcome.ok
    ? { ...call, state: 'output-available', output: outcome.output }
    : { ...call, state: 'output-error', errorText: outcome.error.message };
  return settled as UIMessage['parts'][number]; // a tool part in one of its ended states; checked with all others
}
