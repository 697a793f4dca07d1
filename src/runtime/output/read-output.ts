/** Reads the structured answer of a run from its stream. */

import { checkOptions } from '../../base/check-options.ts';
import { type ErrorData, fromData, PinnaceError } from '../../base/errors.ts';
import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { StandardSchema } from '../../base/agent/standard-schema.ts';
import { parsePartialJson } from './json-text.ts';

/** A value of which parts may not have arrived. */
export type Partially<T> = T extends readonly (infer Item)[] ? readonly Partially<Item>[]
  : T extends object ? { readonly [Name in keyof T]?: Partially<T[Name]> }
  : T;

/** How an answer is read. */
export interface ReadOutputOptions<Input, Output> {
  /** A schema of valibot, zod or another library (Standard Schema): the answer is parsed with it, and has its type. */
  readonly schema?: StandardSchema<Input, Output>;
  /** Is called with what has arrived of the answer so far, which is not checked yet. An answer that is repaired starts again. */
  readonly onPartial?: (partial: Partially<Input>) => void;
}

/**
 * Reads a run's stream to its end, and returns the answer as data.
 *
 * @throws PinnaceError the error that the run ended with; `cancelled`; `conflict` with the reason `output_missing` for a run that has
 * no structured answer, such as one that waits for an approval.
 * @example
 * const stream = await runtime.run({ ...request, output: { schema } }, principal);
 * const { city } = await readOutput<Place>(stream, { onPartial: ({ city }) => show(city) });
 */
export async function readOutput<Output = unknown, Input = Output>(
  stream: ReadableStream<UIMessageChunk>,
  { schema, onPartial }: ReadOutputOptions<Input, Output> = {},
): Promise<Output> {
  checkOptions('read the answer', { stream }, { stream: ['.getReader', 'the stream, such as await runtime.run( … )'] });
  let [text, state] = ['', 'running'];
  let error: ErrorData | undefined;
  let found: { readonly data: unknown } | undefined;
  for await (const chunk of chunksIn(stream)) {
    if (chunk.type === 'start-step' || chunk.type === 'reset-step') text = '';
    if (chunk.type === 'text-delta' && onPartial) {
      text += chunk.delta;
      const partial = parsePartialJson(text);
      if (partial !== undefined) onPartial(partial as Partially<Input>); // not checked, as its type says
    }
    if (chunk.type === 'data-output') found = { data: chunk.data };
    if (chunk.type === 'data-run') ({ state, error } = chunk.data as { state: string; error?: ErrorData }); // ours
  }
  if (error) throw fromData(error);
  if (!found) throw missing(state);
  return schema ? await parseWith(schema, found.data) : found.data as Output; // fits the schema that the caller requested
}

async function* chunksIn(stream: ReadableStream<UIMessageChunk>): AsyncGenerator<UIMessageChunk> {
  const reader = stream.getReader(); // streams of Safari cannot be iterated
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    reader.releaseLock();
  }
}

async function parseWith<Input, Output>(schema: StandardSchema<Input, Output>, data: unknown): Promise<Output> {
  const result = await schema['~standard'].validate(data);
  if (!result.issues) return result.value;
  throw new PinnaceError('unavailable', 'Cannot read the answer of the run: it does not fit the schema given here', {
    details: { reason: 'output_invalid' },
  });
}

function missing(state: string): PinnaceError {
  if (state === 'cancelled') return new PinnaceError('cancelled', 'Cannot read the answer: the run was canceled');
  return new PinnaceError('conflict', `Cannot read the answer: the run ended as "${state}" without one; set "output"`, {
    retryable: false,
    details: { reason: 'output_missing', state },
  });
}
