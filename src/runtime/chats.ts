/** The stored chats of a runtime. Their code is loaded on first use. */

import { type Guard, guardEmitted, guardRead } from '../permission/guarded.ts';
import { loadOnce } from '../base/load-once.ts';
import { type Principal, requireScope } from '../base/principal.ts';
import { owns } from '../permission/ownership.ts';
import type { RuntimeParts } from './run-context.ts';
import type { Chats, DeletedChat, ImportedChat, OpenedChat, Owner } from './chat-record.ts';
import type { LiveRun } from './live-run.ts';
import type { RunRequest } from './run-request.ts';

/** Loads the code of stored chats. */
const loadChats = /* @__PURE__ */ loadOnce(() => import('./open-chats.ts'));

/** Lets an administrator read another's chats: asks the hook, and audits it. Their owner is not asked. */
async function readAs(
  { principal, owner, chatId }: { readonly principal: Principal; readonly owner: Owner; readonly chatId: string },
  guard: Guard,
): Promise<void> {
  if (owns(principal, owner)) return;
  await guardRead(guard, { ...effectOn('read', { chatId, owner }), principal });
}

function effectOn(
  what: 'read' | 'rename' | 'delete' | 'import',
  { chatId, owner: { subject } }: { readonly chatId: string; readonly owner: Owner },
) {
  const target = { type: 'chat', id: chatId };
  return { action: `chat.${what}`, target, subject, attempt: `Cannot ${what} the chat` };
}

/** Creates the stored chats of a runtime. */
export function createChats(parts: RuntimeParts, { guard }: { readonly guard: Guard }): Chats {
  return {
    async list(principal, { subject, ...page } = {}) {
      const { listChats, ownerOf } = await loadChats();
      const owner = ownerOf(principal, 'run:read', { subject });
      const found = await listChats(parts, owner, { ...page, principal });
      if (found.items.length > 0) await readAs({ principal, owner, chatId: '*' }, guard); // no event names an unknown subject
      return found;
    },
    async get(chatId, principal, { subject, ...page } = {}) {
      const { getChat, ownerOf } = await loadChats();
      const owner = ownerOf(principal, 'run:read', { subject });
      const found = await getChat(parts, owner, { ...page, chatId, principal });
      await readAs({ principal, owner, chatId }, guard);
      return found;
    },
    async rename(chatId, input, principal, { subject, trace } = {}) {
      const { ownerOf, parseRename, renameChat, requireChat } = await loadChats();
      const owner = ownerOf(principal, 'run:create', { subject });
      const change = parseRename(input);
      await requireChat(parts, owner, { chatId, principal }); // no event repeats an unknown id
      const effect = { ...effectOn('rename', { chatId, owner }), principal, trace };
      return await guardEmitted(guard, effect, () => renameChat(parts, owner, { chatId, principal, change }));
    },
    async delete(chatId, principal, { subject, trace } = {}) {
      const { deleteStored, ownerOf, isThere } = await loadChats();
      const owner = ownerOf(principal, 'run:create', { subject });
      if (!await isThere(parts, owner, { chatId, principal })) return { messages: 0, runs: 0, running: 0 };
      return await guardEmitted<DeletedChat>(
        guard,
        { ...effectOn('delete', { chatId, owner }), principal, trace, done: (deleted) => ({ ...deleted }) },
        () => deleteStored(parts, { owner, chatId, principal }),
      );
    },
    ...movedChats(parts, guard),
  };
}

/** What brings chats in and out. */
function movedChats(parts: RuntimeParts, guard: Guard): Pick<Chats, 'import' | 'export'> {
  return {
    async import(input, principal, { subject, trace } = {}) {
      const { findKnown, importMessages, ownerOf, parseImport } = await loadChats();
      requireScope(principal, 'run:create');
      const chat = parseImport(input);
      const owner = ownerOf(principal, 'run:create', { subject: subject ?? chat.subject });
      for (const agentId of chat.agentIds ?? []) requireScope(principal, 'run:create', agentId);
      const known = await findKnown(parts, { owner, principal, chat });
      const given = { owner, principal, chat, known };
      if (known.fresh.length === 0) return await importMessages(parts, given); // nothing is written
      const done = ({ imported, known: before, files }: ImportedChat) => ({ imported, known: before, files });
      const effect = { ...effectOn('import', { chatId: chat.id, owner }), principal, trace, done };
      return await guardEmitted(guard, effect, () => importMessages(parts, given));
    },
    async *export(principal, { subject, everyone = false, ...options } = {}) {
      const { exportChats, ownerOf, subjectsOf } = await loadChats();
      if (everyone) requireScope(principal, 'admin');
      const subjects = everyone ? subjectsOf(parts, principal.tenant) : [subject];
      for await (const one of subjects) {
        const owner = ownerOf(principal, 'run:read', { subject: one });
        await readAs({ principal, owner, chatId: '*' }, guard);
        yield* exportChats(parts, owner, { ...options, principal });
      }
    },
  };
}

/** The chat, and the request with all its messages. */
export interface ChatOfRun {
  readonly opened: OpenedChat;
  readonly request: RunRequest;
}

/** Opens the chat of a request with `chat.store`. @throws PinnaceError as `openChat`. */
export async function openChatOf(
  parts: RuntimeParts,
  request: RunRequest,
  options: { readonly principal: Principal; readonly isStale: boolean },
): Promise<ChatOfRun | undefined> {
  if (!request.chat.store) return undefined;
  const opened = await (await loadChats()).openChat(parts, request, options);
  return { opened, request: { ...request, chat: { ...request.chat, messages: opened.messages } } };
}

/** Adds the answer to the chat when the run has ended. Where that fails, the next reader of the chat does it. */
export function settleWhenEnded(
  parts: RuntimeParts,
  { chat: { opened }, live, runId }: {
    readonly chat: ChatOfRun;
    readonly live: LiveRun;
    readonly runId: string;
  },
): void {
  const settled = live.closed.then(async () => await opened.settle(runId, live.written))
    .catch(() => undefined)
    .finally(() => parts.answers.delete(settled));
  parts.answers.add(settled);
}
