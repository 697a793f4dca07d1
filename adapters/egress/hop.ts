/** One request of an exchange: where it goes, with what, and where an answer sends it next. */

import { checkUrl } from '../../src/check-url.ts';
import { PinnaceError } from '../../src/errors.ts';
import { checkRequestHeaders, harmlessRequestHeaders } from './headers.ts';
import { isLoopback } from './loopback.ts';
import { refused } from './refusals.ts';

/** What is sent to one URL. It holds no secret. */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  /** Whether the exchange never left the origin that it began at: only then secrets may go along. */
  readonly home: boolean;
}

/** Where an exchange may go. */
export interface Reach {
  readonly schemes: readonly string[];
  readonly origins: readonly string[] | 'any';
  readonly loopback: readonly string[];
}

/** Gives the hop for a request, checked. */
export async function firstHop(request: Request, reach: Reach): Promise<Hop> {
  const url = checked(request.url, reach);
  checkRequestHeaders(request.headers);
  const body = await readBody(request);
  return { url, method: request.method.toUpperCase(), headers: new Headers(request.headers), body, home: true };
}

/** Gives the hop that an answer asks for, checked; `undefined` when it asks for none. */
export function nextHop(hop: Hop, answer: Response, reach: Reach): Hop | undefined {
  const { status } = answer;
  const location = answer.headers.get('location');
  if (!redirects.has(status) || location === null) return undefined;
  const url = checked(URL.parse(location, hop.url)?.href ?? '', reach);
  if (hop.url.protocol === 'https:' && url.protocol !== 'https:') throw redirectRefused('it leads from https to http');
  const sameOrigin = url.origin === hop.url.origin;
  const headers = sameOrigin ? hop.headers : harmlessRequestHeaders(hop.headers);
  const next = { ...hop, url, headers, home: hop.home && sameOrigin };
  if (safe.has(hop.method)) return next;
  if (hop.method !== 'POST') throw redirectRefused(`a ${hop.method} follows none`);
  if (status <= 303) return asGet(next);
  // What acts may act again where a person let it act, and nowhere else.
  if (!sameOrigin) throw redirectRefused('a POST is not repeated at another origin');
  return next;
}

const redirects = new Set([301, 302, 303, 307, 308]);
const safe = new Set(['GET', 'HEAD', 'OPTIONS']);

function asGet(hop: Hop): Hop {
  const headers = new Headers([...hop.headers].filter(([name]) => !name.startsWith('content-')));
  return { ...hop, method: 'GET', headers, body: undefined };
}

function checked(url: string, reach: Reach): URL {
  const { schemes, origins } = reach;
  const local = URL.parse(url);
  if (local !== null && isLoopback(local, reach)) return withoutHash(local);
  const check = checkUrl(url, { schemes, ...(origins !== 'any' && { origins }) });
  if (!check.ok) throw refused('url_refused', `its URL breaks the rule "${check.reason}"`, { rule: check.reason });
  return withoutHash(check.url);
}

function withoutHash(url: URL): URL {
  url.hash = '';
  return url;
}

function redirectRefused(why: string): PinnaceError {
  return refused('redirect_refused', `the answer is a redirect, and ${why}`);
}

async function readBody(request: Request): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    const bytes = await request.arrayBuffer();
    return bytes.byteLength === 0 ? undefined : new Uint8Array(bytes);
  } catch (cause) {
    throw new PinnaceError('invalid_argument', 'Cannot send the request: its body can be read only once', {
      cause,
      details: { reason: 'body_used' },
    });
  }
}
