/** Servers on this machine: unreachable unless the composition lists them one by one. */

import { PinnaceError } from '../../src/base/errors.ts';

/**
 * Checks that every origin is one of this machine, by address: a name could lead anywhere.
 *
 * @throws PinnaceError `invalid_argument` otherwise.
 */
export function checkLoopback(origins: readonly string[]): void {
  const wrong = origins.find((origin) => {
    const url = URL.parse(origin);
    return url === null || url.origin !== origin || !hosts.has(url.hostname) || !/^https?:$/.test(url.protocol);
  });
  if (wrong === undefined) return;
  const advice = 'it must be an origin of this machine by address, such as "http://127.0.0.1:3001"';
  throw new PinnaceError('invalid_argument', `Cannot allow the loopback origin ${JSON.stringify(wrong)}: ${advice}`);
}

const hosts = new Set(['127.0.0.1', '[::1]']);
