/** The stored chats of a runtime. Their code is loaded on first use. */

import { loadOnce } from '../../base/load-once.ts';
import type { HostedRuntime } from '../runtime.ts';
import type { RuntimeParts } from '../runtime-options.ts';
import type { Chats } from './chat.ts';

/** Loads the code of stored chats. */
export const loadChats = /* @__PURE__ */ loadOnce(() => import('./open-chats.ts'));

/** Creates the stored chats of a runtime. */
export function createChats(parts: RuntimeParts, { guard }: Pick<HostedRuntime, 'guard'>): Chats {
  return {
    async list(principal, { subject, ...page } = {}) {
      const { listChats, ownerOf } = await loadChats();
      return await listChats(parts, ownerOf(principal, 'run:read', { subject }), { ...page, principal });
    },
    async get(chatId, principal, { subject, ...page } = {}) {
      const { getChat, ownerOf } = await loadChats();
      return await getChat(parts, ownerOf(principal, 'run:read', { subject }), { ...page, chatId, principal });
    },
    async rename(chatId, input, principal, { subject, trace } = {}) {
      const { ownerOf, parseRename, renameChat, requireChat } = await loadChats();
      const owner = ownerOf(principal, 'run:create', { subject });
      const change = parseRename(input);
      await requireChat(parts, owner, { chatId, principal }); // no event repeats an unknown id
      const facts = { action: 'chat.rename', target: { type: 'chat', id: chatId } };
      return await guard({ ...facts, principal, trace, attempt: 'Cannot rename the chat' }, async (at) => {
        const renamed = await renameChat(parts, owner, { chatId, principal, change });
        at.emit({ ...facts, status: 'ok' });
        return renamed;
      });
    },
    async delete(chatId, principal, { subject, trace } = {}) {
      const { deleteStored, ownerOf, isThere } = await loadChats();
      const owner = ownerOf(principal, 'run:create', { subject });
      if (!await isThere(parts, owner, { chatId, principal })) return { messages: 0, runs: 0, running: 0 };
      const facts = { action: 'chat.delete', target: { type: 'chat', id: chatId } };
      return await guard({ ...facts, principal, trace, attempt: 'Cannot delete the chat' }, async (at) => {
        const deleted = await deleteStored(parts, { owner, chatId, principal });
        at.emit({ ...facts, status: 'ok', payload: { ...deleted } });
        return deleted;
      });
    },
  };
}
