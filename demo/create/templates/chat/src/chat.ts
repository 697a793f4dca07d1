/** The chats of this page. They are stored in `localStorage`, so that a reload shows them. */

import { Chat } from '@ai-sdk/react';
import { lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { withStoredFiles } from 'pinnace/transport/client';
import { type Message, transport } from './transport.ts';

export interface ChatEntry {
  id: string;
  /** The start of its first message. */
  title: string;
}

/** The chats, newest first. */
export function listChats(): ChatEntry[] {
  return read<ChatEntry[]>('chats') ?? [];
}

export function storeChats(chats: ChatEntry[]): void {
  localStorage.setItem('chats', JSON.stringify(chats));
}

/** Created once, outside of components: an answer goes on while the person reads another chat. */
const open = new Map<string, Chat<Message>>();

export function openChat(id: string): Chat<Message> {
  const known = open.get(id);
  if (known) return known;
  const messages = read<Message[]>(`chat:${id}`) ?? [];
  const chat = new Chat<Message>({
    id,
    transport,
    messages,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    onFinish: ({ messages }) => storeMessages(id, messages),
  });
  open.set(id, chat);
  if (messages.length > 0) void chat.resumeStream(); // joins a run that is under way
  return chat;
}

/** Stores the messages. Attached files are stored by the agent; messages name them. */
export function storeMessages(id: string, messages: Message[]): void {
  if (open.has(id)) localStorage.setItem(`chat:${id}`, JSON.stringify(withStoredFiles(messages)));
}

/** Stops its run, and removes its messages. */
export async function deleteChat(id: string): Promise<void> {
  const chat = open.get(id);
  open.delete(id);
  localStorage.removeItem(`chat:${id}`);
  await chat?.stop();
}

function read<T>(key: string): T | undefined {
  const text = localStorage.getItem(key);
  return text === null ? undefined : JSON.parse(text) as T; // only this module writes it
}
