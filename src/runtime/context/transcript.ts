/** Messages as data for the model that summarizes them: one JSON object a line. */

import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { wellFormed } from '../../base/well-formed.ts';
import { originOf } from '../messages/origin.ts';
import { valueTokens } from './estimate.ts';
import { isSummary } from './turns.ts';

type Message = LanguageModelV4Message;
type Part = Exclude<Message['content'], string>[number];

const longestText = 8_192;
const longestOutput = 2_048;

/** Writes the messages, without reasoning and files. Where they take more tokens than `most`, the oldest are left out. */
export function transcriptOf(messages: readonly Message[], most: number): string {
  const lines: string[] = [];
  let tokens = 0;
  for (const message of messages.toReversed()) {
    const line = JSON.stringify(wellFormed(entryOf(message))); // texts are cut by their length
    tokens += valueTokens(line);
    if (tokens > most && !isSummary(message)) continue;
    lines.push(line);
  }
  return lines.toReversed().join('\n');
}

function entryOf(message: Message): object {
  if (isSummary(message)) return { summary: textOf(message).slice(0, longestText) };
  const parts = typeof message.content === 'string' ? [] : message.content;
  const text = textOf(message);
  const calls = parts.flatMap((part) => part.type === 'tool-call' ? [callOf(part)] : []);
  const results = parts.flatMap((part) => part.type === 'tool-result' ? [resultOf(part)] : []);
  return {
    role: originOf(message)?.kind === 'context' ? 'context' : message.role,
    ...(text !== '' && { text: text.slice(0, longestText) }),
    ...(calls.length > 0 && { calls }),
    ...(results.length > 0 && { results }),
  };
}

function textOf({ content }: Message): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => {
    if (part.type === 'text') return [part.text];
    return part.type === 'file' ? [`[${part.filename ?? 'file'}, ${part.mediaType}]`] : [];
  }).join('\n');
}

function callOf({ toolName, input }: Extract<Part, { type: 'tool-call' }>): object {
  return { tool: toolName, input: shortened(input) };
}

function resultOf({ toolName, output }: Extract<Part, { type: 'tool-result' }>): object {
  const value = output.type === 'content'
    ? output.value.map((item) => item.type === 'text' ? item.text : `[${item.type}]`)
    : 'value' in output
    ? output.value
    : output.type;
  return { tool: toolName, output: shortened(value) };
}

/** JSON as it is where it is short, else the start of its text. */
function shortened(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value) ?? '';
  return text.length <= longestOutput ? value : `${text.slice(0, longestOutput)}…`;
}
