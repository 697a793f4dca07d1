/** The parts of a model's stream as UI message chunks, the wire format of the AI SDK. */

import type { LanguageModelV4StreamPart, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { toBase64 } from '../../base/base64.ts';
import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { ParsedCall } from './parse-call.ts';

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
