/** What a model has said in one call, as the message that the next call returns to it. */

import type { TextStreamPart, ToolSet as SdkToolSet } from '../../contracts/ai-types.ts';
import type { ModelMessage } from './model-messages.ts';

type Part = TextStreamPart<SdkToolSet>;
type Content = Extract<ModelMessage, { role: 'assistant' }>['content'];
type Block = Exclude<Content, string>[number] & { type: 'text' | 'reasoning' };
type Metadata = Block['providerOptions'];

/** The message as it comes about. */
export interface TurnContent {
  add(part: Part): void;
  /** The message. Reasoning and metadata are part of it: without them reasoning models refuse the next call. */
  message(): ModelMessage;
}

/** Returns an empty content. */
export function createTurnContent(): TurnContent {
  const content: Exclude<Content, string> = [];
  const open = new Map<string, Block>();
  const start = (type: Block['type'], id: string, metadata: Metadata): void => {
    const block: Block = { type, text: '', ...optionsOf(metadata) };
    open.set(`${type}:${id}`, block);
    content.push(block);
  };
  const extend = (type: Block['type'], id: string, { text = '', metadata }: { text?: string; metadata: Metadata }) => {
    const block = open.get(`${type}:${id}`);
    if (block) Object.assign(block, { text: block.text + text }, optionsOf(metadata));
  };
  return {
    add(part) {
      switch (part.type) {
        case 'text-start':
        case 'reasoning-start':
          return start(blockType(part.type), part.id, part.providerMetadata);
        case 'text-delta':
        case 'reasoning-delta':
          return extend(blockType(part.type), part.id, { text: part.text, metadata: part.providerMetadata });
        case 'text-end':
        case 'reasoning-end':
          return extend(blockType(part.type), part.id, { metadata: part.providerMetadata });
        case 'tool-call':
          content.push(toCallPart(part));
          return;
        case 'custom':
          content.push({ type: 'custom', kind: part.kind, ...optionsOf(part.providerMetadata) });
          return;
        default: // is no part of the answer, or of no use to the model
      }
    },
    message: () => ({ role: 'assistant', content: content.filter((part) => !isEmpty(part)) }),
  };
}

function toCallPart({ toolCallId, toolName, input, ...call }: Extract<Part, { type: 'tool-call' }>) {
  const usable: unknown = call.invalid === true ? {} : input;
  return { type: 'tool-call' as const, toolCallId, toolName, input: usable, ...optionsOf(call.providerMetadata) };
}

/** Providers refuse an empty text, unless it carries metadata. */
function isEmpty(part: Exclude<Content, string>[number]): boolean {
  return part.type === 'text' && part.text === '' && part.providerOptions === undefined;
}

function optionsOf(metadata: Metadata): { readonly providerOptions?: NonNullable<Metadata> } {
  return metadata === undefined ? {} : { providerOptions: metadata };
}

function blockType(type: string): Block['type'] {
  return type.startsWith('text') ? 'text' : 'reasoning';
}
