/** Refuses requests without a usable address. */

import type { MiddlewareHandler } from 'hono';
import { PinnaceError } from '../../../src/base/errors.ts';

const targets = new WeakMap<Request, string>();

/** Says which target a request named, where its `url` is no longer as it came. */
export function setTarget(request: Request, target: string): void {
  targets.set(request, target);
}

/**
 * A server builds the address from the `Host` header as it came: the result may be no address, or have another path than the one
 * requested. A path has one form, so that a proxy that filters by path judges the path that is served.
 */
export const requireAddress: MiddlewareHandler = async ({ req }, next) => {
  if (!URL.canParse(req.url) || /[\s,/?#@\\]/.test(req.header('host') ?? '')) {
    throw new PinnaceError(
      'invalid_argument',
      'Cannot read the address of the request: send a host name in "Host", with a port from 1 to 65535 if any',
      { details: { reason: 'invalid_host' } },
    );
  }
  if (!isCanonical(targets.get(req.raw) ?? req.url)) {
    throw new PinnaceError(
      'not_found',
      'Nothing is served at this path: send it without dot segments, double slashes, backslashes and encoded letters',
      { details: { reason: 'path_not_canonical' } },
    );
  }
  await next();
};

/** A letter, a digit, or one of `-._`, which no client needs to encode (RFC 3986, section 6.2.2.2). */
const encodedPlain = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f)/i;

/** Whether the path of a target is what every reader of URLs makes of it. */
function isCanonical(target: string): boolean {
  const path = /^(?:[a-z][a-z\d+.-]*:\/\/[^/?#\\]*)?([^?]*)/i.exec(target)?.[1] ?? '';
  if (path === '') return true;
  if (!path.startsWith('/') || path.includes('//') || encodedPlain.test(path)) return false;
  return URL.parse(path, 'http://host')?.pathname === path;
}
