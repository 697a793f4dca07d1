/**
 * Relays a response of server-sent events, event by event. Events of other requests are left out, and an error that ends the
 * response early becomes its result: a client that reads the events itself would wait until its timeout.
 */

import { createParser, type EventSourceMessage, type EventSourceParser } from 'eventsource-parser';
import { PinnaceError } from '../../src/base/errors.ts';
import { unanswered } from './failures.ts';
import { answers, type Message, readMessages } from './messages.ts';

type Bytes = Uint8Array<ArrayBuffer>;

export interface RelayOptions {
  readonly exchange: Exchange;
  readonly exchanges: Exchanges;
  readonly onNotice: (notice: Message) => void;
  /** Returns the response as the library may read it. */
  readonly toAnswer: (message: Message) => Message;
  readonly toMessage: (error: PinnaceError) => string;
  readonly count: (length: number) => void;
}

export function relayEvents(body: ReadableStream<Bytes>, options: RelayOptions): ReadableStream<Bytes> {
  const { exchange, exchanges, toMessage, count } = options;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let ready = '';
  const parser = createParser({
    onEvent: (event) => (ready += readEvent(event, options)),
    // JSON under the label of events.
    onError: ({ line = '' }) => (ready += readEvent({ data: line, event: undefined, id: undefined }, options)),
    onRetry: (ms) => (ready += `retry: ${Math.min(Math.max(ms, minRetryMs), maxRetryMs)}\n\n`),
  });
  const close = (controller: ReadableStreamDefaultController<Bytes>): void => {
    if (ready !== '') controller.enqueue(encoder.encode(ready));
    controller.close();
    void reader.cancel().catch(() => {});
  };
  return new ReadableStream<Bytes>({
    async pull(controller) {
      try {
        while (ready === '' && !exchange.ended) {
          const { done, value } = await reader.read();
          if (done) {
            endEvent(parser);
            if (ready === '') throw unanswered();
            break;
          }
          count(value.byteLength);
          parser.feed(decoder.decode(value, { stream: true }));
        }
        if (exchange.ended) return close(controller);
        controller.enqueue(encoder.encode(ready));
        ready = '';
      } catch (error) {
        if (!exchange.ended && !canResume(exchange, error)) {
          ready += eventOf(toMessage(error instanceof PinnaceError ? error : unanswered()));
          exchanges.end(exchange);
        }
        close(controller);
      }
    },
    cancel: async () => await reader.cancel(),
  }, { highWaterMark: 0 });
}

/** The last event counts also without the blank line behind it, where it is whole. */
function endEvent(parser: EventSourceParser): void {
  try {
    parser.feed('\n\n');
  } catch {
    // it was cut: the answer may be continued
  }
}

export function eventOf(data: string, { id }: { readonly id?: string } = {}): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
}

/** Bounds the time after which the server wants the client to reconnect. */
const minRetryMs = 100;
const maxRetryMs = 10_000;

const maxResumes = 16;
const maxServerRequests = 32;
/** The most pings, on one stream: more than one a second for as long as an answer may take. */
const maxPings = 1000;

/** A server may end a response and continue it later (SEP-1699), also after its connection broke. */
function canResume({ lastEventId, resumes }: Exchange, error: unknown): boolean {
  const reason = error instanceof PinnaceError ? error.details?.['reason'] : undefined;
  return lastEventId !== undefined && resumes < maxResumes && resumable.has(reason);
}

const resumable = new Set<unknown>(['mcp_unanswered', 'unreachable']);

function readEvent(event: EventSourceMessage, { exchange, exchanges, onNotice, toAnswer }: RelayOptions): string {
  if (exchange.ended) return ''; // after the response
  const id = event.id !== undefined && /^[\x21-\x7e]{1,256}$/.test(event.id) ? event.id : undefined;
  if (id !== undefined) exchanges.mark(exchange, id);
  const messages = messagesIn(event);
  messages.filter(isNotice).forEach(onNotice);
  const texts = messages.filter((message) => isWanted(message, exchange)).map((message) => {
    if (!answers(message, exchange.wireId)) return JSON.stringify(message);
    exchanges.end(exchange);
    return JSON.stringify(toAnswer(message));
  });
  if (texts.length === 0) return id === undefined ? '' : eventOf('', { id });
  return texts.map((text) => eventOf(text, id === undefined ? {} : { id })).join('');
}

