/** The worker's side of the browser's own model: a language model of the AI SDK over a port to the page. */

import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  SharedV4Warning,
} from '@ai-sdk/provider';
import { type ErrorData, fromData, PinnaceError } from '../../../src/base/errors.ts';
import { pageGone } from './failures.ts';
import { toMessages } from './messages.ts';
import type { AnswerPiece, GenerateRequest, OfferedTool, TokenCounts, ToPage, ToWorker } from './protocol.ts';

type Controller = ReadableStreamDefaultController<LanguageModelV4StreamPart>;

interface Call {
  readonly piece: (piece: AnswerPiece) => void;
  readonly done: (tokens: TokenCounts) => void;
  readonly failed: (error: ErrorData) => void;
}

/**
 * Returns a model that runs in the browser of the page whose `serveBrowserModel` has the other end of the port. It calls one tool per
 * step. Settings that browsers do not offer, such as `temperature`, become warnings. A call whose page is closed ends as
 * `unavailable`, reason `page_gone`.
 *
 * @example
 * const models = modelSource({ custom: { browser: () => browserModel(port) } });
 */
export function browserModel(port: MessagePort): LanguageModelV4 {
  const calls = new Map<number, Call>();
  let latest = 0;
  let isGone = false;
  const post = (message: ToPage): void => port.postMessage(message);

  port.addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
    const call = calls.get(data.id);
    if (!call) return;
    if (data.type === 'piece') return call.piece(data.piece);
    calls.delete(data.id);
    if (data.type === 'done') call.done(data.tokens);
    else call.failed(data.error);
  });
  port.addEventListener('close', () => {
    isGone = true;
    for (const call of calls.values()) call.failed(pageGone());
    calls.clear();
  });
  port.start();

  function stream(options: LanguageModelV4CallOptions): ReadableStream<LanguageModelV4StreamPart> {
    const { abortSignal } = options;
    abortSignal?.throwIfAborted();
    if (isGone) throw pageGone();
    const id = ++latest;
    const { request, warnings } = requestOf(options);
    const cancel = (): void => {
      calls.delete(id);
      post({ type: 'cancel', id });
    };
    return new ReadableStream({
      start(controller) {
        const onAbort = (): void => {
          cancel();
          controller.error(abortSignal?.reason);
        };
        abortSignal?.addEventListener('abort', onAbort, { once: true });
        const writer = createWriter(controller, () => abortSignal?.removeEventListener('abort', onAbort));
        controller.enqueue({ type: 'stream-start', warnings });
        calls.set(id, writer);
        post({ type: 'generate', id, request });
      },
      cancel,
    });
  }

  return {
    specificationVersion: 'v4',
    provider: 'browser',
    modelId: 'browser',
    supportedUrls: {},
    doStream: (options) => Promise.try(() => ({ stream: stream(options) })),
    doGenerate: (options) => Promise.try(() => collect(stream(options))),
  };
}

function createWriter(controller: Controller, onEnd: () => void): Call {
  let hasText = false;
  let calledTools = 0;
  return {
    piece(piece) {
      if (piece.type === 'tool') {
        calledTools++;
        return writeTool(controller, piece);
      }
      if (!hasText) controller.enqueue({ type: 'text-start', id: 'text' });
      hasText = true;
      controller.enqueue({ type: 'text-delta', id: 'text', delta: piece.text });
    },
    done({ input, output }) {
      onEnd();
      if (hasText) controller.enqueue({ type: 'text-end', id: 'text' });
      controller.enqueue({
        type: 'finish',
        finishReason: { unified: calledTools > 0 ? 'tool-calls' : 'stop', raw: 'stop' },
        usage: {
          inputTokens: { total: input, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
          outputTokens: { total: output, text: undefined, reasoning: undefined },
        },
      });
      controller.close();
    },
    failed(error) {
      onEnd();
      controller.enqueue({ type: 'error', error: fromData(error) });
      controller.close();
    },
  };
}

function writeTool(controller: Controller, { name: toolName, input }: Extract<AnswerPiece, { type: 'tool' }>): void {
  const id = crypto.randomUUID();
  controller.enqueue({ type: 'tool-input-start', id, toolName });
  controller.enqueue({ type: 'tool-input-delta', id, delta: input });
  controller.enqueue({ type: 'tool-input-end', id });
  controller.enqueue({ type: 'tool-call', toolCallId: id, toolName, input });
}

const unsupported = [
  'maxOutputTokens',
  'temperature',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'stopSequences',
  'seed',
] as const;

function requestOf(
  options: LanguageModelV4CallOptions,
): { readonly request: GenerateRequest; readonly warnings: SharedV4Warning[] } {
  const { prompt, tools = [], toolChoice, responseFormat } = options;
  const offered = toolsOf(tools, toolChoice);
  const { messages, unreadable } = toMessages(prompt, offered.length === 0 ? [] : tools);
  const missing: readonly string[] = [
    ...unsupported.filter((name) => options[name] !== undefined),
    ...(unreadable > 0 ? ['files'] : []),
  ];
  return {
    warnings: missing.map((feature) => ({ type: 'unsupported', feature })),
    request: {
      messages,
      tools: offered,
      mustChoose: toolChoice?.type === 'required' || toolChoice?.type === 'tool',
      ...(responseFormat?.type === 'json' && { constraint: responseFormat.schema ?? { type: 'object' } }),
    },
  };
}

function toolsOf(
  tools: NonNullable<LanguageModelV4CallOptions['tools']>,
  choice: LanguageModelV4CallOptions['toolChoice'],
): readonly OfferedTool[] {
  if (choice?.type === 'none') return [];
  return tools.flatMap((tool) => {
    if (tool.type !== 'function' || (choice?.type === 'tool' && choice.toolName !== tool.name)) return [];
    return [{ name: tool.name, inputSchema: tool.inputSchema }];
  });
}

async function collect(parts: ReadableStream<LanguageModelV4StreamPart>): Promise<LanguageModelV4GenerateResult> {
  const content: LanguageModelV4GenerateResult['content'] = [];
  let text = '';
  let warnings: SharedV4Warning[] = [];
  const reader = parts.getReader();
  for (;;) {
    const { done, value: part } = await reader.read();
    if (done) throw new PinnaceError('internal', 'The answer of the browser’s model has no end');
    if (part.type === 'stream-start') ({ warnings } = part);
    if (part.type === 'text-delta') text += part.delta;
    if (part.type === 'tool-call') content.push(part);
    if (part.type === 'error') throw part.error;
    if (part.type !== 'finish') continue;
    if (text !== '') content.unshift({ type: 'text', text });
    return { content, finishReason: part.finishReason, usage: part.usage, warnings };
  }
}
