/** Serves a fetch handler by `node:http`, Express and other frameworks that pass its requests on. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Handler } from '../transport/http.ts';
import { setBasePath } from '../transport/http/base-path.ts';

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
 * @example
 * createServer(toNodeListener(endpoint.handler)).listen(8000);
 */
export function toNodeListener(handler: Handler, { basePath }: NodeListenerOptions = {}): NodeListener {
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
  await send(response, outgoing);
}

function toRequest(incoming: IncomingMessage & Mounted): Request {
  const { method = 'GET', headers, originalUrl, url = '/' } = incoming;
  const scheme = 'encrypted' in incoming.socket && incoming.socket.encrypted ? 'https' : 'http';
  const address = new URL(belowHost(originalUrl ?? url), `${scheme}://${headers.host ?? 'localhost'}`);
  const body = method === 'GET' || method === 'HEAD' ? undefined : bodyOf(incoming);
  return new Request(address, {
    method,
    headers: headersOf(incoming),
    ...(body !== undefined && { body, duplex: 'half' }),
  });
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
  return Readable.toWeb(incoming) as ReadableStream<Uint8Array<ArrayBuffer>>; // of chunks of bytes: no encoding is set
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  const headers: Record<string, string | string[]> = Object.fromEntries(response.headers);
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) headers['set-cookie'] = cookies;
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
  outgoing.end();
}
