/** Passes on what a person has answered to approvals, as the AI SDK keeps it in messages. */

import { PinnaceError } from '../../../src/base/errors.ts';
import type { UIMessage } from '../../../src/contracts/ai-types.ts';
import type { Decision } from '../../../src/permission/interruption.ts';

/** Decides on one call. */
export type Decide = (runId: string, approvalId: string, decision: Decision) => Promise<void>;

/**
 * Decides on the calls of the last message that `addToolApprovalResponse` has answered. A call that was decided on before stays as it
 * was decided. A message without `data-run` parts does not say which run asked: its sender has called `decide`, or the call is refused.
 *
 * @throws PinnaceError What `decide` throws.
 */
export async function decideAnswered(messages: readonly UIMessage[], decide: Decide): Promise<void> {
  const last = messages.at(-1);
  const answers = last?.role === 'assistant' ? last.parts.flatMap(answerOf) : [];
  if (!last || answers.length === 0) return;
  const runId = waitingRunOf(last);
  if (runId === undefined) return;
  await Promise.all(answers.map(async ({ id, decision }) => {
    try {
      await decide(runId, id, decision);
    } catch (error) {
      if (!(error instanceof PinnaceError && isDecided(error))) throw error;
    }
  }));
}

/** As a code over HTTP, as a reason in process. */
export function isDecided({ code, details }: PinnaceError): boolean {
  return code === 'already_decided' || details?.['reason'] === 'already_decided';
}

interface Answer {
  readonly id: string;
  readonly decision: Decision;
}

function answerOf(part: UIMessage['parts'][number]): readonly Answer[] {
  if (!('state' in part) || part.state !== 'approval-responded' || !('approval' in part)) return [];
  const { id, approved, reason }: Readonly<Record<string, unknown>> = { ...part.approval };
  if (typeof id !== 'string' || typeof approved !== 'boolean') return [];
  return [{ id, decision: { approved, ...(typeof reason === 'string' && { reason }) } }];
}

function waitingRunOf({ parts }: UIMessage): string | undefined {
  for (const part of parts.toReversed()) {
    if (part.type !== 'data-run' || !('data' in part)) continue;
    const { state, runId }: Readonly<Record<string, unknown>> = { ...(part.data as object) };
    if (state === 'awaiting_approval' && typeof runId === 'string') return runId;
  }
  return undefined;
}
