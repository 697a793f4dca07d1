/** One message to an MCP server, and the state of its response. */

/** A message that was sent. */
export interface Exchange {
  /** The id of the request in the library; a notification and a response to the server have none. */
  readonly id: string | number | undefined;
  /** The id of the request at the server, which no other connection uses: a call that is sent again has another. */
  readonly wireId: string | number | undefined;
  /** The message as it is sent. */
  readonly body: string;
  readonly method: string;
  readonly abort: AbortController;
  /** The event from which the server can continue a response that broke off. */
  lastEventId: string | undefined;
  /** How often the response was resumed. */
  resumes: number;
  /** How many requests the server has sent meanwhile, and how many pings. */
  serverRequests: number;
  pings: number;
  /** The response is complete, or no longer wanted. */
  ended: boolean;
}

/** The exchanges of one connection that wait for a response. */
export interface Exchanges {
  /** Starts an exchange for a message as it is sent. */
  start(text: string): Exchange;
  /** Returns the exchange whose response continues after an event. */
  resumed(eventId: string): Exchange | undefined;
  /** Records the event after which the response can continue. */
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
