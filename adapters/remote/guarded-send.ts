/** Sends requests to one service of the composition over the guarded egress: its own origin, no redirect. */

import { checkUrl } from '../../src/base/check-url.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import type { Egress } from '../../src/contracts/egress.ts';
import { checkPrivateOrigins, isPrivateOriginAllowed, type PrivateOrigins } from '../../src/base/origins.ts';
import { browserEgress } from '../egress/browser.ts';

export interface GuardedSendOptions {
  /**
   * The guarded egress; `browserEgress()` when absent, which checks URLs and refuses redirects. `denoEgress()` also checks the address
   * that the socket uses.
   */
  readonly egress?: Egress;
  /** The service's origin, where it is on a private network: `['http://127.0.0.1:9000']`. Those of the egress when absent. */
  readonly privateOrigins?: PrivateOrigins;
  /** Replaces the egress with a function that is trusted as it is, as for a proxy of your own. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/**
 * Creates a sender for requests to the origin of `base`, and to no other.
 * @throws PinnaceError `invalid_argument` with the reason `invalid_private_origin`, or `private_origin` for a base URL that is not
 * public and not allowed.
 */
export function guardedSend(
  { egress, privateOrigins = egress?.privateOrigins ?? [], fetch }: GuardedSendOptions,
  base: string,
): (request: Request) => Promise<Response> {
  checkPrivateOrigins(privateOrigins);
  if (fetch) return fetch;
  const url = new URL(base);
  const { origin } = url;
  if (!isPrivateOriginAllowed(url, privateOrigins) && !checkUrl(url, { origins: [origin] }).ok) {
    throw notAllowed(origin);
  }
  const guarded = egress ?? browserEgress();
  return (request) =>
    guarded.fetch(request, {
      origins: [origin],
      privateOrigins,
      maxBytes: Infinity, // the caller counts what it reads
      signal: request.signal,
      redirects: 'refuse',
      limits: 'caller',
    });
}

function notAllowed(origin: string): PinnaceError {
  const advice = `it is not a public https origin; where it is yours, pass privateOrigins: [${JSON.stringify(origin)}]`;
  return new PinnaceError('invalid_argument', `Cannot use the service at ${JSON.stringify(origin)}: ${advice}`, {
    details: { reason: 'private_origin', origin },
  });
}
