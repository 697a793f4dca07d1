/** The AI SDK's types that Pinnace speaks: erased when compiled, so the SDK itself is loaded by `runtime/run.ts` alone. */

export type { ChatTransport, JSONValue, TextStreamPart, ToolSet, UIMessage, UIMessageChunk } from 'ai';
export type { LanguageModelV4 as LanguageModel } from '@ai-sdk/provider';
