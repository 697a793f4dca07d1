/** A model whose answers a test writes. */

import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { wrongArgument } from '../../../src/base/check-options.ts';
import type { LanguageModel } from '../../../src/contracts/ai-types.ts';
import type { ModelSource } from '../../../src/contracts/model-source.ts';

/** One answer of a model: its thoughts, its text, then its tool calls. */
export interface FakeAnswer {
  readonly reasoning?: string;
  /** Several texts are streamed as several parts. */
  readonly text?: string | readonly string[];
  readonly calls?: readonly { readonly tool: string; readonly input: unknown; readonly id?: string }[];
  /** Keeps the answer open after its text, until this settles or the run is stopped. A promise that never settles tests `stop`. */
  readonly until?: Promise<unknown>;
  /** The model fails with this, after its text. */
  readonly error?: unknown;
  /** Tokens that the model reports: 10 in and 5 out when absent. */
  readonly usage?: { readonly input: number; readonly output: number };
}

/** What the model received in one call: `prompt`, `tools` and the call settings of the AI SDK. */
export type FakeRequest = LanguageModelV4CallOptions;

/** An answer, its text alone, or a function of the request. */
export type FakeScript = string | FakeAnswer | ((request: FakeRequest) => string | FakeAnswer);

/** A model with written answers, and the requests that it received. */
export interface FakeModel {
  readonly model: LanguageModel;
  /** For the option `models` of `createRuntime`, and of the endpoints: every provider gets the model. */
  readonly source: ModelSource;
  readonly requests: readonly FakeRequest[];
}

type Part = LanguageModelV4StreamPart;

/**
 * Creates a model that answers its n-th call with the n-th script. A call without a script fails the run: the cause that `onError`
 * receives says how many there are.
 *
 * @example
 * const fake = fakeModel({ calls: [{ tool: 'add', input: { a: 2, b: 3 } }] }, 'It is 5');
 * const runtime = createRuntime({ catalog, models: fake.source, storage: memoryStorage(), tools: [add] });
 */
export function fakeModel(...scripts: readonly FakeScript[]): FakeModel {
  if (scripts.some((script) => Array.isArray(script))) {
    throw wrongArgument(
      'create the fake model',
      'scripts',
      'an answer is an array; pass the answers one by one, as fakeModel("first", "second")',
    );
  }
  const requests: FakeRequest[] = [];
  const model: LanguageModel = {
    specificationVersion: 'v4',
    provider: 'fake',
    modelId: 'fake',
    supportedUrls: {},
    doGenerate: async () => await Promise.reject(new Error('The fake model only streams, as runs do')),
    async doStream(request) {
      const script = scripts[requests.push(request) - 1];
      if (script === undefined) {
        throw new Error(`The fake model has ${scripts.length} answers and was called ${requests.length} times`);
      }
      const answer = typeof script === 'function' ? script(request) : script;
      const parts = partsOf(typeof answer === 'string' ? { text: answer } : answer, request.abortSignal);
      return { stream: streamOf(parts) };
    },
  };
  return { model, source: { model: () => model }, requests };
}

async function* partsOf(answer: FakeAnswer, signal: AbortSignal | undefined): AsyncGenerator<Part, void> {
  const { reasoning, text = [], calls = [], until, usage = { input: 10, output: 5 } } = answer;
  const texts = typeof text === 'string' ? [text] : text;
  yield { type: 'stream-start', warnings: [] };
  if (reasoning !== undefined) {
    yield { type: 'reasoning-start', id: 'r' };
    yield { type: 'reasoning-delta', id: 'r', delta: reasoning };
    yield { type: 'reasoning-end', id: 'r' };
  }
  if (texts.length > 0) yield { type: 'text-start', id: 't' };
  for (const delta of texts) yield { type: 'text-delta', id: 't', delta };
  if (until) await Promise.race([until, aborted(signal)]);
  if ('error' in answer) throw answer.error;
  if (texts.length > 0) yield { type: 'text-end', id: 't' };
  for (const [at, { tool, input, id }] of calls.entries()) {
    yield { type: 'tool-call', toolCallId: id ?? `call-${at}`, toolName: tool, input: JSON.stringify(input) };
  }
  const reason = calls.length > 0 ? 'tool-calls' : 'stop';
  yield {
    type: 'finish',
    finishReason: { unified: reason, raw: reason },
    usage: {
      inputTokens: { total: usage.input, noCache: usage.input, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: usage.output, text: usage.output, reasoning: undefined },
    },
  };
}

function streamOf(parts: AsyncGenerator<Part, void>): ReadableStream<Part> {
  return new ReadableStream<Part>({
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => void await parts.return(),
  }, { highWaterMark: 0 });
}

async function aborted(signal: AbortSignal | undefined): Promise<never> {
  return await new Promise((_, reject) => {
    const stop = (): void => reject(signal?.reason as Error);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
