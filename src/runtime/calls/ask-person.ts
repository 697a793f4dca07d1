/** Asks a person for what a tool call needs: a sign-in, or answers. */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { Interaction } from '../../contracts/mcp/interaction.ts';
import { askedBy, type SpendClaim } from '../../permission/interruption.ts';
import type { LoopSpans } from '../loop/loop-spans.ts';
import type { RunOptions } from '../run-options.ts';

/** The call, and where it is asked. */
export interface AskingCall {
  readonly facts: Pick<RunOptions, 'agent' | 'principal' | 'runId' | 'interruptions' | 'redaction'>;
  readonly claim: SpendClaim;
  readonly toolId: string;
  readonly toolCallId: string;
  readonly spans: Pick<LoopSpans, 'current'>;
}

/** Asks in the stream while the call waits. The answer comes through the storage; no later run can spend it. */
export async function askWhileOpen(
  { kind, data, save }: Interaction,
  { facts, toolCallId, push }: {
    readonly facts: Pick<RunOptions, 'agent' | 'runId' | 'interruptions' | 'redaction' | 'principal'>;
    readonly toolCallId: string;
    readonly push: (chunk: UIMessageChunk) => void;
  },
): Promise<string> {
  const { agent, runId, interruptions, redaction, principal } = facts;
  const binding = `${runId} ${toolCallId} open`;
  const { tenant, subject } = principal;
  const asked = { kind, runId, tenant, subject, ...askedBy(principal), agentId: agent.id, binding };
  const { id, expiresAt } = await interruptions.open(asked);
  await save({ id, runId, expiresAt });
  const shown = redaction.data({ id, kind, toolCallId, expiresAt, isOpen: true, ...data });
  push({ type: 'data-interruption', id, data: shown });
  return id;
}

/** Opens the interruption of a call, stores what the next call needs, and returns the chunks that ask. */
export async function askPerson(
  { kind, reason, data, save }: Interaction,
  { facts, claim, toolId, toolCallId, spans }: AskingCall,
): Promise<readonly UIMessageChunk[]> {
  const { agent, runId, interruptions, redaction } = facts;
  const { id, expiresAt } = await interruptions.open({
    ...claim,
    ...askedBy(facts.principal),
    kind,
    runId,
    agentId: agent.id,
  });
  await save({ id, runId, expiresAt });
  const target = { type: 'tool', id: toolId };
  spans.current.emit({
    action: 'interruption.request',
    target,
    status: 'ok',
    payload: { runId, approvalId: id, kind },
  });
  return [
    { type: 'tool-approval-request', approvalId: id, toolCallId, reason },
    { type: 'data-interruption', id, data: redaction.data({ id, kind, toolCallId, expiresAt, ...data }) },
  ];
}
