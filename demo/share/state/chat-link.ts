/** A chat as a link, and a chat from a link. */

import * as v from 'valibot';
import { visible } from '../../../src/base/text.ts';
import { type Chat, createChat, titleOf } from '../../chat/state/chat.ts';
import { createAnswer, createTextPart, createToolPart, type Message, type Part } from '../../chat/state/message.ts';
import { SharedChat, type SharedMessage, type SharedPart, withoutHidden } from './shared-chat.ts';
import { packLink, unpackLink } from './packed-link.ts';
import { signal } from '@preact/signals';

/** The longest link that is offered, in characters: longer ones are cut by mail programs and messengers. */
export const longestChatLink = 8_192;

/** The prefix of the chat in an address. */
export const chatMark = '#chat=';

/** Returns the link to `page`, however long it is. */
export function toChatLink(chat: SharedChat, page: string): Promise<string> {
  return packLink(chatMark, chat, page);
}

/** A chat that came by a link. */
export interface ReadChat {
  readonly chat: SharedChat;
  /** How many characters were removed that hide or reorder text. */
  readonly hidden: number;
}

/**
 * Reads a link.
 *
 * @throws Error for a text that is no such link, is too long, or holds something else; the message completes a sentence.
 */
export async function fromChatLink(hash: string): Promise<ReadChat> {
  const value = await unpackLink(chatMark, hash, 'chat');
  if (versionOf(value) > 1) throw new Error('a newer version of this page created it; reload this page and try again');
  const read = v.safeParse(SharedChat, value);
  if (!read.success) throw new Error(`it contains no chat that this page can show${placeOf(read.issues[0])}`);
  let hidden = 0;
  const clean = (text: string): string => {
    const shown = withoutHidden(text);
    hidden += shown.hidden;
    return shown.text;
  };
  const { title, agent, messages, ...rest } = read.output;
  const chat = {
    ...rest,
    title: visible(clean(title)),
    agent: { id: agent.id, name: visible(clean(agent.name)) },
    messages: messages.map((message) => cleanMessage(message, clean)),
  };
  return { chat, hidden };
}

function versionOf(value: unknown): number {
  const version: unknown = typeof value === 'object' && value !== null && 'formatVersion' in value &&
    value.formatVersion;
  return typeof version === 'number' ? version : 0;
}

function placeOf({ path }: v.BaseIssue<unknown>): string {
  const keys = path?.map(({ key }) => String(key)).filter((key) => /^\w{1,20}$/.test(key)) ?? [];
  return keys.length === 0 ? '' : ` (${keys.join('.')})`;
}

type Clean = (text: string) => string;

function cleanMessage(message: SharedMessage, clean: Clean): SharedMessage {
  if (message.role === 'assistant') {
    const parts = message.parts.map((part) => cleanPart(part, clean));
    return { ...message, model: visible(clean(message.model)), parts };
  }
  const files = message.files?.map((file) => visible(clean(file)));
  return { ...message, text: clean(message.text), ...(files && { files }) };
}

function cleanPart(part: SharedPart, clean: Clean): SharedPart {
  if (part.type !== 'tool') return { ...part, text: clean(part.text) };
  const { input, output } = part;
  return {
    ...part,
    title: visible(clean(part.title)),
    ...(input !== undefined && { input: clean(input) }),
    ...(output !== undefined && { output: clean(output) }),
  };
}

interface KeepOptions {
  readonly agentId: string;
  readonly now: number;
  readonly createId: () => string;
}

/** Returns the chat with ids of its own. Its calls are shown and not sent to models: they were made elsewhere, or never. */
export function chatFrom({ title, messages }: SharedChat, { agentId, now, createId }: KeepOptions): Chat {
  const chat = createChat({ id: createId(), agentId, title: titleOf(title), createdAt: now, updatedAt: now });
  chat.all.value = messages.map((message) => messageFrom(message, { now, createId }));
  return chat;
}

function messageFrom(message: SharedMessage, { now, createId }: Omit<KeepOptions, 'agentId'>): Message {
  const id = createId();
  if (message.role === 'user') {
    const files = message.files?.map((name) => ({ name, mediaType: '', size: 0, url: '' }));
    return { role: 'user', id, text: message.text, ...(files && { files: signal(files) }) };
  }
  const answer = createAnswer({ id, model: message.model, startedAt: now, via: undefined, after: undefined });
  answer.parts.value = message.parts.map((part) => partFrom(part, { now, createId }));
  answer.outcome.value = message.stopped
    ? { type: 'stopped', by: 'person', endedAt: now }
    : { type: 'done', endedAt: now };
  return answer;
}

function partFrom(part: SharedPart, { now, createId }: Omit<KeepOptions, 'agentId'>): Part {
  if (part.type === 'text') return createTextPart('text', { text: part.text, done: true });
  if (part.type === 'steering') return { type: 'steering', id: createId(), text: part.text };
  const { title, state, input = '', output } = part;
  const call = { name: title, title, dynamic: true, state, startedAt: now, ...(output !== undefined && { output }) };
  return createToolPart(createId(), call, { inputText: input });
}