/** Texts that are no JSON keep a connection alive. */
function messagesIn({ data, event = 'message' }: EventSourceMessage): readonly Message[] {
  return event === 'message' && /^\s*(?:\{|\[\s*[{\]])/.test(data) ? readMessages(data) : [];
}

function isNotice({ id, method }: Message): boolean {
  return id === undefined && method !== undefined;
}

function isWanted(message: Message, exchange: Exchange): boolean {
  if (answers(message, exchange.wireId)) return true;
  if (message.method === undefined) return false;
  if (message.id === undefined) return passed.has(message.method);
  if (message.method === 'ping') return ++exchange.pings <= maxPings;
  return ++exchange.serverRequests <= maxServerRequests;
}

/** The library needs these; all other notifications go to `onNotice` alone. */
const passed = new Set<unknown>(['notifications/progress', 'notifications/subscriptions/acknowledged']);

const maxQuestions = 32;

/**
 * Relays the stream on which a server of 2025-11-25 asks its questions outside the response of a call. All else on it is left out, and
 * an error ends it: calls do not depend on it.
 */
export function relayQuestions(
  body: ReadableStream<Bytes>,
  { onNotice, count, questions = false }: Pick<RelayOptions, 'onNotice' | 'count'> & { readonly questions?: boolean },
): ReadableStream<Bytes> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let ready = '';
  let left = maxQuestions;
  let pings = 0;
  const isQuestion = ({ method, id }: Message): boolean =>
    id !== undefined &&
    (method === 'ping' ? ++pings <= maxPings : questions && method === 'elicitation/create' && left-- > 0);
  const parser = createParser({
    onEvent(event) {
      const messages = messagesIn(event);
      messages.filter(isNotice).forEach(onNotice);
      ready += messages.filter(isQuestion).map((message) => eventOf(JSON.stringify(message))).join('');
    },
  });
  const reader = body.getReader();
  return new ReadableStream<Bytes>({
    async pull(controller) {
      try {
        while (ready === '') {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          count(value.byteLength);
          parser.feed(decoder.decode(value, { stream: true }));
        }
        controller.enqueue(encoder.encode(ready));
        ready = '';
      } catch {
        controller.close(); // calls do not depend on it
        await reader.cancel().catch(() => {});
      }
    },
    cancel: async () => await reader.cancel(),
  }, { highWaterMark: 0 });
}

export interface Exchange {
  /** The id of the request in the library; a notification and a response to the server have none. */
  readonly id: string | number | undefined;
  /** The id of the request at the server, which no other connection uses: a call that is sent again has another. */
  readonly wireId: string | number | undefined;
  readonly body: string;
  readonly method: string;
  readonly abort: AbortController;
  /** The event from which the server can continue a response that broke off. */
  lastEventId: string | undefined;
  resumes: number;
  /** How many requests the server has sent meanwhile, and how many pings. */
  serverRequests: number;
  pings: number;
  ended: boolean;
}

/** The exchanges of one connection that wait for a response. */
export interface Exchanges {
  start(text: string): Exchange;
  resumed(eventId: string): Exchange | undefined;
  mark(exchange: Exchange, eventId: string): void;
  end(exchange: Exchange): void;
}

/** Creates the list of exchanges. The libraries count the requests of each connection from 0; here each starts elsewhere. */
export function createExchanges(): Exchanges {
  const first = crypto.getRandomValues(new Uint32Array(1))[0]! >>> 2; // with what is added, servers can hold it in 31 bits
  const open = new Map<string | number, Exchange>();
  const marks = new Map<string, Exchange>();
  const end = (exchange: Exchange): void => {
    exchange.ended = true;
    if (exchange.id !== undefined) open.delete(exchange.id);
    if (exchange.lastEventId !== undefined) marks.delete(exchange.lastEventId);
  };
  return {
    start(text) {
      const message = JSON.parse(text) as Outgoing; // safe: our library wrote it
      const cancelled = message.method === cancelledMethod ? open.get(message.params?.requestId ?? '') : undefined;
      if (cancelled !== undefined) {
        end(cancelled);
        cancelled.abort.abort(); // the only way to cancel at a server without sessions
      }
      const exchange = toExchange(message, text, first);
      if (exchange.id !== undefined) open.set(exchange.id, exchange);
      return exchange;
    },
    resumed: (eventId) => marks.get(eventId),
    mark(exchange, eventId) {
      if (exchange.ended) return;
      if (exchange.lastEventId !== undefined) marks.delete(exchange.lastEventId);
      exchange.lastEventId = eventId;
      marks.set(eventId, exchange);
    },
    end,
  };
}

const cancelledMethod = 'notifications/cancelled';

interface Outgoing {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly requestId?: string | number };
}

function toExchange(message: Outgoing, text: string, first: number): Exchange {
  const { id, method, params } = message;
  const onWire = (one: string | number | undefined) => typeof one === 'number' ? first + one : one;
  const isRequest = method !== undefined && id !== undefined;
  const isCancel = method === cancelledMethod && params?.requestId !== undefined;
  const sent = isRequest
    ? { ...message, id: onWire(id) }
    : { ...message, params: { ...params, requestId: onWire(params?.requestId) } };
  return {
    id: isRequest ? id : undefined,
    wireId: isRequest ? onWire(id) : undefined,
    body: isRequest || isCancel ? JSON.stringify(sent) : text,
    method: method ?? '',
    abort: new AbortController(),
    lastEventId: undefined,
    resumes: 0,
    serverRequests: 0,
    pings: 0,
    ended: false,
  };
}
