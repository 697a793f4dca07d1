/** An answer as the parts of a language model's stream. */

import { estimateTokens, toolTokens } from '../../../src/base/estimate-tokens.ts';
import type { LanguageModel } from '../../../src/contracts/ai-types.ts';
import type { Answer, IdentifiedCall } from './answer.ts';
import { type ModelCallOptions, stringify } from './conversation.ts';
import { cutTo } from './prose.ts';
import { hashOf } from './random.ts';

type StreamResult = Awaited<ReturnType<LanguageModel['doStream']>>;
type GenerateResult = Awaited<ReturnType<LanguageModel['doGenerate']>>;
type Finish = Extract<Part, { type: 'finish' }>;

/** One part of the stream. */
export type Part = StreamResult['stream'] extends ReadableStream<infer P> ? P : never;

/** Returns the parts in order; exactly one, the last, is `finish`. */
export function partsOf({ reasoning, text, calls }: Answer, options: ModelCallOptions): readonly Part[] {
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
    ...made.flatMap(callParts),
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

function callParts({ toolCallId, toolName, input }: IdentifiedCall): readonly Part[] {
  return [
    { type: 'tool-input-start', id: toolCallId, toolName },
    ...(input.match(/.{1,24}/gsu) ?? []).map((delta): Part => ({ type: 'tool-input-delta', id: toolCallId, delta })),
    { type: 'tool-input-end', id: toolCallId },
    { type: 'tool-call', toolCallId, toolName, input },
  ];
}

function finishReasonOf(isCut: boolean, calls: readonly IdentifiedCall[]): Finish['finishReason'] {
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
export async function contentOf(stream: StreamResult['stream']): Promise<GenerateResult> {
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
