/** The look-up of a socket that returns only checked addresses. */

import type { RequestOptions } from 'node:http';
import { isIP } from 'node:net';
import { PinnaceError } from '../../src/base/errors.ts';
import { refused, unreachable } from './refusals.ts';

export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** The look-up that `node:http` calls before it opens a socket. */
export type Lookup = NonNullable<RequestOptions['lookup']>;

/** Passes the addresses to the socket, or an error before there is a socket, if one address is not public. */
export function checkedLookup(resolve: Resolve, isPublicAddress: (ip: string) => boolean): Lookup {
  const look = async (...[hostname, { all }, done]: Parameters<Lookup>): Promise<void> => {
    try {
      const ips = await resolve(hostname);
      const [first, ...others] = ips.map((address) => ({ address, family: isIP(address) }));
      if (first === undefined || !ips.every(isPublicAddress)) throw notPublic();
      if (all === true) done(null, [first, ...others]);
      else done(null, first.address, first.family);
    } catch (error) {
      done(toLookupError(error), '', 0);
    }
  };
  return (...args) => void look(...args);
}

/** Checks a hostname that is an address: no look-up is made for it. @throws PinnaceError for one that is not public. */
export function requirePublicLiteral({ hostname }: URL, isPublicAddress: (ip: string) => boolean): void {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && !isPublicAddress(address)) throw notPublic();
}

function toLookupError(error: unknown): PinnaceError {
  return error instanceof PinnaceError
    ? error
    : unreachable('host_not_found', 'its host has no address', { cause: error });
}

function notPublic(): PinnaceError {
  return refused('address_not_public', 'its host leads to an address that is not public');
}
