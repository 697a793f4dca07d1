/** Reads the structured answer of a run from its stream. */

import { checkNames, checkOptions, optional } from '../base/check-options.ts';
import { type ErrorData, fromData, PinnaceError } from '../base/errors.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { StandardSchema } from '../base/model-settings.ts';

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
  options: ReadOutputOptions<Input, Output> = {},
): Promise<Output> {
  checkNames('read the answer', options, optional('schema', 'onPartial'));
  const { schema, onPartial } = options;
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

/** A block of code, whose fence may still be open. */
const fenced = /```[ \t]*(?:[a-z0-9+-]*[ \t]*\n|json[5c]?\b)?([\s\S]*?)(?:```|$)/gi;

/**
 * Returns the texts that may be the JSON of an answer, the most likely first: all of it, what follows its thoughts, its blocks of code
 * from the last on, and what is between its outermost braces or brackets.
 */
export function jsonCandidates(text: string): readonly string[] {
  const said = withoutThoughts(text);
  const blocks = [...said.matchAll(fenced)].map(([, block = '']) => block.trim());
  const [open = '{', close = '}'] = said.search(/[{[]/) === said.indexOf('[') ? '[]' : '{}';
  const [inner = '{', end = '}'] = open === '{' ? '[]' : '{}';
  const found = [said, ...blocks.toReversed(), outermost(said, open, close), outermost(said, inner, end)];
  return [...new Set([text.trim(), ...found.filter((candidate) => candidate !== '')])];
}

function outermost(text: string, open: string, close: string): string {
  const start = text.indexOf(open);
  return start < 0 ? '' : text.slice(start, text.lastIndexOf(close) + 1);
}

/** Reasoning models on servers without a field for it write their thoughts first; some servers remove the opening tag. */
function withoutThoughts(text: string): string {
  const ends = [...text.matchAll(/<\/(?:think|thinking|thought|reasoning)>/gi)];
  const last = ends.at(-1);
  if (last) return text.slice(last.index + last[0].length).trim();
  return text.replace(/^\s*<(?:think|thinking|thought|reasoning)>[\s\S]*$/i, '').trim();
}

/** The JSON that a text has begun with: without thoughts, words and an opening fence before it, which may all be still open. */
function startedJson(text: string): string {
  const said = /^\s*[{["]/.test(text) ? text.trim() : withoutThoughts(text);
  if (/^["{[\d-]|^(?:t|f|n)[a-z]*$/.test(said)) return said;
  const [block] = [...said.matchAll(fenced)].map(([, inside = '']) => inside.trim());
  if (block !== undefined) return block;
  const start = said.search(/[{[]/);
  return start < 0 ? '' : said.slice(start);
}

/**
 * Returns the value of JSON text that is cut off: with what is complete of it, and with the last text as far as it goes. `undefined`
 * where nothing can be read yet.
 */
export function parsePartialJson(text: string): unknown {
  const json = startedJson(text);
  const { whole, boundary } = closings(json);
  const value = tryParse(whole);
  return value === undefined ? tryParse(boundary) : value;
}

/** The text closed at its end, and closed at the last place behind which nothing is open but arrays and objects. */
function closings(json: string): { readonly whole: string; readonly boundary: string } {
  const open: string[] = [];
  let boundary = '';
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const char = json.charAt(at);
    if (isText) {
      if (char === '\\') at++;
      else if (char === '"') isText = false;
      continue;
    }
    if (char === '"') isText = true;
    else if (char === '{' || char === '[') open.push(char === '{' ? '}' : ']');
    else if (char === '}' || char === ']') open.pop();
    else if (char !== ',') continue;
    if (!isText) boundary = json.slice(0, char === ',' ? at : at + 1) + open.toReversed().join('');
  }
  const end = isText ? `${json.replace(/\\(?:u[\da-f]{0,3})?$/i, '')}"` : json;
  return { whole: end + open.toReversed().join(''), boundary };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
