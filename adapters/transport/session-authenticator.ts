/** `pinnace/transport/session-authenticator`: people who are signed in to the app already, by its session cookie. */

import { checkKnownOptions, wrongArgument } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { createPrincipal, wrongFact } from '../../src/base/principal.ts';
import type { Authenticator } from '../../src/contracts/authenticator.ts';
import { actingFor, type CallerFacts, isActFor } from './signed/caller.ts';

/** What a session is looked up by. */
export interface SessionRequest {
  /** The cookies by their names, decoded. */
  readonly cookies: Readonly<Record<string, string>>;
  /** All headers, for libraries that read them, such as `auth.api.getSession({ headers })`. */
  readonly headers: Headers;
}

export type { CallerFacts } from './signed/caller.ts';
export type { Authenticator } from '../../src/contracts/authenticator.ts';

/** How people are known by their session. */
export interface SessionAuthenticatorOptions {
  /**
   * Returns whom the session of a request stands for; `undefined` without a session. It is called for each request: look the
   * session up in your own store, and check that it has not ended.
   */
  readonly lookup: (request: SessionRequest) => Promise<CallerFacts | undefined> | CallerFacts | undefined;
  /**
   * The origins of other pages that may use the session, such as `https://shop.example` where the endpoint is
   * `https://agents.shop.example`. List them in `origins` of the endpoint too. The endpoint's own origin may always; others never.
   */
  readonly origins?: readonly string[];
}

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const action = 'authenticate by sessions';

/**
 * Creates an authenticator for the session cookie of an app. A browser sends cookies whatever page makes the request, so each request
 * must come from the endpoint's own origin or from one of `origins`: what changes something needs the header `Origin`
 * (or `Sec-Fetch-Site: same-origin`), and what another site has made is refused. Cookies should be `HttpOnly`, `Secure` and
 * `SameSite=Lax` as well.
 *
 * No session is `authentication_required` (401, reason `no_session`), a foreign page `forbidden` (403, reason `foreign_origin`), and
 * `unavailable` (reason `session_lookup_failed`) says that `lookup` threw.
 *
 * @throws PinnaceError `invalid_argument` for an option that is missing or wrong.
 * @example
 * sessionAuthenticator({
 *   lookup: async ({ cookies }) => {
 *     const session = await sessions.find(cookies['shop-session'] ?? '');
 *     return session && { tenant: 'shop', subject: session.userId, agents: ['helper'], scopes: ['run:create', 'run:read'] };
 *   },
 * });
 */
export function sessionAuthenticator(options: SessionAuthenticatorOptions): Authenticator {
  checkKnownOptions(action, options, {
    lookup: ['function', 'a function ({ cookies, headers }) => ({ tenant, subject, agents, scopes }) | undefined'],
    origins: ['array?', 'an array of origins, such as ["https://shop.example"]'],
  });
  const { lookup, origins = [] } = options;
  const wrong = origins.find((origin) => URL.parse(origin)?.origin !== origin);
  if (wrong !== undefined) {
    throw wrongArgument(action, 'origins', `"${wrong}" is no origin; list each, such as "https://shop.example"`);
  }
  const allowed = new Set(origins);
  return {
    usesCookies: true,
    async authenticate(request) {
      requireOwnPage(request, allowed);
      const { headers } = request;
      const found = await lookUp(lookup, { cookies: cookiesOf(headers), headers });
      if (!found) {
        throw new PinnaceError('authentication_required', 'Sign in: the request has no session of this app', {
          details: { reason: 'no_session' },
        });
      }
      if (!isActFor(found.actFor ?? [])) throw wrongFact('actFor', 'must list names, or prefixes that end with "*"');
      if (Array.isArray(found.agents) && found.agents.includes('*')) {
        throw wrongFact('agents', 'must be "*" itself, not a list with it');
      }
      const { tenant, agents, scopes, roles } = found;
      const facts = { via: 'http', tenant, ...actingFor(request, found), agents, scopes } as const;
      return createPrincipal({ ...facts, ...(roles && { roles }) });
    },
  };
}

async function lookUp(
  lookup: SessionAuthenticatorOptions['lookup'],
  request: SessionRequest,
): Promise<CallerFacts | undefined> {
  try {
    return await lookup(request);
  } catch (cause) {
    throw new PinnaceError('unavailable', 'Cannot look up the session now', {
      details: { reason: 'session_lookup_failed' },
      cause,
    });
  }
}

/** Browsers set these headers, and pages cannot: the check holds without a token in each form (Fetch Metadata, RFC 6454). */
function requireOwnPage({ method, url, headers }: Request, allowed: ReadonlySet<string>): void {
  const origin = headers.get('origin');
  if (origin !== null && allowed.has(origin)) return;
  const site = headers.get('sec-fetch-site');
  if (site === 'same-origin') return;
  const isOwn = origin !== null && isOwnOrigin(URL.parse(origin), new URL(url));
  if (site === null && isOwn) return;
  if (origin === null && safeMethods.has(method) && (site === null || site === 'none')) return;
  const why = origin === null && site === null
    ? 'a change must say where it comes from, in the header "Origin"'
    : 'list the origin of the page in "origins" of sessionAuthenticator and of the endpoint';
  throw new PinnaceError('forbidden', `Cannot use the session: ${why}`, { details: { reason: 'foreign_origin' } });
}

/** A proxy may have ended TLS. A page over plain http is whatever the network makes of it, and none of an endpoint over https. */
function isOwnOrigin(page: URL | null, { host, protocol }: URL): boolean {
  return page?.host === host && (page.protocol === protocol || page.protocol === 'https:');
}

/** The cookies of a request (RFC 6265, section 5.4). Where a name comes twice, the first counts: it has the longer path. */
function cookiesOf(headers: Headers): Readonly<Record<string, string>> {
  const cookies: Record<string, string> = Object.create(null) as Record<string, string>; // names are the client's
  for (const pair of (headers.get('cookie') ?? '').split(';')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at).trim();
    if (at >= 0 && name !== '' && !Object.hasOwn(cookies, name)) cookies[name] = decoded(pair.slice(at + 1).trim());
  }
  return cookies;
}

function decoded(value: string): string {
  const bare = value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
  try {
    return decodeURIComponent(bare);
  } catch {
    return bare;
  }
}
