/** Approval requests of tool calls and their answers. */

import type { ErrorData } from '../../../src/base/errors.ts';
import type { Decision } from '../../../src/permission/interruption.ts';
import type { AssistantMessage, ToolCall, ToolPart } from './message.ts';
import { openQuestions } from '../../plan/state/plan-data.ts';
import { planOf } from './plan.ts';
import type { Approval, Need } from './run-data.ts';

/** The calls of an answer that wait for a person, decided or not. */
export function waitingCalls({ parts }: AssistantMessage): readonly ToolPart[] {
  return parts.value.filter((part): part is ToolPart => part.type === 'tool' && part.call.value.state === 'waiting');
}

/** The calls of an answer that the person who asks may decide on, and has not: more than one can be decided at once. */
export function openApprovals(message: AssistantMessage): readonly ToolPart[] {
  return waitingCalls(message).filter(({ call: { value: { approval, need } } }) =>
    approval !== undefined && approval.decision === undefined && approval.isPending !== true &&
    approval.asked?.fourEyes !== true && need?.id !== approval.id
  );
}

/** Whether there is a call that a person has yet to decide on. */
export function isUndecided(message: AssistantMessage): boolean {
  return waitingCalls(message).some(({ call }) => call.value.approval?.decision === undefined);
}

/** Whether the answer can continue: it has waiting calls, all decided. */
export function canGoOn(message: AssistantMessage): boolean {
  return waitingCalls(message).length > 0 && !isUndecided(message);
}

/** Whether every decision was made here: decisions from elsewhere are not applied without a request. */
export function isDecidedHere(message: AssistantMessage): boolean {
  return canGoOn(message) && waitingCalls(message).every(({ call }) => call.value.approval?.decision !== 'elsewhere');
}

/** What the call's MCP server needs of the person now: for a call that waits, or while it is open. */
export function openNeed({ state, approval, need }: ToolCall): Need | undefined {
  if (!need || need.answer) return undefined;
  if (need.isOpen) return state === 'running' ? need : undefined;
  return state === 'waiting' && approval?.id === need.id && approval.decision === undefined ? need : undefined;
}

/** Notes what the person did about the need. */
export function answeredNeed({ call }: ToolPart, answer: string): void {
  const { need } = call.value;
  if (need) call.value = { ...call.value, need: { ...need, answer } };
}

/** Shows the decision on the card at once, and then the result of sending it. */
export async function decideCall(
  { call }: ToolPart,
  { decision, send }: { readonly decision: Decision; readonly send: (approval: Approval) => Promise<void> },
): Promise<void> {
  const { approval } = call.value;
  if (call.value.state !== 'waiting' || !approval || approval.decision || approval.isPending) return;
  const asked: Approval = { ...approval, problem: undefined };
  call.value = { ...call.value, approval: { ...asked, isPending: true } };
  const error = await send(asked).then(() => undefined, toShape);
  if (call.value.state !== 'waiting') return; // another message was sent meanwhile
  call.value = { ...call.value, ...after(asked, { decision, error }) };
}

function after(
  asked: Approval,
  { decision, error }: { readonly decision: Decision; readonly error: Pick<ErrorData, 'code' | 'message'> | undefined },
): { readonly approval: Approval; readonly state: 'waiting' | 'undecided' } {
  if (!error) return { state: 'waiting', approval: { ...asked, decision: plain(decision) } };
  const problem = problems[error.code] ?? `Your decision was not sent: ${error.message}. Try again.`;
  if (error.code === 'already_decided') {
    return { state: 'waiting', approval: { ...asked, problem, decision: 'elsewhere' } };
  }
  const isOver = error.code === 'approval_expired' || error.code === 'not_found';
  return { state: isOver ? 'undecided' : 'waiting', approval: { ...asked, problem } };
}

const problems: Readonly<Record<string, string>> = {
  already_decided: 'This call was already decided, in another tab or before a reload. Continue to apply that decision.',
  approval_expired: 'The approval expired. The call was not made; ask the agent again.',
  not_found: 'The runtime no longer has this approval. The call was not made; ask the agent again.',
  forbidden: 'You do not have permission to decide on this call.',
};

function plain({ approved, reason }: Decision): Decision {
  return reason === undefined ? { approved } : { approved, reason };
}

/** A PinnaceError has a code; any other error is shown by its text. */
function toShape(error: unknown): Pick<ErrorData, 'code' | 'message'> {
  const message = error instanceof Error ? error.message : 'something went wrong';
  return { code: error instanceof Error && 'code' in error ? String(error.code) : 'internal', message };
}

/** Whether there is something that a person has yet to answer. */
export function isAsking(message: AssistantMessage): boolean {
  const plan = planOf(message);
  return isUndecided(message) || (plan !== undefined && openQuestions(plan).length > 0);
}
