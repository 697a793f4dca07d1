/** Test cases made of recorded runs. */

import { checkNames, optional } from '../base/check-options.ts';
import { type ErrorData, PinnaceError } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
import type { Principal } from '../base/principal.ts';
import type { Agent } from '../base/schema.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { RunRequest } from '../runtime/run-request.ts';
import type { HostedRuntime } from '../runtime/runtime.ts';

/** A request and what a run made of it, as one line of JSON. */
export interface EvalCase {
  readonly v: 1;
  readonly id: string;
  readonly tags: readonly string[];
  readonly request: RunRequest;
  /** The record of the agent when the run was recorded. */
  readonly agent: Agent;
  readonly expected: RunFacts;
}

/** Which runs become cases, and how. */
export interface DatasetOptions {
  /** The runs to make cases of. */
  readonly runIds: readonly string[];
  /** Texts that match are replaced by `[scrubbed]`. Use patterns with the flag `g`. */
  readonly scrub?: readonly RegExp[];
  /** Tags of every case. */
  readonly tags?: readonly string[];
}

/** Cases, and how many were left out because they are longer than 1 MiB. */
export type Dataset = readonly EvalCase[] & { readonly skipped?: number };

/** UTF-16 code units of JSON. */
const maxLength = 1_048_576;

/**
 * Makes cases of recorded runs. The runtime must have `keep: 'inputs'`; the log has the secrets of the runs redacted.
 *
 * @throws PinnaceError `not_found` (`inputs_not_kept`), `run_expired` and `forbidden`, as `runtime.fork`.
 * @example
 * const cases = await datasetOf(runtime, { runIds: [runId], scrub: [/\d{16}/g] }, principal);
 */
export async function datasetOf(
  runtime: Pick<HostedRuntime, 'recorded'>,
  options: DatasetOptions,
  principal: Principal,
): Promise<Dataset> {
  checkNames('read the cases', options, optional('runIds', 'scrub', 'tags'));
  const { runIds, scrub = [], tags = [] } = options;
  const cases: EvalCase[] = [];
  let skipped = 0;
  for (const id of runIds) {
    const { request, agent, chunks } = await runtime.recorded(id, principal);
    const expected = readRunChunks(chunks);
    const text = scrubbed(JSON.stringify({ v: 1, id, tags, request, agent, expected } satisfies EvalCase), scrub);
    if (text.length > maxLength) skipped++;
    else cases.push(JSON.parse(text) as EvalCase); // the same but for texts
  }
  return Object.assign(cases, { skipped });
}

function scrubbed(text: string, patterns: readonly RegExp[]): string {
  return patterns.reduce((rest, pattern) => rest.replace(pattern, '[scrubbed]'), text);
}

/** Writes cases as lines of JSON. */
export function toJsonLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

/** Reads lines of JSON, as `toJsonLines` writes them. @throws PinnaceError `invalid_argument` with the number of a line that is not JSON. */
export function fromJsonLines<T>(text: string): T[] {
  return text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line) as T]; // the caller's type
    } catch {
      throw new PinnaceError('invalid_argument', `Cannot read the lines: line ${at + 1} is not JSON`, {
        details: { reason: 'malformed_json', line: at + 1 },
      });
    }
  });
}

/** The chunks by which a runtime answers calls from a case. */
export function callChunks({ expected }: EvalCase): readonly UIMessageChunk[] {
  return expected.calls.flatMap(({ tool: toolName, input, output, error }, i): UIMessageChunk[] => {
    const toolCallId = `case-${i}`;
    const call: UIMessageChunk = { type: 'tool-input-available', toolCallId, toolName, input };
    if (error === undefined) return [call, { type: 'tool-output-available', toolCallId, output }];
    const failed: UIMessageChunk = { type: 'tool-output-error', toolCallId, errorText: error.message };
    return [call, failed, { type: 'data-tool-error', data: { toolCallId, ...error } }];
  });
}

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
