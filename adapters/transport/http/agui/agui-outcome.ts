/** Translates the data parts of a run: how it ended, what it waits for, its state and its usage. */

import type { UIMessageChunk } from '../../../../src/contracts/ai-types.ts';
import type { AguiEvent, AguiRun } from './agui-types.ts';
import { toInterruptId } from './interrupt-id.ts';

/** What answers an approval. */
const responseSchema = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['approved'],
};

/** The data parts that are state of the application, by their field in it. */
const stateFields: Readonly<Record<string, string>> = { 'data-output': 'output', 'data-plan': 'plan' };

interface RunData {
  readonly runId?: string;
  readonly state?: string;
  readonly error?: { readonly code?: string; readonly message?: string };
}

interface Approval {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly message?: string;
}

/** Creates the translator. Its `messageId` is that of the answer. */
export function createAguiOutcome({ threadId, runId, state: sent }: AguiRun) {
  let run: RunData = {};
  let usage: Readonly<Record<string, unknown>> | undefined;
  let errorText: string | undefined;
  let shared = typeof sent === 'object' && sent !== null && !Array.isArray(sent) ? sent : {};
  const waiting: Approval[] = [];

  const ofData = ({ type, data }: { readonly type: string; readonly data: unknown }): readonly AguiEvent[] => {
    if (type === 'data-run') run = data as RunData; // of the runtime, as its schema says
    if (type === 'data-usage') usage = usageOf(data as Readonly<Record<string, unknown>>);
    const custom = { type: 'CUSTOM', name: type, value: data };
    const field = stateFields[type];
    if (field === undefined) return [custom];
    shared = { ...shared, [field]: data };
    return [custom, { type: 'STATE_SNAPSHOT', snapshot: shared }];
  };
  const outcomeOf = (messageId: string): Readonly<Record<string, unknown>> => {
    if (run.state === 'cancelled') return { type: 'cancelled' };
    if (run.state !== 'awaiting_approval' || waiting.length === 0) return { type: 'success' };
    const interrupts = waiting.map(({ approvalId, toolCallId, message }) => ({
      id: toInterruptId({ runId: run.runId ?? '', approvalId, messageId }),
      reason: 'tool_approval',
      toolCallId,
      responseSchema,
      ...(message !== undefined && { message }),
    }));
    return { type: 'interrupt', interrupts };
  };
  return {
    messageId: '',
    of(chunk: UIMessageChunk): readonly AguiEvent[] {
      if ('data' in chunk) return ofData(chunk);
      if (chunk.type === 'error') errorText = chunk.errorText;
      if (chunk.type === 'abort') run = { ...run, state: 'cancelled' };
      if (chunk.type === 'tool-approval-request') waiting.push(approvalOf(chunk));
      return chunk.type.startsWith('source-') || chunk.type === 'file'
        ? [{ type: 'CUSTOM', name: chunk.type, value: chunk }]
        : [];
    },
    /** The one event that ends the run. A run that a limit has stopped is an error, with the code of the limit. */
    end(): AguiEvent {
      const counted = usage && { usage: [usage] };
      if (errorText !== undefined || (run.error && run.state !== 'cancelled')) {
        const { code = 'internal', message = errorText ?? 'The run failed' } = run.error ?? {};
        return { type: 'RUN_ERROR', message, code, ...counted };
      }
      return { type: 'RUN_FINISHED', threadId, runId, outcome: outcomeOf(this.messageId), ...counted };
    },
  };
}

function approvalOf(chunk: { readonly approvalId: string; readonly toolCallId: string }): Approval {
  const { approvalId, toolCallId, reason }: typeof chunk & { readonly reason?: unknown } = chunk;
  return { approvalId, toolCallId, ...(typeof reason === 'string' && { message: reason }) };
}

/** Only counts: AG-UI has no place for cost and steps, which `data-usage` has. */
function usageOf(usage: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const names = ['inputTokens', 'outputTokens', 'totalTokens'];
  return Object.fromEntries(names.flatMap((name) => typeof usage[name] === 'number' ? [[name, usage[name]]] : []));
}
