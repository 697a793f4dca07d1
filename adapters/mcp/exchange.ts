/** One message on its way to an MCP server, and what is known of its answer. */

/** A message that was sent. */
export interface Exchange {
  /** Of the request; a notification and an answer to the server have none. */
  readonly id: string | number | undefined;
  readonly method: string;
  readonly abort: AbortController;
  /** From which the server can go on with an answer that broke off. */
  lastEventId: string | undefined;
  /** How often it has gone on. */
  resumes: number;
  /** What the server has asked meanwhile. */
  asked: number;
  /** Nothing more is expected, or wanted. */
  ended: boolean;
}

/** The exchanges of one connection that wait for an answer. */
export interface Exchanges {
  /** Begins an exchange for a message as it is sent. */
  begin(text: string): Exchange;
  /** The exchange whose answer goes on behind an event. */
  resumed(eventId: string): Exchange | undefined;
  /** Notes the event behind which the answer can go on. */
  mark(exchange: Exchange, eventId: string): void;
  end(exchange: Exchange): void;
}

/** Creates the book of exchanges. */
export function createExchanges(): Exchanges {
  const open = new Map<string | number, Exchange>();
  const marks = new Map<string, Exchange>();
  const end = (exchange: Exchange): void => {
    exchange.ended = true;
    if (exchange.id !== undefined) open.delete(exchange.id);
    if (exchange.lastEventId !== undefined) marks.delete(exchange.lastEventId);
  };
  return {
    begin(text) {
      const message = JSON.parse(text) as Outgoing; // safe: our library wrote it
      const cancelled = message.method === cancelledMethod ? open.get(message.params?.requestId ?? '') : undefined;
      if (cancelled !== undefined) {
        end(cancelled);
        cancelled.abort.abort(); // a server without sessions learns of it by this alone
      }
      const exchange = toExchange(message);
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

function toExchange({ id, method }: Outgoing): Exchange {
  return {
    id: method === undefined ? undefined : id,
    method: method ?? '',
    abort: new AbortController(),
    lastEventId: undefined,
    resumes: 0,
    asked: 0,
    ended: false,
  };
}
