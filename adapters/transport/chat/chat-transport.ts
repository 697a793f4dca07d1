/** The transport of AI SDK chats that the clients of endpoints and of workers share. */

import { comingBack } from '../../../src/base/until-aborted.ts';
import type { ChatTransport, UIMessage, UIMessageChunk } from '../../../src/contracts/ai-types.ts';
import type { RunRequestInput } from '../../../src/runtime/run-request.ts';
import { chatRequest, type Decide, decideAnswered } from './chat-request.ts';

export interface ChatDefaults {
  /** The agent of all chats; `body.agentId` of a request goes before it. */
  readonly agentId?: string;
  /** Fields of every run, such as `context`, `limits` or `planner`, or a function that returns them; `body` of a request goes before it. */
  readonly body?: object | (() => object | Promise<object>);
}

export type Opened = Pick<RelayOptions, 'opening' | 'stop' | 'leave'>;

export interface ChatLink {
  readonly start: (request: RunRequestInput, signal: AbortSignal | undefined) => Opened;
  /** Joins the message that the chat's running run writes; it is replayed from its start. */
  readonly join: (chatId: string, signal: AbortSignal | undefined) => Opened;
  readonly decide: Decide;
}

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

type Stream = ReadableStream<UIMessageChunk>;

interface RelayOptions {
  /** The request; `null` when there is nothing to read. */
  readonly opening: Promise<Stream | null>;
  /** The chat's signal: `stop()` aborts it, and so does a request that replaces this one. */
  readonly signal: AbortSignal | undefined;
  /** Whether a newer request of the chat has taken the place of this one. */
  readonly isReplaced: () => boolean;
  /** Stops the run. `runId` resolves as soon as the run is known, `undefined` when it never is. */
  readonly stop: (runId: Promise<string | undefined>) => Promise<void>;
  /** Gives the request up; the run continues. */
  readonly leave: () => void;
}

/** A stop before the run is known waits for it no longer. */
const knownWithinMs = 5_000;

/**
 * Returns the stream. Its reader may stop at any time: an abort of the signal stops the run, unless a newer request has replaced this
 * one; anything else only stops reading. The chunk that a run has started is transient, so no stored message says that it is running.
 */
async function relay({ opening, signal, isReplaced, stop, leave }: RelayOptions): Promise<Stream | null> {
  const known = Promise.withResolvers<string | undefined>();
  let reader: ReadableStreamDefaultReader<UIMessageChunk> | undefined;
  let isLeft = false;
  const read = async (from: ReadableStreamDefaultReader<UIMessageChunk>) => {
    const { done, value } = await from.read();
    if (value?.type === 'data-run' && value.id !== undefined) known.resolve(value.id);
    if (done) known.resolve(undefined);
    return value;
  };
  const runId = async (): Promise<string | undefined> => {
    const stream = reader ? undefined : await opening.catch(() => null);
    if (stream) reader = stream.getReader();
    let isKnown = false;
    void known.promise.then(() => isKnown = true);
    const timer = setTimeout(() => known.resolve(undefined), knownWithinMs);
    // The chat reads no longer: read on until the run says who it is.
    while (reader && isLeft && !isKnown) if (!await read(reader).catch(() => undefined)) break;
    if (!reader) known.resolve(undefined);
    return await known.promise.finally(() => clearTimeout(timer));
  };
  const detach = (): void => {
    leave();
    void reader?.cancel(comingBack).catch(() => undefined);
  };
  const onAbort = async (): Promise<void> => {
    await Promise.resolve(); // a request that replaces this one follows at once
    if (isReplaced()) return detach();
    await stop(runId()).catch(() => undefined); // the run ends by itself some time after its reader has left
    if (isLeft) detach();
  };
  if (signal?.aborted) void onAbort();
  else signal?.addEventListener('abort', () => void onAbort(), { once: true });
  const opened = await orAbort(opening, signal, () => isLeft = true);
  if (!opened) return null;
  const own = reader ??= opened.getReader();
  return new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      const chunk = await read(own);
      if (chunk) controller.enqueue(shown(chunk));
      else controller.close();
    },
    async cancel(reason) {
      isLeft = true;
      if (!signal?.aborted) await own.cancel(reason);
    },
  }, { highWaterMark: 0 });
}

function shown(chunk: UIMessageChunk): UIMessageChunk {
  if (chunk.type !== 'data-run') return chunk;
  const { state } = chunk.data as { readonly state?: unknown }; // `openingChunks` and `closingChunks` write it
  return state === 'running' ? { ...chunk, transient: true } : chunk;
}

/** Rejects as `fetch` does when the signal aborts first. */
async function orAbort<T>(work: Promise<T>, signal: AbortSignal | undefined, onAbort: () => void): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => {
    onAbort();
    aborted.reject(new DOMException('The chat was stopped', 'AbortError'));
  };
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal?.removeEventListener('abort', abort);
    work.catch(() => undefined);
  }
}

/**
 * Returns the messages with the address of every inline file that the runtime has stored (`data-attachment`) in place of its bytes.
 * Store these: they are small, and the agent still reads their files.
 *
 * @example
 * localStorage.setItem(chatId, JSON.stringify(withStoredFiles(messages)));
 */
export function withStoredFiles<M extends UIMessage>(
  messages: readonly M[],
): M[] {
  const addresses = new Map(
    messages.flatMap(({ parts }) => parts.flatMap(addressOf)),
  );
  return messages.map((message) => ({
    ...message,
    parts: message.parts.map((part, at) => {
      const url = addresses.get(`${message.id}:${at}`);
      return part.type === 'file' && part.url.startsWith('data:') &&
          url !== undefined
        ? { ...part, url }
        : part;
    }),
  }));
}

function addressOf(
  part: UIMessage['parts'][number],
): readonly (readonly [string, string])[] {
  if (part.type !== 'data-attachment' || !('data' in part)) return [];
  const { messageId, part: at, url } = part.data as {
    messageId?: string;
    part?: number;
    url?: string;
  };
  return typeof url === 'string' ? [[`${messageId}:${at}`, url]] : [];
}
