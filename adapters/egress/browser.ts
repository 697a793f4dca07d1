/** The guarded fetch in a browser. It cannot check addresses or redirects, so origins are fixed and a redirect is an error. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import type { Egress } from '../../src/contracts/egress.ts';
import { guardedFetch, type GuardedFetchOptions } from './guarded-fetch.ts';
import { notSent, unreachable } from './refusals.ts';

export type { Egress } from '../../src/contracts/egress.ts';

/** What can be replaced, for tests. */
export interface BrowserEgressOptions extends GuardedFetchOptions {
  /** Sends requests; the global `fetch` when absent. */
  readonly fetch?: typeof fetch;
}

/** Creates the guarded fetch for a page or a worker: without cookies, referrer and cache. */
export function browserEgress(options: BrowserEgressOptions = {}): Egress {
  checkNames(
    'create the egress',
    options,
    optional('fetch', 'circuit', 'loopback', 'origins', 'privateOrigins', 'schemes'),
  );
  const { fetch: send = (...args: Parameters<typeof fetch>) => fetch(...args) } = options;
  const guarded = guardedFetch(async ({ url, method, headers, body }, signal, terms) =>
    await send(url, {
      method,
      headers,
      signal,
      ...(body !== undefined && { body }),
      redirect: 'error',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      cache: 'no-store',
      mode: 'cors',
    }).catch((cause: unknown) => {
      // A browser does not say which of these it was.
      throw notSent(cause, url, terms, 'did not answer, sends elsewhere, or lets no page ask it (CORS)');
    }), options);
  return {
    ...guarded,
    async fetch(request, terms) {
      if (terms.origins === 'any') {
        throw unreachable('egress_unpinned', 'a browser cannot check where a name leads; list the origins');
      }
      // Another header makes a browser send a preflight (CORS), and most servers do not allow this one.
      return await guarded.fetch(request, { ...terms, traceparent: undefined });
    },
  };
}
