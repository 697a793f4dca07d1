/**
 * The record of a tool call that may act: committed before the tool runs and closed after it. A run that is lost in between did
 * something or did not; nobody knows, so it is never done again and the answer says so.
 */

import type { UIMessageChunk } from '../ai-types.ts';
import { PinnaceError, toData } from '../errors.ts';
import type { Storage } from '../ports.ts';
import type { ToolDefinition } from '../schema.ts';
import { callKey, runPrefix } from './run-record.ts';

interface CallRecord {
  readonly toolCallId: string;
  readonly tool: string;
  readonly state: 'started' | 'ended';
}

/** Whether a call needs a record: whatever does not only read. */
export function mayAct({ annotations }: ToolDefinition): boolean {
  return annotations?.readOnlyHint !== true;
}

/** Commits that the call begins. The tool must not run when this rejects. */
export async function beginCall(
  storage: Storage,
  runId: string,
  call: Omit<CallRecord, 'state'>,
  ttlMs: number,
): Promise<void> {
  const value: CallRecord = { ...call, state: 'started' };
  await storage.commit([{ key: callKey(runId, call.toolCallId), value, ttlMs }]);
}

/** Commits that the call has ended. When that fails, the call counts as unknown, which is the truth. */
export async function endCall(
  storage: Storage,
  runId: string,
  call: Omit<CallRecord, 'state'>,
  ttlMs: number,
): Promise<void> {
  const value: CallRecord = { ...call, state: 'ended' };
  await storage.commit([{ key: callKey(runId, call.toolCallId), value, ttlMs }]).catch(() => undefined);
}

/** Finds the calls of a lost run that began and did not end. */
export async function lostCalls(
  runId: string,
  storage: Storage,
): Promise<{ chunks(traceId: string): readonly UIMessageChunk[] }> {
  const entries = await storage.list({ prefix: [...runPrefix(runId), 'call'], limit: 1000 });
  const lost = entries.map(({ value }) => value as CallRecord) // written by this module alone
    .filter(({ state }) => state === 'started');
  return { chunks: (traceId) => lost.flatMap((call) => unknownOutcome(call, traceId)) };
}

function unknownOutcome({ toolCallId, tool }: CallRecord, traceId: string): UIMessageChunk[] {
  const { code, message, retryable } = toData(
    new PinnaceError('outcome_unknown', `The outcome of tool "${tool}" is not known: the run was lost while it worked`),
  );
  return [
    { type: 'tool-output-error', toolCallId, errorText: message },
    { type: 'data-tool-error', data: { toolCallId, tool, code, message, retryable, attempt: 1, traceId } },
  ];
}
