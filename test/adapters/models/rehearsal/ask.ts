/** Short ways to talk to the rehearsal model. */

import { rehearsal, type RehearsalOptions } from '../../../../adapters/models/rehearsal.ts';
import type { LanguageModel } from '../../../../src/contracts/ai-types.ts';

export type CallOptions = Parameters<LanguageModel['doStream']>[0];
export type Prompt = CallOptions['prompt'];
export type ActiveTool = Extract<NonNullable<CallOptions['tools']>[number], { type: 'function' }>;
export type Part = Awaited<ReturnType<LanguageModel['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;

/** Makes a tool; every property is required unless `required` says which are. */
export function toolOf(
  name: string,
  description: string,
  properties: Record<string, object>,
  required: readonly string[] = Object.keys(properties),
): ActiveTool {
  const inputSchema = { type: 'object', properties, required } as unknown as ActiveTool['inputSchema']; // safe: it is JSON Schema
  return { type: 'function', name, description, inputSchema };
}

export function user(text: string): Prompt[number] {
  return { role: 'user', content: [{ type: 'text', text }] };
}

export async function partsOf(source: ReadableStream<Part>): Promise<Part[]> {
  const parts: Part[] = [];
  const reader = source.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) parts.push(next.value);
  return parts;
}

/** All parts of the answer, at once. */
export async function stream(options: CallOptions, settings: RehearsalOptions = {}): Promise<Part[]> {
  return await partsOf((await rehearsal({ delayMs: 0, ...settings }).doStream(options)).stream);
}

export interface Answer {
  readonly text: string;
  readonly reasoning: string;
  readonly finish: string | undefined;
  readonly calls: readonly { readonly toolName: string; readonly input: string; readonly toolCallId: string }[];
}

/** The answer to a prompt, or to one message. */
export async function ask(
  prompt: Prompt | string,
  tools: readonly ActiveTool[] = [],
  options: Partial<CallOptions> = {},
): Promise<Answer> {
  const messages = typeof prompt === 'string' ? [user(prompt)] : prompt;
  const parts = await stream({ prompt: messages, tools: [...tools], ...options });
  const finish = parts.at(-1);
  return {
    text: parts.map((part) => part.type === 'text-delta' ? part.delta : '').join(''),
    reasoning: parts.map((part) => part.type === 'reasoning-delta' ? part.delta : '').join(''),
    finish: finish?.type === 'finish' ? finish.finishReason.unified : undefined,
    calls: parts.flatMap((part) =>
      part.type === 'tool-call' ? [{ toolName: part.toolName, input: part.input, toolCallId: part.toolCallId }] : []
    ),
  };
}
