/** The chats of this page. Messages are stored in `localStorage`, so that a reload shows them. */

import { Chat } from '@ai-sdk/react';
import { lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { withStoredFiles } from 'pinnace/transport/client';
import { type Message, transport } from './transport.ts';

/** Opens the newest chat. Created once, so that no render and no unmount stops its run. */
export function openChat(
  id = localStorage.getItem('chat') ?? crypto.randomUUID(),
): Chat<Message> {
  localStorage.setItem('chat', id);
  const messages = JSON.parse(
    localStorage.getItem(`chat:${id}`) ?? '[]',
  ) as Message[];
  return new Chat<Message>({
    id,
    transport,
    messages,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
}

/** Stores the messages. Attached files are stored by the agent; messages name them. */
export function storeMessages(
  { id }: Chat<Message>,
  messages: Message[],
): void {
  localStorage.setItem(`chat:${id}`, JSON.stringify(withStoredFiles(messages)));
}
