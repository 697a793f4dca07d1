/** Makes the message of a run from its chunks, as clients of the AI SDK do. */

import type { UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';

/** A part while chunks change it; the AI SDK's own types are read-only for most states. */
type Part = { type: string } & Record<string, unknown>;

interface Folding {
  id: string;
  metadata: unknown;
  readonly parts: Part[];
  /** Texts and reasoning without an end, by their kind and id. */
  readonly open: Map<string, Part>;
}

/** Returns the message that the chunks make, after what `base` has already. Parts are never left `streaming`. */
export function foldMessage(chunks: Iterable<UIMessageChunk>, base: UIMessage | undefined): UIMessage {
  const copy = structuredClone(base);
  const folding: Folding = {
    id: copy?.id ?? '',
    metadata: copy?.metadata,
    parts: copy?.parts ?? [],
    open: new Map(),
  };
  for (const chunk of chunks) fold(folding, chunk);
  for (const part of folding.open.values()) part['state'] = 'done';
  const { id, metadata, parts } = folding;
  // Safe: each chunk makes the part that the AI SDK makes of it, which the tests compare.
  return { id, role: 'assistant', ...(metadata !== undefined && { metadata }), parts } as unknown as UIMessage;
}

function fold(folding: Folding, chunk: UIMessageChunk): void {
  switch (chunk.type) {
    case 'start':
      folding.id = chunk.messageId ?? folding.id;
      folding.metadata = merged(folding.metadata, chunk.messageMetadata);
      return;
    case 'finish':
    case 'message-metadata':
      folding.metadata = merged(folding.metadata, chunk.messageMetadata);
      return;
    case 'start-step':
      folding.parts.push({ type: 'step-start' });
      return;
    case 'reset-step':
      return dropStep(folding);
    case 'text-start':
    case 'text-delta':
    case 'text-end':
    case 'reasoning-start':
    case 'reasoning-delta':
    case 'reasoning-end':
      return foldText(folding, chunk);
    case 'file':
    case 'reasoning-file':
    case 'source-url':
    case 'source-document':
    case 'custom':
    case 'steering-message':
      folding.parts.push(defined(chunk));
      return;
    default:
      if ('data' in chunk) foldData(folding, chunk);
      else if ('toolCallId' in chunk) foldCall(folding, chunk);
  }
}

/** An answer that was not what the request wants is written again, as the same step. */
function dropStep({ parts, open }: Folding): void {
  parts.length = parts.findLastIndex(({ type }) => type === 'step-start') + 1;
  open.clear();
}

type TextChunk = Extract<UIMessageChunk, { type: `text-${string}` | `reasoning-${'start' | 'delta' | 'end'}` }>;

function foldText({ parts, open }: Folding, chunk: TextChunk): void {
  const [type = ''] = chunk.type.split('-');
  const key = `${type}\n${chunk.id}`;
  const { providerMetadata } = chunk;
  if (chunk.type.endsWith('-start')) {
    const part: Part = { type, ...(type === 'reasoning' && { id: chunk.id }), text: '', state: 'streaming' };
    open.set(key, part);
    parts.push(part);
  }
  const part = open.get(key);
  if (!part) return;
  if (providerMetadata) part['providerMetadata'] = providerMetadata;
  if ('delta' in chunk) part['text'] = `${String(part['text'])}${chunk.delta}`;
  if (!chunk.type.endsWith('-end')) return;
  if ('citations' in chunk && chunk.citations) part['citations'] = chunk.citations;
  part['state'] = 'done';
  open.delete(key);
}

type DataChunk = Extract<UIMessageChunk, { type: `data-${string}` }>;

/** A run is never stored as running: its closing chunk says how it ended. */
function foldData({ parts }: Folding, { type, id, data, transient }: DataChunk): void {
  const isRunning = type === 'data-run' && (data as { readonly state?: unknown }).state === 'running';
  if (transient || isRunning) return;
  const known = id === undefined ? undefined : parts.find((part) => part.type === type && part['id'] === id);
  if (known) known['data'] = data;
  else parts.push({ type, ...(id !== undefined && { id }), data });
}

type CallChunk = Extract<UIMessageChunk, { toolCallId: string }>;

function foldCall({ parts }: Folding, chunk: CallChunk): void {
  const known = knownCall(parts, chunk);
  const part = known ?? newCall(chunk);
  if (!part) return;
  if (!known) parts.push(part);
  switch (chunk.type) {
    case 'tool-input-start':
      return void Object.assign(part, callFields(chunk), { state: 'input-streaming' });
    case 'tool-input-available':
      return void Object.assign(part, callFields(chunk), { state: 'input-available', input: chunk.input });
    case 'tool-input-error': {
      const { input, errorText } = chunk;
      return void Object.assign(part, callFields(chunk), { state: 'output-error', input, errorText });
    }
    case 'tool-approval-request': {
      const { approvalId: id, approvalDescriptor: descriptor, reason: requestReason, isAutomatic, signature } = chunk;
      const approval = defined({ id, descriptor, requestReason, isAutomatic: isAutomatic || undefined, signature });
      return void Object.assign(part, { state: 'approval-requested', approval });
    }
    case 'tool-output-denied':
      return void Object.assign(part, { state: 'output-denied' });
    case 'tool-output-available': {
      const { output, preliminary } = chunk;
      delete part['preliminary'];
      delete part['errorText'];
      return void Object.assign(part, resultFields(chunk), defined({ state: 'output-available', output, preliminary }));
    }
    case 'tool-output-error':
      delete part['output'];
      return void Object.assign(part, resultFields(chunk), { state: 'output-error', errorText: chunk.errorText });
    default: // partial inputs: the whole input follows
  }
}

/** Logs of earlier versions may use the id of a call again in a later step. */
function knownCall(parts: readonly Part[], chunk: CallChunk): Part | undefined {
  const isOf = (part: Part): boolean => part['toolCallId'] === chunk.toolCallId;
  const last = parts.findLastIndex(isOf);
  const isNew = 'toolName' in chunk && last < parts.findLastIndex(({ type }) => type === 'step-start');
  return isNew && hasEnded(parts[last]) ? undefined : parts[last];
}

function hasEnded(part: Part | undefined): boolean {
  return String(part?.['state']).startsWith('output-') && part?.['preliminary'] !== true;
}

/** A call that starts with this chunk; other chunks about a call that is not there are passed over. */
function newCall(chunk: CallChunk): Part | undefined {
  if (!('toolName' in chunk)) return undefined;
  const { toolCallId, toolName } = chunk;
  const isDynamic = 'dynamic' in chunk && chunk.dynamic;
  return isDynamic ? { type: 'dynamic-tool', toolName, toolCallId } : { type: `tool-${toolName}`, toolCallId };
}

function callFields(chunk: Extract<CallChunk, { toolName: string }>): Record<string, unknown> {
  const { providerExecuted, providerMetadata: callProviderMetadata, toolMetadata } = chunk;
  const title = 'title' in chunk ? chunk.title : undefined;
  return defined({ providerExecuted, callProviderMetadata, title, toolMetadata });
}

function resultFields(
  chunk: Extract<CallChunk, { type: 'tool-output-available' | 'tool-output-error' }>,
): Record<string, unknown> {
  const { providerExecuted, providerMetadata: resultProviderMetadata } = chunk;
  return defined({ providerExecuted, resultProviderMetadata });
}

function defined(fields: object): Part {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Part; // `type` among them, where a part is made
}

function merged(known: unknown, added: unknown): unknown {
  if (added === undefined) return known;
  return typeof known === 'object' && typeof added === 'object' ? { ...known, ...added } : added;
}
