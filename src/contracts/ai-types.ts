/** The AI SDK's types that Pinnace uses. They are erased when compiled: the core loads nothing of the SDK. */

import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider';

export type { ChatTransport, JSONValue, ModelMessage, UIMessage, UIMessageChunk } from 'ai';
export type { LanguageModelV4 as LanguageModel } from '@ai-sdk/provider';

/** A language model of the AI SDK, of any specification that runs can call. The name of a model is none. */
export type AnyLanguageModel = LanguageModelV2 | LanguageModelV3 | LanguageModelV4;
