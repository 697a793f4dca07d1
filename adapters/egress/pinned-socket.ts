/** Requests over sockets that open only to checked addresses, through the look-up of `node:http(s)`. */

import { lookup as systemLookup } from 'node:dns/promises';
import { Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { Lookup } from './checked-lookup.ts';
import type { Hop } from './hop.ts';
import { unreachable } from './refusals.ts';

/** Whether the platform calls a look-up. Opens no socket: the probe's own look-up fails, and only a platform that calls it reports that failure. */
export function probePinning(): Promise<boolean> {
  const called = new Error('The look-up was called');
  const probe = (send: typeof httpRequest, url: string): Promise<boolean> =>
    new Promise((resolve) => {
      const request = send(url, { agent: false, lookup: (_host, _options, done) => done(called, '', 0) });
      request.on('error', (error) => resolve(error === called));
      request.end();
    });
  const both = [probe(httpRequest, 'http://probe.invalid/'), probe(httpsRequest, 'https://probe.invalid/')];
  return Promise.all(both).then((answers) => !answers.includes(false));
}

export async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  const found = await systemLookup(hostname, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

/** How a request is sent. */
export interface Terms {
  readonly signal: AbortSignal;
  readonly lookup: Lookup;
  /** Open sockets that it may use. One that its host has just closed is replaced by a new one, and the request is sent again. */
  readonly pool?: Agent | undefined;
}

/** Idle sockets are closed before most hosts do it: after 5 s at the least. */
const idleMs = 4000;

/**
 * Returns the open sockets that a request may use: to its origin, at an address that was checked by the same rule when it was opened,
 * of this egress alone. Nothing on Deno, which does not say whether a socket was used before.
 */
export function createPools(): ((hop: Hop) => Agent) | undefined {
  if ('Deno' in globalThis) return undefined;
  const options = { keepAlive: true, timeout: idleMs, maxFreeSockets: 32 };
  const pairOf = () => ({ http: new Agent(options), https: new HttpsAgent(options) });
  const [ofPublic, ofPrivate] = [pairOf(), pairOf()];
  return ({ url, isPrivate }) => (isPrivate ? ofPrivate : ofPublic)[url.protocol === 'https:' ? 'https' : 'http'];
}

/** Sends one request. Redirects are answers. */
export async function sendPinned(hop: Hop, terms: Terms): Promise<Response> {
  try {
    return await sendOnce(hop, terms);
  } catch (error) {
    if (!(error instanceof StaleSocket)) throw error;
    terms.signal.throwIfAborted();
    return await sendOnce(hop, { ...terms, pool: undefined });
  }
}

/** The host has closed a socket that was used before, and has not answered. */
class StaleSocket extends Error {}

function sendOnce({ url, method, headers, body }: Hop, { signal, lookup, pool }: Terms): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const request = send(url, {
    method,
    lookup,
    agent: pool ?? false,
    rejectUnauthorized: true,
    headers: {
      'user-agent': 'pinnace',
      ...Object.fromEntries(headers),
      'accept-encoding': 'identity', // so the bytes that are read are the bytes that are counted
      ...(body !== undefined && { 'content-length': String(body.byteLength) }),
    },
  });
  request.on('response', (message) => settle(() => toResponse(message, method), { resolve, reject, request }));
  let issuer: unknown;
  request.once('socket', (socket) => {
    // Before the check that destroys the socket, and with it what is known of a certificate that is not trusted.
    if (socket instanceof TLSSocket && !request.reusedSocket) {
      socket.prependOnceListener('secure', () => (issuer = socket.getPeerCertificate().issuer));
    }
  });
  request.on('error', (error) => {
    const isStale = request.reusedSocket && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
    if (isStale) reject(new StaleSocket('The host has closed the socket', { cause: error }));
    else reject(issuer === undefined ? error : Object.assign(error, { cert: { issuer } }));
  });
  request.on('close', () => reject(new Error('The host closed the connection'))); // `guardedFetch` names the host
  onAbort(signal, request);
  request.end(body);
  return promise;
}

function onAbort(signal: AbortSignal, request: ClientRequest): void {
  const stop = (): void => void request.destroy(signal.reason instanceof Error ? signal.reason : undefined);
  signal.addEventListener('abort', stop, { once: true });
  request.on('close', () => signal.removeEventListener('abort', stop));
}

interface Settled {
  readonly resolve: (answer: Response) => void;
  readonly reject: (error: unknown) => void;
  readonly request: ClientRequest;
}

function settle(make: () => Response, { resolve, reject, request }: Settled): void {
  try {
    resolve(make());
  } catch (error) {
    request.destroy();
    reject(error);
  }
}

const bodiless = new Set([204, 205, 304]);

function toResponse(message: IncomingMessage, method: string): Response {
  const { statusCode: status = 0, rawHeaders } = message;
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '');
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity') throw unreachable('content_encoding', 'its host compresses what it was asked not to');
  if (method !== 'HEAD' && !bodiless.has(status)) {
    return new Response(toStream(message), { status, headers });
  }
  message.resume();
  return new Response(null, { status, headers });
}

function toStream(message: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks: AsyncIterator<Uint8Array<ArrayBuffer>> = message[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    cancel() {
      message.destroy();
    },
  }, { highWaterMark: 0 });
}
