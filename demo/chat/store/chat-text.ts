/** A chat as a text in Markdown, to keep or to send to someone. Inputs and results of tools are left out. */

import type { ChatSettings } from '../state/chat-settings.ts';
import { answerText, type AssistantMessage, type Message } from '../state/message.ts';

interface ChatTextOptions {
  readonly title: string;
  readonly agent: string;
  readonly createdAt: number;
  readonly settings: ChatSettings;
  readonly messages: readonly Message[];
}

/** Writes the shown messages. */
export function writeChat({ title, agent, createdAt, settings, messages }: ChatTextOptions): string {
  const date = new Date(createdAt).toISOString().slice(0, 10);
  const head = [`# ${title || 'Untitled'}`, `${agent}, ${date}`, ...settingsText(settings)];
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

function settingsText({ instructions, temperature, topP, outputTokens, model }: ChatSettings): readonly string[] {
  const set = [
    ...(temperature === undefined ? [] : [`temperature ${temperature}`]),
    ...(topP === undefined ? [] : [`top P ${topP}`]),
    ...(outputTokens === undefined ? [] : [`at most ${outputTokens} output tokens`]),
    ...(model === undefined ? [] : [`model ${model.id}`]),
  ];
  return [
    ...(set.length === 0 ? [] : [`Settings: ${set.join(', ')}`]),
    ...(instructions === undefined ? [] : ['System prompt:', instructions.replaceAll(/^/gm, '> ')]),
  ];
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
