/** The guarded fetch on Deno: the socket opens only to addresses that were checked, through the look-up of `node:http(s)`. */

import { lookup as systemLookup } from 'node:dns/promises';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { PinnaceError } from '../../src/base/errors.ts';
import type { Egress } from '../../src/contracts/egress.ts';
import { isPublicAddress as isPublic } from '../../src/base/public-address.ts';
import { withinTrace } from './active-trace.ts';
import { checkedLookup, type Lookup, notPublic, type Resolve } from './checked-lookup.ts';
import { guardedFetch, type GuardedFetchOptions } from './guarded-fetch.ts';
import type { Hop } from './hop.ts';
import { unreachable } from './refusals.ts';

/** What can be replaced, for tests and for networks with rules of their own. */
export interface DenoEgressOptions extends GuardedFetchOptions {
  /** Resolves names; the system's resolver when absent. */
  readonly resolve?: Resolve;
  /** Which addresses a name may lead to; those of the public internet when absent. */
  readonly isPublicAddress?: (ip: string) => boolean;
  /** Whether the platform calls our look-up; probed when absent. */
  readonly canPin?: () => Promise<boolean>;
}

/** An egress that knows whether its platform lets it check addresses. */
export interface PinnedEgress extends Egress {
  /** For `readyz`: without it, every request is `unavailable`. */
  readonly isReady: () => Promise<boolean>;
}

/** Creates the guarded fetch for Deno (2.7.14 and later) and Node. */
export function denoEgress(options: DenoEgressOptions = {}): PinnedEgress {
  const { resolve = resolveBySystem, isPublicAddress = isPublic, canPin = probePinning } = options;
  const pinning = canPin().catch(() => false);
  const lookup = checkedLookup(resolve, isPublicAddress);
  const privateLookup = checkedLookup(resolve, () => true);
  const egress = guardedFetch(async (hop, signal) => {
    if (!hop.isPrivate && !await pinning) throw cannotPin();
    const hostname = hop.url.hostname.replace(/^\[|\]$/g, '');
    if (isIP(hostname) !== 0 && !hop.isPrivate && !isPublicAddress(hostname)) throw notPublic(); // no look-up is made for it
    const terms = { signal, lookup: hop.isPrivate ? privateLookup : lookup };
    return await withinTrace(hop.headers.get('traceparent'), () => sendPinned(hop, terms));
  }, options);
  return { ...egress, isReady: () => pinning };
}

/** Opens no socket: the probe's own look-up fails, and only a platform that calls it reports that failure. */
function probePinning(): Promise<boolean> {
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

async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  const found = await systemLookup(hostname, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

interface Terms {
  readonly signal: AbortSignal;
  readonly lookup: Lookup;
}

function sendPinned({ url, method, headers, body }: Hop, { signal, lookup }: Terms): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const request = send(url, {
    method,
    lookup,
    agent: false, // a new socket: a pooled one was checked for another request
    rejectUnauthorized: true,
    headers: {
      'user-agent': 'pinnace',
      ...Object.fromEntries(headers),
      'accept-encoding': 'identity', // so the bytes that are read are the bytes that are counted
      ...(body !== undefined && { 'content-length': String(body.byteLength) }),
    },
  });
  request.on('response', (message) => settle(() => toResponse(message, method), { resolve, reject, request }));
  request.on('error', reject);
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

function cannotPin(): PinnaceError {
  return unreachable('egress_unpinned', 'this platform cannot check the address that a socket uses; Deno 2.7.14 can');
}
