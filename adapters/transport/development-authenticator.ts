/** Authenticates a developer on the developer's own machine, with one token. */

import { checkKnownOptions } from '../../src/base/check-options.ts';
import { actingFor, bearerTokenOf } from './signed/caller.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import type { Authenticator } from '../../src/contracts/authenticator.ts';
import { createPrincipal, scopes } from '../../src/base/principal.ts';

export type { Authenticator } from '../../src/contracts/authenticator.ts';

const loopbackHosts = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** The fewest characters of a token. */
export const minTokenLength = 16;

/**
 * Creates an authenticator that accepts one token, under loopback host names only: a page that a rebinding name server points at
 * this machine carries its own name in `Host`. The server must also bind a loopback address. A developer may act for every subject.
 *
 * @throws PinnaceError `invalid_argument` for a token of less than 16 characters.
 */
export function developmentAuthenticator(options: { token: string }): Authenticator {
  checkKnownOptions('authenticate a developer', options, {
    token: ['text', `a token of ${minTokenLength} characters or more`],
  });
  const { token } = options;
  if (token.length < minTokenLength) {
    const message = `Cannot authenticate with a token of less than ${minTokenLength} characters`;
    throw new PinnaceError('invalid_argument', message);
  }
  return {
    async authenticate(request) {
      if (!loopbackHosts.has(new URL(request.url).hostname)) {
        throw new PinnaceError('misdirected_request', 'This endpoint serves loopback host names only');
      }
      const given = bearerTokenOf(request, 256);
      if (given === undefined) {
        throw new PinnaceError('authentication_required', 'Send the token as "Authorization: Bearer …"');
      }
      if (!await sameText(given, token)) {
        throw new PinnaceError('token_invalid', 'The token is not the one printed at the start');
      }
      const persons = actingFor(request, { subject: 'developer', actFor: ['*'] });
      return createPrincipal({ via: 'http', tenant: 'development', ...persons, agents: '*', scopes, deployment: true });
    },
  };
}

/** Compares digests, so that the time taken does not reveal where the texts differ. */
async function sameText(a: string, b: string): Promise<boolean> {
  const [x, y] = await Promise.all([sha256(a), sha256(b)]);
  return x.every((byte, i) => byte === y[i]);
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}
