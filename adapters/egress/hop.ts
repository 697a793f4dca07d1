/** One request of an exchange: its target, its content, and the target of its redirect. */

import { checkUrl } from '../../src/base/check-url.ts';
import {
  type EgressList,
  isPrivateOriginAllowed,
  isWithinEgress,
  type PrivateOrigins,
} from '../../src/base/origins.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { checkRequestHeaders, harmlessRequestHeaders } from './headers.ts';
import { refused } from './refusals.ts';

/** What is sent to one URL. It contains no secret. */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  /** Whether the exchange never left its first origin: only then it may carry secrets. */
  readonly home: boolean;
  /** The composition lets this origin lead to a private address. */
  readonly isPrivate: boolean;
}

export interface Reach {
  readonly schemes: readonly string[];
  readonly origins: EgressList | 'any';
  /** What the composition allows at all; absent: everything. */
  readonly within: EgressList | undefined;
  /** Listed origins that may be private. */
  readonly privateOrigins: PrivateOrigins;
}

export async function firstHop(request: Request, reach: Reach): Promise<Hop> {
  const target = checked(request.url, reach);
  checkRequestHeaders(request.headers);
  const body = await readBody(request);
  return { ...target, method: request.method.toUpperCase(), headers: new Headers(request.headers), body, home: true };
}

/** Returns the hop of a redirect, checked; `undefined` when the response is not a redirect. */
export function nextHop(hop: Hop, answer: Response, reach: Reach): Hop | undefined {
  const { status } = answer;
  const location = answer.headers.get('location');
  if (!redirects.has(status) || location === null) return undefined;
  const target = checked(URL.parse(location, hop.url)?.href ?? '', reach);
  const { url } = target;
  if (hop.url.protocol === 'https:' && url.protocol !== 'https:') throw redirectRefused('it leads from https to http');
  const sameOrigin = url.origin === hop.url.origin;
  const headers = sameOrigin ? hop.headers : harmlessRequestHeaders(hop.headers);
  const next = { ...hop, ...target, headers, home: hop.home && sameOrigin };
  if (safe.has(hop.method)) return next;
  if (hop.method !== 'POST') throw redirectRefused(`a ${hop.method} follows none`);
  if (status <= 303) return asGet(next);
  // A request with side effects may be repeated at its own origin, and nowhere else.
  if (!sameOrigin) throw redirectRefused('a POST is not repeated at another origin');
  return next;
}

const redirects = new Set([301, 302, 303, 307, 308]);
const safe = new Set(['GET', 'HEAD', 'OPTIONS']);

function asGet(hop: Hop): Hop {
  const headers = new Headers([...hop.headers].filter(([name]) => !name.startsWith('content-')));
  return { ...hop, method: 'GET', headers, body: undefined };
}

function checked(url: string, { schemes, origins, within, privateOrigins }: Reach): Pick<Hop, 'url' | 'isPrivate'> {
  const target = URL.parse(url);
  const isExact = target !== null && origins !== 'any' && origins.includes(target.origin);
  const isListed = target !== null && (isExact || origins === 'any' || isWithinEgress(target, origins));
  const isAllowed = isListed && isWithinEgress(target, within);
  // With credentials it breaks a rule below: who redirects would choose whom a private service takes the request for.
  const isPlain = target?.username === '' && target.password === '';
  if (isPlain && isExact && isAllowed && isPrivateOriginAllowed(target, privateOrigins)) {
    return { url: withoutHash(target), isPrivate: true };
  }
  // A host that no entry names exactly has the port of its scheme.
  const listed = isAllowed ? isExact && { origins: [target.origin] } : { origins: [] };
  const check = checkUrl(url, { schemes, ...listed });
  if (!check.ok) throw refused('url_refused', `its URL breaks the rule "${check.reason}"`, { rule: check.reason });
  return { url: withoutHash(check.url), isPrivate: false };
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
