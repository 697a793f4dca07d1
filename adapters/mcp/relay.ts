/**
 * Relays a response of server-sent events, event by event. Events of other requests are left out, and an error that ends the
 * response early becomes its result: a client that reads the events itself would wait until its timeout.
 */

import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { PinnaceError } from '../../src/base/errors.ts';
import type { Exchange, Exchanges } from './exchange.ts';
import { unanswered } from './failures.ts';
import { answers, type Message, readMessages } from './messages.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** What a relay needs besides the body. */
export interface RelayOptions {
  readonly exchange: Exchange;
  readonly exchanges: Exchanges;
  /** Receives the notifications of the server. */
  readonly onNotice: (notice: Message) => void;
  /** Returns the response as the library may read it. */
  readonly toAnswer: (message: Message) => Message;
  /** Returns the message that ends the request with our error. */
  readonly toMessage: (error: PinnaceError) => string;
  /** Counts the received bytes. */
  readonly count: (length: number) => void;
}

/** Returns the relevant events of a response, as a body. */
export function relayEvents(body: ReadableStream<Bytes>, options: RelayOptions): ReadableStream<Bytes> {
  const { exchange, exchanges, toMessage, count } = options;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let ready = '';
  const parser = createParser({
    onEvent: (event) => (ready += readEvent(event, options)),
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
          if (done) throw unanswered();
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

/** Returns one event. */
export function eventOf(data: string, { id }: { readonly id?: string } = {}): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
}

/** Bounds the time after which the server wants the client to reconnect. */
const minRetryMs = 100;
const maxRetryMs = 10_000;

const maxResumes = 16;
/** The most requests of a server to its client during one request. */
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
  const messages = event.data === '' || (event.event ?? 'message') !== 'message' ? [] : readMessages(event.data);
  messages.filter(isNotice).forEach(onNotice);
  const texts = messages.filter((message) => isWanted(message, exchange)).map((message) => {
    if (!answers(message, exchange.wireId)) return JSON.stringify(message);
    exchanges.end(exchange);
    return JSON.stringify(toAnswer(message));
  });
  if (texts.length === 0) return id === undefined ? '' : eventOf('', { id });
  return texts.map((text) => eventOf(text, id === undefined ? {} : { id })).join('');
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

/** The most questions of one session. */
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
    onEvent({ data, event = 'message' }) {
      if (data === '' || event !== 'message') return;
      const messages = readMessages(data);
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
