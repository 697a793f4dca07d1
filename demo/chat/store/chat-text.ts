/** A chat as a text in Markdown, to keep or to send to someone. Inputs and results of tools are left out. */

import { answerText, type AssistantMessage, type Message } from '../state/message.ts';

interface ChatTextOptions {
  readonly title: string;
  readonly agent: string;
  readonly createdAt: number;
  readonly messages: readonly Message[];
}

/** Writes the shown messages. */
export function writeChat({ title, agent, createdAt, messages }: ChatTextOptions): string {
  const head = [`# ${title || 'Untitled'}`, `${agent}, ${new Date(createdAt).toISOString().slice(0, 10)}`];
  const said = messages.flatMap((message) =>
    message.role === 'user'
      ? [
        '## You',
        ...(message.text === '' ? [] : [message.text]),
        ...(message.files?.value ?? []).map(({ name }) => `(File: ${name})`),
      ]
      : [`## ${agent}`, ...callsOf(message), answerText(message) || '(No text)']
  );
  return `${[...head, ...said].join('\n\n')}\n`;
}

/** Returns the file's name: the words of the title. */
export function nameOfChat(title: string): string {
  const words = title.toLowerCase().normalize('NFKD').replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-+|-+$/g, '');
  return `${words.slice(0, 60) || 'chat'}.md`;
}

function callsOf({ parts }: AssistantMessage): readonly string[] {
  const names = parts.value.flatMap((part) =>
    part.type === 'tool' ? [part.call.value.title ?? part.call.value.name] : []
  );
  return names.length === 0 ? [] : [`*Tools: ${names.join(', ')}*`];
}
