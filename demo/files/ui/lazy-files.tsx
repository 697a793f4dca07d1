import type { Chat } from '../../chat/state/chat.ts';
import { lazy } from '../../kit/lazy.tsx';

const load = () => import('./files.tsx');

/** Files of a message, fetched with the first. */
export const Files = lazy(async () => (await load()).Files);

/** Files of the message that is being written, fetched with the first. */
export const DraftFiles = lazy(async () => (await load()).DraftFiles);

/** Checks files and adds them to the message that is being written. */
export async function attach(chat: Chat, files: readonly File[]): Promise<void> {
  await (await load()).attach(chat, files);
}

/** Adds a text as a file. Returns whether it fits. */
export async function attachText(chat: Chat, text: string): Promise<boolean> {
  return await (await load()).attachText(chat, text);
}
