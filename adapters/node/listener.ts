/** Serves a fetch handler by `node:http`, Express and other frameworks that pass its requests on. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { checkNames, checkOptions, optional, wrongArgument } from '../../src/base/check-options.ts';
import type { Handler } from '../transport/http.ts';
import { setBasePath, setTarget } from '../transport/http/request.ts';

/** Where the handler is mounted. */
export interface NodeListenerOptions {
  /** The path that the endpoint is below, such as `/agents`. Express says so itself (`app.use('/agents', listener)`). */
  readonly basePath?: string;
}

/** A listener of `node:http`, which is middleware of Express as well. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void;

/** What Express adds to a request. */
interface Mounted {
  readonly originalUrl?: string;
  readonly baseUrl?: string;
  /** The body, where a parser has read it. */
  readonly body?: unknown;
}

/**
 * Creates a listener of a handler. The client's address is passed on, a client that leaves stops its stream, and slow clients slow
 * the stream down. Mount it before body parsers: a parsed JSON body is serialized again, which breaks signatures of its digest.
 *
 * @throws PinnaceError `invalid_argument` for what is no handler.
 * @example
 * createServer(toNodeListener(endpoint.handler)).listen(8000);
 */
export function toNodeListener(handler: Handler, options: NodeListenerOptions = {}): NodeListener {
  checkOptions('create the listener', { handler }, { handler: ['function', 'the handler of an endpoint'] });
  if ('rawHeaders' in options) {
    throw wrongArgument('create the listener', 'options', 'it is a request; pass createServer(endpoint.listener())');
  }
  checkNames('create the listener', options, optional('basePath'));
  const { basePath } = options;
  if (basePath !== undefined && !/^(\/|$)/.test(basePath)) {
    throw wrongArgument('create the listener', 'basePath', `"basePath" must start with "/", as "/${basePath}"`);
  }
  return (incoming, outgoing) => {
    void serve(handler, { incoming, outgoing, basePath }).catch(() => {
      // The handler answers every error: this is a request that is none, or a client that has left.
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(400).end();
    });
  };
}

async function serve(
  handler: Handler,
  { incoming, outgoing, basePath }: {
    readonly incoming: IncomingMessage & Mounted;
    readonly outgoing: ServerResponse;
    readonly basePath: string | undefined;
  },
): Promise<void> {
  const request = toRequest(incoming);
  const base = basePath ?? incoming.baseUrl;
  if (base !== undefined && base !== '') setBasePath(request, base);
  const hostname = incoming.socket.remoteAddress;
  const response = await handler(request, hostname === undefined ? {} : { remoteAddr: { hostname } });
  await send(response, { incoming, outgoing });
}

function toRequest(incoming: IncomingMessage & Mounted): Request {
  const { method = 'GET', headers, originalUrl, url = '/' } = incoming;
  const scheme = 'encrypted' in incoming.socket && incoming.socket.encrypted ? 'https' : 'http';
  const address = new URL(belowHost(originalUrl ?? url), `${scheme}://${headers.host ?? 'localhost'}`);
  const body = method === 'GET' || method === 'HEAD' ? undefined : bodyOf(incoming);
  const request = new Request(address, {
    method,
    headers: headersOf(incoming),
    ...(body !== undefined && { body, duplex: 'half' }),
  });
  setTarget(request, originalUrl ?? url);
  return request;
}

/** A path that starts with two slashes would be read as the address of another host. */
function belowHost(target: string): string {
  return target.startsWith('/') ? `/.${target}` : target;
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const [name = '', value = ''] = rawHeaders.slice(i, i + 2);
    if (!name.startsWith(':')) headers.append(name, value);
  }
  return headers;
}

function bodyOf(incoming: IncomingMessage & Mounted): BodyInit {
  const { body, readableEnded, readableDidRead } = incoming;
  const isParsed = body !== undefined && (readableEnded || readableDidRead);
  if (isParsed) return typeof body === 'string' || body instanceof Uint8Array ? body as BodyInit : JSON.stringify(body);
  return streamOf(incoming);
}

/** Streams the body. Canceling the stream stops reading, and leaves the connection to the response. */
function streamOf(incoming: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
  let wake = (): void => undefined;
  let failure: { readonly error: unknown } | undefined;
  let isOver = false;
  const news = (): void => wake();
  const end = (): void => {
    isOver = true;
    wake();
  };
  const fail = (error: unknown): void => {
    failure = { error };
    wake();
  };
  const stop = (): void => {
    incoming.off('readable', news).off('end', end).off('error', fail).off('close', end);
    end();
  };
  incoming.on('readable', news).on('end', end).on('error', fail).on('close', end);
  return new ReadableStream({
    async pull(controller) {
      for (;;) {
        const piece = incoming.read() as Uint8Array<ArrayBuffer> | null; // without an encoding it reads bytes
        if (piece !== null) return controller.enqueue(piece);
        if (failure) return controller.error(failure.error);
        if (isOver) return controller.close();
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    cancel: stop,
  }, { highWaterMark: 0 });
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

async function send(response: Response, { incoming, outgoing }: Exchange): Promise<void> {
  const isUnread = await isIncomplete(incoming);
  const headers: Record<string, string | string[]> = Object.fromEntries(response.headers);
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) headers['set-cookie'] = cookies;
  if (isUnread) headers['connection'] = 'close';
  outgoing.writeHead(response.status, headers);
  if (!response.body) return void outgoing.end();
  outgoing.flushHeaders();
  const reader = response.body.getReader();
  const closed = new Promise<void>((resolve) => outgoing.once('close', resolve));
  void closed.then(() => reader.cancel()).catch(() => undefined);
  for (let next = await reader.read(); !next.done && !outgoing.destroyed; next = await reader.read()) {
    if (outgoing.write(next.value)) continue;
    await Promise.race([closed, new Promise<void>((resolve) => outgoing.once('drain', resolve))]);
  }
  if (isUnread) await Promise.race([closed, discardRest(incoming)]);
  outgoing.end();
}

/** Whether a part of the body has not arrived. HTTP/2 has a stream for each request. */
async function isIncomplete(incoming: IncomingMessage): Promise<boolean> {
  if (incoming.httpVersionMajor !== 1) return false;
  // A handler may answer while Node still parses the bytes that hold the body.
  if (!incoming.complete) await new Promise<void>((resolve) => setImmediate(resolve));
  return !incoming.complete;
}

/** The rest of a body may arrive for this long after its response. Node closes the connection with the end of the response. */
const discardMs = 1_000;

/** So many pieces, however small. */
const discardedPieces = 4_096;

/** Drops what still arrives of a body: closing at once would reset the connection, and the client could lose the response. */
async function discardRest(incoming: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, discardMs);
  let pieces = 0;
  const drop = (): void => {
    if (++pieces > discardedPieces) resolve();
  };
  incoming.removeAllListeners('readable').on('data', drop).once('end', resolve).once('error', resolve).resume();
  await promise;
  clearTimeout(timer);
}
