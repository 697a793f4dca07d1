/**
 * The record of a tool call that may act: committed before the tool runs. The log's event of its output closes it. A run that is
 * lost in between may have acted, so the call is never repeated and its outcome is unknown.
 */

import type { Change, Storage } from '../../contracts/storage.ts';
import { callKey, runPrefix } from './run-record.ts';

interface CallRecord {
  readonly toolCallId: string;
  readonly tool: string;
}

/** Returns the change that records the start of the call. The tool must not run before it is committed with the run's log. */
export function callStart(runId: string, call: CallRecord, ttlMs: number): Change {
  return { key: callKey(runId, call.toolCallId), value: call, ttlMs };
}

/** The calls of a run that were recorded as started. */
export interface StartedCalls {
  /** Whether the call has started, or one of the calls of its program. */
  has(toolCallId: string): boolean;
}

/** Reads the calls of a run that were recorded as started. */
export async function startedCalls(runId: string, storage: Storage): Promise<StartedCalls> {
  const entries = await storage.list({ prefix: [...runPrefix(runId), 'call'], limit: 1000 });
  const ids = entries.map(({ value }) => (value as CallRecord).toolCallId); // written by this module alone
  return { has: (toolCallId) => ids.some((id) => id === toolCallId || id.startsWith(`${toolCallId}/`)) };
}
