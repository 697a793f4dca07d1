/** Reads the stream of a run to its end, as what a test asserts on. */

import { checkOptions } from '../../../src/base/check-options.ts';
import type { UIMessageChunk } from '../../../src/contracts/ai-types.ts';

/** One tool call of a run. */
export interface ReadCall {
  readonly toolCallId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly state: 'running' | 'approval-requested' | 'done' | 'failed' | 'denied';
  /** The result, when the state is `done`. */
  readonly output?: unknown;
  /** The text that the model and the page receive, when the state is `failed`. */
  readonly error?: string;
  /** For `runtime.decide`, while a person has to decide. */
  readonly approvalId?: string;
}

/** What a run did. */
export interface ReadRun {
  readonly runId: string;
  /** How it ended: `completed`, `awaiting_approval`, `suspended`, `cancelled` or `failed`. */
  readonly state: string;
  /** All text of the answer. */
  readonly text: string;
  readonly calls: readonly ReadCall[];
  /** The content of the last `data-*` part of each type, by the name after `data-`. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly chunks: readonly UIMessageChunk[];
}

/**
 * Reads a run to its end: the stream of `runtime.run`, of `client.run`, or of a transport.
 *
 * @example
 * const { state, calls } = await readRun(await runtime.run(request, principal));
 */
export async function readRun(stream: ReadableStream<UIMessageChunk>): Promise<ReadRun> {
  checkOptions('read the run', { stream }, { stream: ['.getReader', 'the stream, such as await runtime.run( … )'] });
  const chunks = await Array.fromAsync(stream);
  const calls = new Map<string, ReadCall>();
  const data: Record<string, unknown> = {};
  let text = '';
  for (const chunk of chunks) {
    if (chunk.type === 'text-delta') text += chunk.delta;
    else if ('data' in chunk) data[chunk.type.slice('data-'.length)] = chunk.data;
    else readCall(chunk, calls);
  }
  const { runId = '', state = 'unknown' } = (data['run'] ?? {}) as { runId?: string; state?: string };
  return { runId, state, text, calls: [...calls.values()], data, chunks };
}

function readCall(chunk: UIMessageChunk, calls: Map<string, ReadCall>): void {
  if (!('toolCallId' in chunk)) return;
  const { toolCallId } = chunk;
  const known = calls.get(toolCallId) ?? { toolCallId, tool: '', input: undefined, state: 'running' };
  const next = stateAfter(chunk);
  if (next) calls.set(toolCallId, { ...known, ...next });
}

function stateAfter(chunk: UIMessageChunk): Partial<ReadCall> | undefined {
  switch (chunk.type) {
    case 'tool-input-available':
      return { tool: chunk.toolName, input: chunk.input };
    case 'tool-input-error':
      return { tool: chunk.toolName, input: chunk.input, state: 'failed', error: chunk.errorText };
    case 'tool-approval-request':
      return { state: 'approval-requested', approvalId: chunk.approvalId };
    case 'tool-output-available':
      return chunk.preliminary === true ? undefined : { state: 'done', output: chunk.output };
    case 'tool-output-error':
      return { state: 'failed', error: chunk.errorText };
    case 'tool-output-denied':
      return { state: 'denied' };
    default:
      return undefined;
  }
}
