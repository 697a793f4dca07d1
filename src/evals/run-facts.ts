/** What a run did, as checks read it. */

import type { ErrorData } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';

/** A tool call of a run. */
export interface CallFacts {
  readonly tool: string;
  readonly input: unknown;
  readonly output?: unknown;
  readonly error?: ErrorData;
}

/** A run that has ended. */
export interface RunFacts {
  /** `completed`, `failed`, and so on; `refused` where there was no run. */
  readonly state: string;
  /** The text of the last step that has any. */
  readonly text: string;
  readonly calls: readonly CallFacts[];
  readonly usage: Readonly<Record<string, unknown>>;
  readonly durationMs: number;
  readonly error?: ErrorData;
}

/** Reads the chunks of a run. */
export function readRunChunks(chunks: readonly UIMessageChunk[]): RunFacts {
  const calls = new Map<string, { -readonly [F in keyof CallFacts]: CallFacts[F] }>();
  const all: CallFacts[] = [];
  let [state, text, step] = ['failed', '', ''];
  let [usage, error]: [Record<string, unknown>, ErrorData | undefined] = [{}, undefined];
  for (const chunk of chunks) {
    if (chunk.type === 'start-step') step = '';
    else if (chunk.type === 'text-delta') text = step += chunk.delta;
    else if (chunk.type === 'tool-input-available' || chunk.type === 'tool-input-error') {
      const call = { tool: chunk.toolName, input: chunk.input };
      calls.set(chunk.toolCallId, call);
      all.push(call);
    } else if (chunk.type === 'tool-output-available') {
      const call = calls.get(chunk.toolCallId);
      if (call) call.output = chunk.output;
    }
    const data = 'data' in chunk && isRecord(chunk.data) ? chunk.data : undefined;
    if (!data) continue;
    if (chunk.type === 'data-usage') usage = data;
    if (chunk.type === 'data-run') [state, error] = [String(data['state']), data['error'] as ErrorData | undefined]; // ours
    const failed = chunk.type === 'data-tool-error' ? calls.get(String(data['toolCallId'])) : undefined;
    if (failed && failed.output === undefined) failed.error = errorOf(data as unknown as ErrorData); // ours
  }
  const durationMs = Number(usage['durationMs'] ?? 0);
  return { state, text, calls: all, usage, durationMs, ...(error && { error }) };
}

function errorOf({ code, message, retryable, retryAfterMs, details }: ErrorData): ErrorData {
  return { code, message, retryable, ...(retryAfterMs !== undefined && { retryAfterMs }), ...(details && { details }) };
}
