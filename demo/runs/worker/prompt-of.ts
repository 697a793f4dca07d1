/** What a model is called with, as data to look at. */

import type { LanguageModel } from '../../../src/contracts/ai-types.ts';
import type { Prompt, PromptMessage, PromptPart } from '../../control/runs-control.ts';

export type CallOptions = Parameters<LanguageModel['doStream']>[0];

type Message = CallOptions['prompt'][number];
type Part = Exclude<Message['content'], string>[number];

/** What is not worth looking at, or is shown elsewhere. */
const unshown = new Set(['prompt', 'tools', 'abortSignal', 'headers', 'includeRawChunks']);

/** Returns the prompt. Files are named, not held. */
export function promptOf(options: CallOptions, { spanId, model }: Pick<Prompt, 'spanId' | 'model'>): Prompt {
  const settings = Object.entries(options).filter(([name, value]) => !unshown.has(name) && value !== undefined);
  return {
    spanId,
    model,
    messages: options.prompt.map(toMessage),
    tools: (options.tools ?? []).map((tool) =>
      tool.type === 'function'
        ? { name: tool.name, description: tool.description ?? '', input: tool.inputSchema }
        : { name: tool.name, description: 'A tool of the provider', input: asJson(tool.args) }
    ),
    settings: Object.fromEntries(settings.map(([name, value]) => [name, asJson(value)])),
  };
}

function toMessage({ role, content }: Message): PromptMessage {
  return { role, parts: typeof content === 'string' ? [{ type: 'text', text: content }] : content.map(toPart) };
}

function toPart(part: Part): PromptPart {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, text: part.text };
    case 'tool-call':
      return { type: 'call', tool: part.toolName, toolCallId: part.toolCallId, input: asJson(part.input) };
    case 'tool-result':
      return { type: 'result', tool: part.toolName, toolCallId: part.toolCallId, output: asJson(part.output) };
    case 'file':
      return { type: 'file', mediaType: part.mediaType };
    default:
      return { type: 'other', value: { type: part.type } };
  }
}

/** A copy, for what is handed to a model may be changed later. What JSON does not know is left out. */
function asJson(value: unknown): unknown {
  return value === undefined ? null : JSON.parse(JSON.stringify(value) ?? 'null') as unknown;
}
