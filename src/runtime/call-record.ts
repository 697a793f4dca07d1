/**
 * The record of a tool call that may act: committed before the tool runs. The log's event of its output closes it. A run that is
 * lost in between did something or did not; nobody knows, so it is never done again and the answer says so.
 */

import type { UIMessageChunk } from '../ai-types.ts';
import { PinnaceError, toData } from '../errors.ts';
import { readItems } from '../journal.ts';
import type { Change, Storage } from '../ports.ts';
import type { ToolDefinition } from '../schema.ts';
import { callKey, runPrefix } from './run-record.ts';

interface CallRecord {
  readonly toolCallId: string;
  readonly tool: string;
}

/** Whether a call needs a record: whatever does not only read. */
export function mayAct({ annotations }: ToolDefinition): boolean {
  return annotations?.readOnlyHint !== true;
}

/** Returns the change that records that the call begins. The tool must not run before it is committed with the run's log. */
export function callStart(runId: string, call: CallRecord, ttlMs: number): Change {
  return { key: callKey(runId, call.toolCallId), value: call, ttlMs };
}

/** Finds the calls of a lost run that began and of which the log tells no outcome. */
export async function lostCalls(
  runId: string,
  storage: Storage,
): Promise<{ chunks(traceId: string): readonly UIMessageChunk[] }> {
  const entries = await storage.list({ prefix: [...runPrefix(runId), 'call'], limit: 1000 });
  const told = entries.length > 0 ? await toldCalls(runId, storage) : new Set();
  const lost = entries.map(({ value }) => value as CallRecord) // written by this module alone
    .filter(({ toolCallId }) => !told.has(toolCallId));
  return { chunks: (traceId) => lost.flatMap((call) => unknownOutcome(call, traceId)) };
}

/** The calls whose outcome a reader of the log has seen. */
async function toldCalls(runId: string, storage: Storage): Promise<ReadonlySet<string>> {
  const told = new Set<string>();
  for (let after = 0, page; page === undefined || page.length > 0; after = page.at(-1)?.seq ?? after) {
    page = await readItems(storage, runPrefix(runId), after);
    for (const text of page.map(({ item }) => item).filter((item) => item.includes('"tool-output-'))) {
      const chunk = JSON.parse(text) as UIMessageChunk; // what `record` wrote
      if (chunk.type === 'tool-output-available' || chunk.type === 'tool-output-error') told.add(chunk.toolCallId);
    }
  }
  return told;
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
