/** Which headers go out and which come back, and the cookies of callers that keep them. */

import { malformed, unusable } from './refusals.ts';

/** Headers of the connection, of proxies, clouds and tracing, and those that change the meaning of a request. */
const denied = new Set(
  ('host connection keep-alive te trailer transfer-encoding upgrade expect content-length cookie cookie2 set-cookie ' +
    'forwarded via x-real-ip metadata-flavor traceparent tracestate baggage http2-settings ' +
    'x-http-method x-http-method-override x-method-override').split(' '),
);
const deniedPrefixes = ['proxy-', 'x-forwarded-', 'x-aws-', 'x-google-', 'sec-'];

/** Whether a request may carry a header of this name. */
export function isRequestHeaderAllowed(name: string): boolean {
  const lower = name.toLowerCase();
  return !denied.has(lower) && !deniedPrefixes.some((prefix) => lower.startsWith(prefix));
}

/** Checks every header of a request. @throws PinnaceError `invalid_argument` that names the header, never its value. */
export function checkRequestHeaders(headers: Headers): void {
  for (const [name, value] of headers) {
    if (!isRequestHeaderAllowed(name)) {
      throw malformed('header_not_allowed', `a tool may not set the header "${name}"`);
    }
    checkHeaderValue(name, value);
  }
}

/** Checks one value: a line break in it would start another header. */
export function checkHeaderValue(name: string, value: string): void {
  if (/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return;
  throw malformed('header_value', `the value of the header "${name}" must have no line breaks and no other alphabet`);
}

/** The headers that another origin may receive: none of them identifies the caller. */
export function harmlessRequestHeaders(headers: Headers): Headers {
  return pick(headers, (name) => harmless.has(name));
}

const harmless = new Set(['accept', 'accept-language']);

export function allowedResponseHeaders(headers: Headers): Headers {
  let length = 0;
  for (const [name, value] of headers) length += name.length + value.length + 4;
  if (length > maxHeaderLength) {
    throw unusable('headers_too_large', `its headers are longer than ${maxHeaderLength} bytes`);
  }
  return pick(headers, (name) => allowed.has(name) || /^(x-)?ratelimit(-|$)/.test(name));
}

const maxHeaderLength = 16_384;
const allowed = new Set(
  'content-type content-length content-language etag last-modified retry-after date mcp-session-id www-authenticate'
    .split(' '),
);

/** The cookies of one caller at one URL, by name. Nothing else ever receives them. */
export type CookieJar = Map<string, string>;

/** Stores the cookies of an answer that a request to the same URL sends back (RFC 6265). */
export function storeCookies(jar: CookieJar, answer: Headers, { pathname, hostname }: URL): void {
  for (const line of answer.getSetCookie()) {
    const [pair = '', ...rest] = line.split(';');
    const attributes = new Map(rest.map((part) => {
      const [name = '', ...value] = part.split('=');
      return [name.trim().toLowerCase(), value.join('=').trim()];
    }));
    const at = pair.indexOf('=');
    const [name, value] = [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    const path = attributes.get('path') ?? '/';
    const domain = attributes.get('domain')?.replace(/^\./, '').toLowerCase();
    const isOurs = `${pathname}/`.startsWith(path.endsWith('/') ? path : `${path}/`) &&
      (domain === undefined || hostname === domain || hostname.endsWith(`.${domain}`));
    if (
      !isOurs || at < 1 || !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x7e]*$/.test(value)
    ) continue;
    jar.delete(name);
    const isOver = Number(attributes.get('max-age') ?? 1) <= 0 ||
      Date.parse(attributes.get('expires') ?? '') <= Date.now();
    if (!isOver && value.length <= maxCookieLength && jar.size < maxCookies) jar.set(name, value);
  }
}

const maxCookies = 20;
const maxCookieLength = 4096;

export function withCookies(headers: Headers, jar: CookieJar | undefined): Headers {
  if (jar === undefined || jar.size === 0) return headers;
  const all = new Headers(headers);
  all.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '));
  return all;
}

function pick(headers: Headers, isWanted: (name: string) => boolean): Headers {
  return new Headers([...headers].filter(([name]) => isWanted(name)));
}
