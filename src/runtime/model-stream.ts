/** Reads the stream of a model: its parts in batches, and its tool calls with their inputs. */

import type { LanguageModelV4StreamPart, LanguageModelV4ToolCall, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { toBase64 } from '../base/base64.ts';
import { PinnaceError } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
import { wellFormed } from '../base/text.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { ModelClock, SilenceLimit } from './run-clock.ts';

/** A stream that is read in batches. */
export interface PartReader<Part> {
  /** Resolves with the parts at hand, at least one; with `undefined` at the end. Rejects when the signal aborts. */
  read(): Promise<readonly Part[] | undefined>;
  /** Stops the stream, without waiting for its source. */
  cancel(): void;
}

/** The most parts of a batch. */
const batchSize = 64;
/** A part that is queued in a stream arrives within this many microtasks. */
const microtasks = 16;

const turn = Promise.resolve();

/** Reads the stream until it ends, or the signal aborts and cancels it. */
export function createPartReader<Part>(stream: ReadableStream<Part>, signal: AbortSignal): PartReader<Part> {
  return new StreamReader(stream, signal);
}

/** One read is under way at most. Its callbacks are made once, not for each part. */
class StreamReader<Part> implements PartReader<Part> {
  readonly #reader: ReadableStreamDefaultReader<Part>;
  readonly #signal: AbortSignal;
  #arrived: Part[] = [];
  #end: { readonly error?: unknown } | undefined;
  #isReading = false;
  /** Turns since the last part arrived. */
  #idle = 0;
  #wake: (() => void) | undefined;

  constructor(stream: ReadableStream<Part>, signal: AbortSignal) {
    this.#reader = stream.getReader();
    this.#signal = signal;
    if (signal.aborted) this.cancel();
    else signal.addEventListener('abort', this.cancel, { once: true });
  }

  readonly cancel = (): void => {
    this.#signal.removeEventListener('abort', this.cancel);
    void this.#reader.cancel(this.#signal.reason).catch(() => undefined);
  };

  async read(): Promise<readonly Part[] | undefined> {
    if (this.#arrived.length === 0) await this.#arrival();
    this.#signal.throwIfAborted(); // a canceled stream ends as if it were complete
    if (this.#arrived.length === 0) return this.#ended();
    for (this.#idle = 0; this.#idle < microtasks && this.#wantsMore(); this.#idle++) {
      this.#next();
      await turn;
    }
    const parts = this.#arrived;
    this.#arrived = [];
    return parts;
  }

  #arrival(): Promise<void> | undefined {
    if (this.#end) return undefined;
    this.#next();
    return new Promise((resolve) => (this.#wake = resolve));
  }

  #ended(): undefined {
    this.#signal.removeEventListener('abort', this.cancel);
    if (this.#end && 'error' in this.#end) throw this.#end.error;
  }

  #wantsMore(): boolean {
    return !this.#end && this.#arrived.length < batchSize;
  }

  #next(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    this.#reader.read().then(this.#take, this.#fail);
  }

  readonly #take = ({ done, value }: ReadableStreamReadResult<Part>): void => {
    this.#isReading = false;
    if (done) this.#end = {};
    else this.#arrived.push(value);
    this.#idle = 0;
    this.#wake?.();
  };

  readonly #fail = (error: unknown): void => {
    this.#end = { error };
    this.#wake?.();
  };
}

/**
 * Returns the function that takes what a model sends, and restarts the time that it may be silent. Each part is a sign of life, also
 * a keep-alive without content (`ping`, `raw`); a `stream-start` is none, because the AI SDK adds it itself.
 */
export function createSilenceWatch(
  clock: Pick<ModelClock, 'received'>,
): (parts: readonly LanguageModelV4StreamPart[]) => void {
  let limit: SilenceLimit = 'firstChunkMs';
  return (parts) => {
    let isAlive = false;
    for (const { type } of parts) {
      isAlive ||= type !== 'stream-start';
      limit = limitAfter(type, limit);
    }
    if (isAlive) clock.received(limit);
  };
}

/** Outside a text or a tool input a model may reason without sending anything. */
function limitAfter(type: LanguageModelV4StreamPart['type'], limit: SilenceLimit): SilenceLimit {
  switch (type) {
    case 'text-start':
    case 'text-delta':
    case 'tool-input-start':
    case 'tool-input-delta':
      return 'chunkMs';
    case 'stream-start':
    case 'response-metadata':
    case 'ping':
    case 'raw':
      return limit;
    default:
      return 'reasoningMs';
  }
}

/** A tool call as the model made it. */
export interface ParsedCall<Tool> {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The parsed input; the text, where it is not JSON. */
  readonly input: unknown;
  readonly providerMetadata?: SharedV4ProviderMetadata | undefined;
  readonly providerExecuted?: boolean | undefined;
  /** What the provider calls its question, for a call that it makes once a person has approved it. */
  readonly providerApprovalId?: string | undefined;
  readonly dynamic?: boolean | undefined;
  /** Absent for calls that the provider executes without asking, and for unknown tools. */
  readonly tool?: Tool | undefined;
  /** Why the call cannot be made. */
  readonly error?: PinnaceError | undefined;
}

/** What a call is read with. */
interface ParseOptions<Tool> {
  readonly find: (name: string) => Tool | undefined;
  /** The error for an unknown name. */
  readonly missing: (name: string) => PinnaceError;
  /** Returns the input as it is meant. */
  readonly meant: (tool: Tool, input: unknown, text: string) => unknown;
  /** Whether the answer has this very call already. */
  readonly isRepeated: boolean;
}

/** Returns the name of the tool that is meant. Servers leave control words of the model behind a name, and words or spaces around it. */
export function calledName(name: string, isTool: (name: string) => boolean): string {
  if (isTool(name)) return name;
  const bare = name.split('<|', 1)[0]!.trim().replace(/^(?:functions?|tools?|default_api)[.:]/, '').replace(
    /:\d+$/,
    '',
  );
  return isTool(bare) ? bare : name;
}

/** Parses a call. A call that cannot be made has an `error`, which the model receives as its result. */
export function parseCall<Tool>(
  { toolCallId, toolName, input: text, providerExecuted, dynamic, providerMetadata }: LanguageModelV4ToolCall,
  { find, missing, meant, isRepeated }: ParseOptions<Tool>,
): ParsedCall<Tool> {
  const isTooLong = text.length > maxInputLength;
  const json = isTooLong ? { ok: false as const } : parseInput(text);
  const call = {
    toolCallId,
    toolName,
    input: json.ok ? json.value : isTooLong ? {} : text,
    ...(providerExecuted !== undefined && { providerExecuted }),
    ...(providerMetadata !== undefined && { providerMetadata }),
  };
  if (providerExecuted === true) {
    return { ...call, ...(dynamic === true && { dynamic }), ...(!json.ok && { error: notJson() }) };
  }
  const tool = find(toolName);
  if (!tool) return { ...call, dynamic: true, error: missing(toolName) };
  if (isRepeated) return { ...call, tool, error: repeated() };
  if (isTooLong) return { ...call, tool, error: inputTooLong() };
  return json.ok ? { ...call, tool, input: meant(tool, json.value, text) } : { ...call, tool, error: notJson() };
}

/** The most text of an input: an event of a run holds it. Tools and their definitions may allow less. */
const maxInputLength = 1_000_000;

function inputTooLong(): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot call the tool: its input is longer than ${maxInputLength}; send it in several calls`,
    { details: { reason: 'input_too_large', inputLength: maxInputLength } },
  );
}

function parseInput(text: string): { readonly ok: true; readonly value: unknown } | { readonly ok: false } {
  if (/^\s*(?:null\s*)?$/.test(text)) return { ok: true, value: {} }; // tools without parameters: some models send `null`
  const once = writtenOnce(text);
  if (once !== undefined) return parseInput(once);
  try {
    // A key that reaches a prototype must not become part of an input; an escape may spell it.
    const isPlain = !/__proto__|constructor|\\u/.test(text);
    const value: unknown = isPlain ? JSON.parse(text) : wellFormed(JSON.parse(text, refuseReservedKey));
    return typeof value === 'string' && /^\s*\{/.test(value) ? parseInput(value) : { ok: true, value }; // encoded twice
  } catch {
    const repaired = repairedJson(text);
    return repaired === undefined || repaired === text ? { ok: false } : parseInput(repaired);
  }
}

/**
 * JSON as models write it where nothing holds them to it: in a fence, with line breaks in its texts, a comma after its last item, or
 * closing marks after its end. `undefined` for what may mean something else.
 */
function repairedJson(given: string): string | undefined {
  const text = /^\s*```(?:json)?\s*([^]*?)(?:```\s*)?$/i.exec(given)?.[1] ?? given.trimStart();
  if (!text.startsWith('{')) return undefined;
  let [json, comma, isText, depth] = ['', '', false, 0];
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (isText) {
      json += char === '\\' ? char + text.charAt(++at) : char < ' ' ? JSON.stringify(char).slice(1, -1) : char;
      isText = char !== '"';
    } else if (char === ',' || (comma !== '' && /\s/.test(char))) comma += char;
    else {
      json += char === '}' || char === ']' ? char : comma + char;
      comma = '';
      isText = char === '"';
      depth += char === '{' || char === '[' ? 1 : char === '}' || char === ']' ? -1 : 0;
      if (depth === 0) return /[{"\w]/.test(text.slice(at + 1).replace(/<[^<>{}]*>/g, '')) ? undefined : json;
    }
  }
  return undefined;
}

/** Gateways begin an input with `{}`, or send it in pieces and then as a whole. */
function writtenOnce(text: string): string | undefined {
  const all = text.trim();
  const half = all.slice(0, all.length / 2);
  if (/^\{\s*\}\s*\{/.test(all)) return all.slice(all.indexOf('}') + 1);
  return all.startsWith('{') && half.endsWith('}') && half + half === all ? half : undefined;
}

function refuseReservedKey(key: string, value: unknown): unknown {
  const reachesPrototype = key === 'constructor' && isRecord(value) && Object.hasOwn(value, 'prototype');
  if (key === '__proto__' || reachesPrototype) throw new SyntaxError('reserved key');
  return value;
}

function notJson(): PinnaceError {
  return new PinnaceError('invalid_argument', 'Cannot call the tool: its input is not JSON', {
    details: { reason: 'input_not_json' },
  });
}

function repeated(): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    'The tool was not called again: another call of this answer has the same id, tool and input',
    {
      details: { reason: 'duplicate_call' },
    },
  );
}

/** A part of the stream, by its type. */
export type StreamPart<Type extends LanguageModelV4StreamPart['type'] = LanguageModelV4StreamPart['type']> = Extract<
  LanguageModelV4StreamPart,
  { type: Type }
>;

/** The chunk of a call that can be made, or the one that says that it cannot. */
export function callChunk(call: ParsedCall<unknown>): UIMessageChunk {
  const { toolCallId, toolName, input, error, dynamic, providerExecuted, providerMetadata } = call;
  const facts = {
    toolCallId,
    toolName,
    input,
    ...(providerExecuted !== undefined && { providerExecuted }),
    ...metadataOf(providerMetadata),
    ...(dynamic === true && { dynamic }),
  };
  return error
    ? { type: 'tool-input-error', ...facts, errorText: error.message }
    : { type: 'tool-input-available', ...facts };
}

/** The chunk that opens the streamed input of a call. */
export function inputStartChunk(part: StreamPart<'tool-input-start'>, isKnown: boolean): UIMessageChunk {
  const { id: toolCallId, toolName, providerExecuted, providerMetadata, dynamic, title, inputEncoding } = part;
  return {
    type: 'tool-input-start',
    toolCallId,
    toolName,
    ...(inputEncoding !== undefined && { inputEncoding }),
    ...(providerExecuted !== undefined && { providerExecuted }),
    ...metadataOf(providerMetadata),
    ...(dynamic === true && !isKnown && { dynamic }),
    ...(title !== undefined && { title }),
  };
}

/** The chunk of a result that the provider's own tool gave. */
export function resultChunk(
  { toolCallId, result, isError, preliminary, dynamic, providerMetadata }: StreamPart<'tool-result'>,
): UIMessageChunk {
  const facts = {
    toolCallId,
    providerExecuted: true,
    ...metadataOf(providerMetadata),
    ...(dynamic === true && { dynamic }),
  };
  if (isError !== true) {
    return { type: 'tool-output-available', ...facts, output: result, ...(preliminary === true && { preliminary }) };
  }
  return {
    type: 'tool-output-error',
    ...facts,
    errorText: typeof result === 'string' ? result : JSON.stringify(result),
  };
}

/** The chunk of a file that the model made. */
export function fileChunk(
  { type, mediaType, data, providerMetadata }: StreamPart<'file' | 'reasoning-file'>,
): UIMessageChunk {
  const url = data.type === 'url' ? data.url.href : `data:${mediaType};base64,${toBase64(data.data)}`;
  return { type, mediaType, url, ...metadataOf(providerMetadata) };
}

/** The chunk of a source that the model used. */
export function sourceChunk(part: StreamPart<'source'>): UIMessageChunk {
  const metadata = metadataOf(part.providerMetadata);
  const { id: sourceId } = part;
  if (part.sourceType === 'url') {
    const { url, title } = part;
    return { type: 'source-url', sourceId, url, ...(title !== undefined && { title }), ...metadata };
  }
  const { mediaType, title, filename } = part;
  return {
    type: 'source-document',
    sourceId,
    mediaType,
    title,
    ...(filename !== undefined && { filename }),
    ...metadata,
  };
}

/** The field of a part's metadata, where it has any. */
export function metadataOf(
  providerMetadata: SharedV4ProviderMetadata | undefined,
): { readonly providerMetadata?: SharedV4ProviderMetadata } {
  return providerMetadata === undefined ? {} : { providerMetadata };
}
