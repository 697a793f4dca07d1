/** A language model in plain code, to rehearse with: no network, the same answer every time. */

import { checkNames, wrongArgument } from '../../src/base/check-options.ts';
import { estimateTokens, toolTokens } from '../../src/base/text.ts';
import '../../src/base/platform/required-features.ts';
import type { LanguageModel } from '../../src/contracts/ai-types.ts';
import { type Answer, answer } from './rehearsal/answer.ts';
import { type ModelCallOptions, stringify, withLoaded } from './rehearsal/conversation.ts';
import { cutTo, hashOf } from './rehearsal/small-talk.ts';

type StreamResult = Awaited<ReturnType<LanguageModel['doStream']>>;
type GenerateResult = Awaited<ReturnType<LanguageModel['doGenerate']>>;
type Part = StreamResult['stream'] extends ReadableStream<infer P> ? P : never;
type Finish = Extract<Part, { type: 'finish' }>;

/** How the model rehearses. */
export interface RehearsalOptions {
  /** Chooses among texts that are made up; 0 when absent. A call's own seed goes first. */
  readonly seed?: number;
  /**
   * The pause before each word, in milliseconds. When absent, answers come at once and only filler text ("400 words about
   * tides") is paced, with 20 ms. With 0 no timer is set.
   */
  readonly delayMs?: number;
}

const fillerDelayMs = 20;

/**
 * Returns the model. It calls the active tools that the words of the last user message match, fills their inputs by their
 * JSON Schemas, and then reports what they returned. If asked, or without anything to do, it says that it is not an AI model.
 *
 * Where `code_run` is active, several calls of a step become one program, and a message about every item of a list a loop.
 *
 * A call that is spelled out (`call name with {json}`, `/name {json}`) is made unchanged, so that failures can be rehearsed.
 * @example
 * const model = rehearsal({ seed: 7, delayMs: 0 });
 */
export function rehearsal(given: RehearsalOptions = {}): LanguageModel {
  checkNames('create the rehearsal model', given, { seed: true, delayMs: true });
  const { seed = 0, delayMs } = given;
  for (const [name, value] of Object.entries({ seed, delayMs: delayMs ?? 0 })) {
    if (!Number.isFinite(value)) throw wrongArgument('create the rehearsal model', name, `"${name}" must be a number`);
  }
  const stream: LanguageModel['doStream'] = async (options) => {
    options.abortSignal?.throwIfAborted();
    const step = answer(withLoaded(options), seed);
    const pause = delayMs ?? (step.isFiller ? fillerDelayMs : 0);
    return { stream: pacedStream(partsOf(step, options), { delayMs: pause, signal: options.abortSignal }) };
  };
  return {
    specificationVersion: 'v4',
    provider: 'rehearsal',
    modelId: 'rehearsal',
    supportedUrls: {},
    doStream: stream,
    doGenerate: async (options) => contentOf((await stream(options)).stream),
  };
}

/** Returns the parts one by one as they are read, each word after a pause. Errors with the reason of the signal when that aborts. */
function pacedStream(
  parts: readonly Part[],
  { delayMs, signal }: { readonly delayMs: number; readonly signal: AbortSignal | undefined },
): ReadableStream<Part> {
  let next = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ended = new AbortController();
  const stop = (): void => {
    clearTimeout(timer);
    ended.abort();
  };
  return new ReadableStream<Part>({
    start(controller) {
      const onAbort = (): void => (stop(), controller.error(signal?.reason));
      signal?.addEventListener('abort', onAbort, { signal: ended.signal });
    },
    async pull(controller) {
      const part = parts[next++];
      if (part && delayMs > 0 && part.type.endsWith('-delta')) {
        await new Promise<void>((resolve) => timer = setTimeout(resolve, delayMs));
      }
      if (part) controller.enqueue(part);
      if (next < parts.length) return;
      stop();
      controller.close();
    },
    cancel: stop,
  }, { highWaterMark: 0 });
}

