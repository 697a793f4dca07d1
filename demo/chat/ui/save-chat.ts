/** Saves a chat as a file. */

import { agentOf, type Playground } from '../../app/state/playground.ts';
import { saveFile } from '../../kit/save-file.ts';
import type { Chat } from '../state/chat.ts';
import { nameOfChat, writeChat } from '../store/chat-text.ts';

/** Saves the shown messages. A chat that was not read yet is opened. */
export async function saveChat(chat: Chat, { chats, agents }: Playground): Promise<void> {
  if (chat.loaded.value === 'absent') await chats.open(chat.id);
  const text = writeChat({
    title: chat.title.value,
    agent: agentOf(agents, chat.agentId.value).name,
    createdAt: chat.createdAt,
    settings: chat.settings.value,
    messages: chat.messages.value,
  });
  saveFile(new Blob([text], { type: 'text/markdown' }), nameOfChat(chat.title.value));
}
