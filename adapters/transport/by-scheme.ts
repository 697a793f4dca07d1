/** Several ways to authenticate on one endpoint, selected by the scheme of `Authorization`. */

import { checkOptions } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import type { Principal } from '../../src/base/principal.ts';
import type { RequestAuthenticator } from './signed/caller.ts';

export type { RequestAuthenticator } from './signed/caller.ts';

/**
 * Creates an authenticator that passes each request to the authenticator of its scheme, and rejects every other scheme. A request
 * without the header goes to `Cookie`, if there is one.
 *
 * @example
 * authenticateByScheme({ 'GC-Session': createAuthenticator({ … }), Cookie: sessionAuthenticator({ lookup }) });
 */
export function authenticateByScheme(schemes: Readonly<Record<string, RequestAuthenticator>>): RequestAuthenticator {
  checkOptions('authenticate by scheme', { schemes }, {
    schemes: ['object', 'authenticators by scheme, such as { Bearer: … }'],
  });
  const byScheme = new Map(
    Object.entries(schemes).map(([scheme, authenticator]) => {
      checkOptions('authenticate by scheme', schemes, { [scheme]: ['.authenticate', 'an authenticator'] });
      return [scheme.toLowerCase(), authenticator]; // RFC 9110: schemes are case-insensitive
    }),
  );
  const authenticators = [...byScheme.values()];
  const authenticatorOf = (request: Request): RequestAuthenticator => {
    const [scheme = ''] = (request.headers.get('authorization') ?? 'cookie').split(' ');
    const authenticator = byScheme.get(scheme.toLowerCase());
    if (authenticator) return authenticator;
    const known = Object.keys(schemes).join(' or ');
    throw new PinnaceError('authentication_required', `Send an Authorization header with the scheme ${known}`);
  };
  return {
    usesCookies: authenticators.some(({ usesCookies }) => usesCookies === true),
    authenticate: async (request) => await authenticatorOf(request).authenticate(request),
    async verify(request) {
      const authenticator = authenticatorOf(request);
      return await authenticator.verify?.(request) ?? { principal: await authenticator.authenticate(request) };
    },
    onRevoked(principal: Principal, listener) {
      const undo = authenticators.map((authenticator) => authenticator.onRevoked?.(principal, listener));
      return () => undo.forEach((step) => step?.());
    },
  };
}
