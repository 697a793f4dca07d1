/** The transport of AI SDK chats that the clients of endpoints and of workers share. */

import type { ChatTransport, UIMessage, UIMessageChunk } from '../../../src/contracts/ai-types.ts';
import type { RunRequestInput } from '../../../src/runtime/run-request.ts';
import { chatRequest } from './chat-request.ts';
import { type Decide, decideAnswered } from './decide-answered.ts';
import { relay, type RelayOptions } from './relay.ts';

/** What every request of a transport has. */
export interface ChatDefaults {
  /** The agent of all chats; `body.agentId` of a request goes before it. */
  readonly agentId?: string;
  /** Fields of every run, such as `context`, `limits` or `planner`, or a function that returns them; `body` of a request goes before it. */
  readonly body?: object | (() => object | Promise<object>);
}

/** A request on its way. */
export type Opened = Pick<RelayOptions, 'opening' | 'stop' | 'leave'>;

/** How the transport reaches the runtime. */
export interface ChatLink {
  readonly start: (request: RunRequestInput, signal: AbortSignal | undefined) => Opened;
  /** Joins the message that the chat's running run writes; it is replayed from its start. */
  readonly join: (chatId: string, signal: AbortSignal | undefined) => Opened;
  readonly decide: Decide;
}

/** Creates the transport. */
export function createChatTransport(
  link: ChatLink,
  { agentId, body: usual }: ChatDefaults,
): Omit<ChatTransport<UIMessage>, 'close'> {
  /** The newest request of each chat that has one. */
  const newest = new Map<string, symbol>();
  const follow = async (chatId: string, open: () => Opened, signal: AbortSignal | undefined) => {
    const own = Symbol(chatId);
    newest.delete(chatId); // the order of the map is that of the requests
    newest.set(chatId, own);
    for (const old of newest.keys()) if (newest.size > mostChats) newest.delete(old);
    const isReplaced = (): boolean => newest.get(chatId) !== own;
    return await relay({ ...open(), signal, isReplaced });
  };
  return {
    async sendMessages({ chatId, messages, abortSignal, body }) {
      const usualBody = typeof usual === 'function' ? await usual() : usual;
      const request = chatRequest({ id: chatId, messages }, { agentId, ...usualBody, ...body });
      await decideAnswered(messages, link.decide);
      const stream = await follow(chatId, () => link.start(request, abortSignal), abortSignal);
      return stream ?? new ReadableStream<UIMessageChunk>({ start: (controller) => controller.close() });
    },
    reconnectToStream: ({ chatId, abortSignal }) => follow(chatId, () => link.join(chatId, abortSignal), abortSignal),
    resumeStreamIsReplay: true,
  };
}

const mostChats = 1_000;
