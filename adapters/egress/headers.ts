/** Which headers go out and which come back. */

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

/**
 * Checks every header of a request.
 *
 * @throws PinnaceError `invalid_argument` that names the header, never its value.
 */
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

/** The response headers that a tool may read. */
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

function pick(headers: Headers, isWanted: (name: string) => boolean): Headers {
  return new Headers([...headers].filter(([name]) => isWanted(name)));
}
