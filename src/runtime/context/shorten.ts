/** Shortens old messages: outputs of tools become a line, and reasoning is left out. No call loses its result. */

import type { LanguageModelV4Message, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import { originOf, withOrigin } from '../messages/origin.ts';
import { outputTokens } from './estimate.ts';
import { currentTurn, isPinned } from './turns.ts';

type Message = LanguageModelV4Message;

const leftOut = 'The output was left out to save space. Call the tool again if it is needed.';
/** Shorter outputs stay. */
const leastTokens = 64;

/**
 * Returns the prompt with all outputs and reasoning before the current turn shortened, and in that turn all outputs but the newest
 * `fullResults` messages of them. Reasoning of the current turn stays: reasoning models need it back.
 */
export function shorten(prompt: readonly Message[], { fullResults }: { readonly fullResults: number }): Message[] {
  const current = currentTurn(prompt);
  const results = prompt.flatMap(({ role }, at) => role === 'tool' ? [at] : []);
  const newest = Math.max(current, results.at(-fullResults) ?? 0);
  return prompt.flatMap((message, at) => {
    if (isPinned(message)) return [message];
    if (message.role === 'tool') return [at < newest ? withoutOutputs(message) : message];
    return message.role === 'assistant' && at < current ? withoutReasoning(message) : [message];
  });
}

function withoutOutputs(message: Extract<Message, { role: 'tool' }>): Message {
  const content = message.content.map((part) => part.type === 'tool-result' ? withoutOutput(part) : part);
  if (content.every((part, at) => part === message.content[at])) return message;
  return withOrigin({ ...message, content }, originOf(message));
}

function withoutOutput(part: LanguageModelV4ToolResultPart): LanguageModelV4ToolResultPart {
  if (outputTokens(part.output) < leastTokens) return part;
  return { ...part, output: { type: 'text', value: leftOut } };
}

function withoutReasoning(message: Extract<Message, { role: 'assistant' }>): readonly Message[] {
  const content = message.content.filter(({ type }) => type !== 'reasoning' && type !== 'reasoning-file');
  if (content.length === message.content.length) return [message];
  return content.length === 0 ? [] : [withOrigin({ ...message, content }, originOf(message))];
}
