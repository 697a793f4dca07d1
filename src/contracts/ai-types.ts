/** The AI SDK's types that Pinnace uses. They are erased when compiled: the core loads nothing of the SDK. */

export type { ChatTransport, JSONValue, ModelMessage, UIMessage, UIMessageChunk } from 'ai';
export type { LanguageModelV4 as LanguageModel } from '@ai-sdk/provider';