/** Returns the parts in order; exactly one, the last, is `finish`. */
function partsOf({ reasoning, text, calls }: Answer, options: ModelCallOptions): readonly Part[] {
  const written = cutTo(text, options.maxOutputTokens ?? Infinity).toWellFormed();
  const isCut = written.length < text.length;
  const made = isCut ? [] : calls;
  return [
    { type: 'stream-start', warnings: [] },
    {
      type: 'response-metadata',
      id: `rehearsal-${hashOf(stringify(options.prompt)).toString(36)}`,
      modelId: 'rehearsal',
    },
    ...block('reasoning', reasoning.toWellFormed()),
    ...block('text', written),
    ...made.map((call) => wrapped(call, options)).flatMap(callParts),
    {
      type: 'finish',
      finishReason: finishReasonOf(isCut, made),
      usage: usageOf({ reasoning, text: written, calls: made }, options),
    },
  ];
}

function block(type: 'text' | 'reasoning', text: string): readonly Part[] {
  if (text === '') return [];
  const id = `${type}-1`;
  const words = text.match(/\s*\S+\s*/gu) ?? [text];
  return [{ type: `${type}-start`, id }, ...words.map((delta): Part => ({ type: `${type}-delta`, id, delta })), {
    type: `${type}-end`,
    id,
  }];
}

/** The call as the runtime takes it: one of a loaded tool, by `tool_call`. */
function wrapped(call: Answer['calls'][number], { tools = [] }: ModelCallOptions): Answer['calls'][number] {
  const names = new Set(tools.map(({ name }) => name));
  if (!names.has('tool_call') || names.has(call.toolName)) return call;
  return {
    ...call,
    toolName: 'tool_call',
    input: `{"name":${JSON.stringify(call.toolName)},"arguments":${call.input}}`,
  };
}

function callParts({ toolCallId, toolName, input }: Answer['calls'][number]): readonly Part[] {
  return [
    { type: 'tool-input-start', id: toolCallId, toolName },
    ...(input.match(/.{1,24}/gsu) ?? []).map((delta): Part => ({ type: 'tool-input-delta', id: toolCallId, delta })),
    { type: 'tool-input-end', id: toolCallId },
    { type: 'tool-call', toolCallId, toolName, input },
  ];
}

function finishReasonOf(isCut: boolean, calls: Answer['calls']): Finish['finishReason'] {
  const reason = isCut ? 'length' : calls.length > 0 ? 'tool-calls' : 'stop';
  return { unified: reason, raw: reason };
}

/** Its prompt as this package estimates prompts, beside which it is shown, and words of its own: it stops after so many words. */
function usageOf({ reasoning, text, calls }: Answer, { prompt, tools = [] }: ModelCallOptions): Finish['usage'] {
  const ofTools = tools.map((tool) =>
    tool.type === 'function' ? toolTokens(tool.name, tool.description, tool.inputSchema) : 0
  );
  const input = estimateTokens(stringify(prompt).length) + ofTools.reduce((sum, tokens) => sum + tokens, 0);
  const thought = countWords(reasoning);
  const said = countWords(text) +
    calls.reduce((sum, { toolName, input: json }) => sum + countWords(`${toolName} ${json}`), 0);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: thought + said, text: said, reasoning: thought },
  };
}

function countWords(text: string): number {
  return text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
}

/** Reads a whole stream at its pace and returns its content. */
async function contentOf(stream: StreamResult['stream']): Promise<GenerateResult> {
  const content: GenerateResult['content'] = [];
  let id = '';
  let said = '';
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const part = next.value;
    if (part.type === 'text-delta' || part.type === 'reasoning-delta') said += part.delta;
    else if (part.type === 'text-end' || part.type === 'reasoning-end') {
      content.push({ type: part.type === 'text-end' ? 'text' : 'reasoning', text: said });
      said = '';
    } else if (part.type === 'tool-call') content.push(part);
    else if (part.type === 'response-metadata') id = part.id ?? '';
    else if (part.type === 'finish') {
      return {
        content,
        finishReason: part.finishReason,
        usage: part.usage,
        warnings: [],
        response: { id, modelId: 'rehearsal' },
      };
    }
  }
  throw new TypeError('The stream ended without a finish');
}
