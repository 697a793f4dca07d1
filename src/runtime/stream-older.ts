/** Streams answers of models of the specifications v2 and v3 as those of v4. Loaded with the first call of such a model. */

import type {
  LanguageModelV2,
  LanguageModelV2StreamPart,
  LanguageModelV3,
  LanguageModelV3StreamPart,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';

/** Calls the model. */
export async function streamOlder(
  model: LanguageModelV2 | LanguageModelV3,
  options: LanguageModelV4CallOptions,
): Promise<LanguageModelV4StreamResult> {
  // Both older prompts are subsets of today's, apart from how files are wrapped.
  const { stream, ...rest } = await model.doStream(toOlder(options) as never);
  const toV4 = model.specificationVersion === 'v2' ? fromV2 : fromV3;
  const transform = new TransformStream<unknown, LanguageModelV4StreamPart>({
    transform: (part, controller) => controller.enqueue(toV4(part as never)), // safe: its version's
  });
  return { ...rest, stream: (stream as ReadableStream<unknown>).pipeThrough(transform) };
}

function toOlder({ reasoning: _, ...options }: LanguageModelV4CallOptions): unknown {
  return { ...options, prompt: options.prompt.map(olderMessage) };
}

function olderMessage(message: LanguageModelV4Prompt[number]): unknown {
  if (message.role === 'system') return message;
  return { ...message, content: message.content.map(olderPart) };
}

type Part = Exclude<LanguageModelV4Prompt[number], { role: 'system' }>['content'][number];

function olderPart(part: Part): unknown {
  if (part.type === 'file') return { ...part, data: bareData(part.data) };
  if (part.type !== 'tool-result' || part.output.type !== 'content') return part;
  return { ...part, output: { ...part.output, value: part.output.value.map(olderBlock) } };
}

type FileData = Extract<Part, { type: 'file' }>['data'];

function bareData(data: FileData): unknown {
  if (data.type === 'data') return data.data;
  return data.type === 'url' ? data.url : data;
}

type Block = Extract<Extract<Part, { type: 'tool-result' }>['output'], { type: 'content' }>['value'][number];

function olderBlock(block: Block): unknown {
  if (block.type !== 'file') return block;
  const { data, mediaType, filename, providerOptions } = block;
  if (data.type === 'data') return { type: 'file-data', data: data.data, mediaType, filename, providerOptions };
  return data.type === 'url' ? { type: 'file-url', url: String(data.url), providerOptions } : block;
}

function fromV3(part: LanguageModelV3StreamPart): LanguageModelV4StreamPart {
  if (part.type === 'file') return { ...part, data: { type: 'data', data: part.data } };
  return part;
}

function fromV2(part: LanguageModelV2StreamPart): LanguageModelV4StreamPart {
  if (part.type === 'file') return { ...part, data: { type: 'data', data: part.data } };
  if (part.type !== 'finish') return part as LanguageModelV4StreamPart; // every other part of v2 is one of v4
  const { finishReason, usage, ...rest } = part;
  return {
    ...rest,
    // v2 has no raw reason; without one, `other` would look like a stream that was cut.
    finishReason: { unified: finishReason === 'unknown' ? 'other' : finishReason, raw: finishReason },
    usage: {
      inputTokens: {
        total: usage.inputTokens,
        noCache: undefined,
        cacheRead: usage.cachedInputTokens,
        cacheWrite: undefined,
      },
      outputTokens: { total: usage.outputTokens, text: undefined, reasoning: usage.reasoningTokens },
    },
  };
}
