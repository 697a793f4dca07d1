/** Refuses requests without a usable address. */

import type { MiddlewareHandler } from 'hono';
import { PinnaceError } from '../../../src/base/errors.ts';

/**
 * A server builds the address from the `Host` header as it came: the result may be no address, or have another path than the one
 * requested.
 */
export const requireAddress: MiddlewareHandler = async ({ req }, next) => {
  if (!URL.canParse(req.url) || /[\s,/?#@\\]/.test(req.header('host') ?? '')) {
    throw new PinnaceError(
      'invalid_argument',
      'Cannot read the address of the request: send a host name in "Host", with a port from 1 to 65535 if any',
      { details: { reason: 'invalid_host' } },
    );
  }
  await next();
};
