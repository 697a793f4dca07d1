/** The message that a client makes of chunks, as the AI SDK's reader folds them; without what is for the screen alone. */

import type { UIMessage, UIMessageChunk } from '../../contracts/ai-types.ts';

type Part = UIMessage['parts'][number];
type Draft = { type: string; [field: string]: unknown };

/** Returns the message with the chunks folded into it. */
export function foldChunks(message: UIMessage, chunks: readonly UIMessageChunk[]): UIMessage {
  const parts: Draft[] = message.parts.map((part) => ({ ...part }));
  const blocks = new Map<string, Draft>();
  for (const chunk of chunks) fold(chunk, parts, blocks);
  return { ...message, parts: parts as unknown as Part[] }; // of the types that the chunks say
}

function fold(chunk: UIMessageChunk, parts: Draft[], blocks: Map<string, Draft>): void {
  switch (chunk.type) {
    case 'text-start':
    case 'reasoning-start':
      return foldStart(chunk, parts, blocks);
    case 'text-delta':
    case 'reasoning-delta': {
      const block = blocks.get(blockKey(chunk));
      if (block) block['text'] = `${String(block['text'])}${chunk.delta}`;
      return;
    }
    case 'text-end':
    case 'reasoning-end': {
      const block = blocks.get(blockKey(chunk));
      if (block) block['state'] = 'done';
      return;
    }
    case 'start-step':
      parts.push({ type: 'step-start' });
      return;
    case 'file':
    case 'reasoning-file':
    case 'custom':
    case 'source-url':
    case 'source-document':
    case 'steering-message':
      parts.push({ ...chunk });
      return;
    case 'tool-input-start':
    case 'tool-input-available':
    case 'tool-input-error':
      return foldInput(chunk, parts);
    default:
      foldOther(chunk, parts);
  }
}

function foldStart(
  chunk: Extract<UIMessageChunk, { type: 'text-start' | 'reasoning-start' }>,
  parts: Draft[],
  blocks: Map<string, Draft>,
): void {
  const block: Draft = { type: typeOf(chunk), text: '', state: 'streaming' };
  blocks.set(blockKey(chunk), block);
  parts.push(block);
}

type InputChunk = Extract<
  UIMessageChunk,
  { type: 'tool-input-start' | 'tool-input-available' | 'tool-input-error' }
>;

/** A call is found in its step: models use an id again in a later one. */
function foldInput(chunk: InputChunk, parts: Draft[]): void {
  const { toolCallId, toolName } = chunk;
  const from = parts.findLastIndex(({ type }) => type === 'step-start');
  const known = parts.findLast((part, i) => i > from && part['toolCallId'] === toolCallId) ??
    parts.findLast((part) => part['toolCallId'] === toolCallId && !hasEnded(part));
  const part: Draft = known ?? { type: '', toolCallId };
  if (!known) parts.push(part);
  const name = chunk.dynamic === true ? { type: 'dynamic-tool', toolName } : { type: `tool-${toolName}` };
  const executed = chunk.providerExecuted === undefined ? {} : { providerExecuted: chunk.providerExecuted };
  if (chunk.type === 'tool-input-start') Object.assign(part, name, executed, { state: 'input-streaming' });
  else Object.assign(part, name, executed, { input: chunk.input, state: 'input-available' });
  if (chunk.type === 'tool-input-error') Object.assign(part, { state: 'output-error', errorText: chunk.errorText });
}

function foldOther(chunk: UIMessageChunk, parts: Draft[]): void {
  if (chunk.type.startsWith('data-') && 'data' in chunk) {
    if ('transient' in chunk && chunk.transient) return;
    const id = 'id' in chunk ? chunk.id : undefined;
    const known = id === undefined ? undefined : parts.find((part) => part.type === chunk.type && part['id'] === id);
    if (known) known['data'] = chunk.data;
    else parts.push({ ...chunk });
    return;
  }
  if (!('toolCallId' in chunk)) return;
  const part = parts.findLast(({ toolCallId }) => toolCallId === chunk.toolCallId);
  if (!part) return;
  if (chunk.type === 'tool-output-available') {
    const { output, preliminary } = chunk;
    Object.assign(part, { state: 'output-available', output, ...(preliminary === true && { preliminary }) });
    if (preliminary !== true) delete part['preliminary'];
    delete part['errorText'];
  } else if (chunk.type === 'tool-output-error') {
    Object.assign(part, { state: 'output-error', errorText: chunk.errorText });
    delete part['output'];
  } else if (chunk.type === 'tool-output-denied') part['state'] = 'output-denied';
}

function hasEnded({ state }: Draft): boolean {
  return state === 'output-available' || state === 'output-error' || state === 'output-denied';
}

function blockKey(chunk: { readonly type: string; readonly id: string }): string {
  return `${typeOf(chunk)}\n${chunk.id}`;
}

function typeOf({ type }: { readonly type: string }): string {
  return type.slice(0, type.indexOf('-'));
}
