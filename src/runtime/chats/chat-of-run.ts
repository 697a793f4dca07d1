/** The stored chat of a run: opened before the run is claimed, and answered when it has ended. */

import type { Principal } from '../../base/principal.ts';
import type { LiveRun } from '../log/live-run.ts';
import type { RunRequest } from '../run-request.ts';
import type { RuntimeParts } from '../runtime-options.ts';
import { loadChats } from './chats.ts';
import type { OpenedChat } from './start-in-chat.ts';

/** The chat, and the request with all its messages. */
export interface ChatOfRun {
  readonly opened: OpenedChat;
  readonly request: RunRequest;
}

/** Opens the chat of a request with `chat.store`. @throws PinnaceError as `openChat`. */
export async function openChatOf(
  parts: RuntimeParts,
  request: RunRequest,
  principal: Principal,
): Promise<ChatOfRun | undefined> {
  if (!request.chat.store) return undefined;
  const opened = await (await loadChats()).openChat(parts, request, principal);
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
  const settled = live.closed.then(async () => await opened.settle(runId))
    .catch(() => undefined)
    .finally(() => parts.answers.delete(settled));
  parts.answers.add(settled);
}
