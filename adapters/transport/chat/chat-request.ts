/** What clients of the AI SDK send beside a chat's messages. */

import { PinnaceError } from '../../../src/base/errors.ts';
import type { UIMessage } from '../../../src/contracts/ai-types.ts';
import type { Decision } from '../../../src/permission/interruption.ts';
import { messagesToSend } from '../../../src/runtime/message-parts.ts';
import type { RunRequestInput } from '../../../src/runtime/run-request.ts';

const fields = ['agentId', 'runtimeId', 'context', 'limits', 'budget', 'output', 'settings', 'planner'] as const;

/**
 * Returns the request for a run. With `body.store` the server stores the chat: only the last message is sent. `body` names the agent and sets other fields of the run; the runtime parses them.
 * @throws PinnaceError `invalid_argument` without an agent.
 */
export function chatRequest(
  { id, messages }: { readonly id: string; readonly messages: readonly UIMessage[] },
  body: Readonly<Record<string, unknown>>,
): RunRequestInput {
  if (typeof body['agentId'] !== 'string') {
    throw new PinnaceError(
      'invalid_argument',
      'Cannot send the messages: name the agent in "agentId" of the transport, or in "body.agentId"',
    );
  }
  const given = Object.fromEntries(fields.flatMap((name) => body[name] === undefined ? [] : [[name, body[name]]]));
  const { store } = body;
  const chat = store === true
    ? { id, messages: messages.slice(-1), store }
    : { id, messages: messagesToSend(messages) };
  // Safe: the runtime parses it as it parses every request.
  return { ...given, chat } as unknown as RunRequestInput;
}

export type Decide = (runId: string, approvalId: string, decision: Decision) => Promise<void>;

/**
 * Decides on the calls of the last message that `addToolApprovalResponse` has answered. A call that was decided on before stays as it
 * was decided. A message without `data-run` parts does not say which run asked: its sender has called `decide`, or the call is refused.
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
