/**
 * A page's chat. In React it is `useChat({ transport, sendAutomaticallyWhen })` from `@ai-sdk/react`; this is the class under that
 * hook, without a framework.
 */

import { AbstractChat, type ChatInit, type ChatState, type ChatStatus, type UIMessage } from 'ai';
import type { ChatTransport } from 'pinnace';
import { connectRuntime } from 'pinnace/transport/comlink';

/** Returns the transport to the agent's worker; `createClient` of `pinnace/transport/client` returns one to an endpoint. */
export function connectWorker(): ReturnType<typeof connectRuntime> {
  return connectRuntime(new Worker(new URL('./browser-worker.ts', import.meta.url), { type: 'module' }));
}

/** State that a framework would manage. `onChange` is called when the page must render. */
class PlainState implements ChatState<UIMessage> {
  status: ChatStatus = 'ready';
  error: Error | undefined = undefined;
  messages: UIMessage[] = [];
  readonly snapshot = <T>(thing: T): T => structuredClone(thing);
  readonly #onChange: () => void;
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }
  pushMessage = (message: UIMessage): void => this.#set([...this.messages, message]);
  popMessage = (): void => this.#set(this.messages.slice(0, -1));
  replaceMessage = (index: number, message: UIMessage): void => this.#set(this.messages.with(index, message));
  #set(messages: UIMessage[]): void {
    this.messages = messages;
    this.#onChange();
  }
}

/** A chat without a framework. */
class PlainChat extends AbstractChat<UIMessage> {
  constructor({ onChange, ...init }: ChatInit<UIMessage> & { onChange: () => void }) {
    super({ ...init, state: new PlainState(onChange) });
  }
}

/** Creates a chat with one agent: `chat.sendMessage({ text }, { body: { agentId } })`. */
export function createChat(transport: ChatTransport<UIMessage>, onChange: () => void): AbstractChat<UIMessage> {
  return new PlainChat({ transport, onChange });
}
