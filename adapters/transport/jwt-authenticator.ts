/** `pinnace/transport/jwt-authenticator`: access tokens of an authorization server (RFC 9068), for clients that sign in by OAuth. */

import { checkKnownOptions, optional, wrongArgument } from '../../src/base/check-options.ts';
import { createLocalJWKSet, createRemoteJWKSet, customFetch, errors, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { PinnaceError } from '../../src/base/errors.ts';
import { createPrincipal, isPrincipalName, type Principal } from '../../src/base/principal.ts';
import { isPrivateOriginAllowed } from '../../src/base/origins.ts';
import type { Authenticator } from '../../src/contracts/authenticator.ts';
import {
  type AccessTokenOptions,
  actingFor,
  bearerTokenOf,
  type CallerFacts,
  isActFor,
  isJwt,
  isRoles,
  type JwtClaims,
} from './signed/caller.ts';

/** Which tokens are accepted. */
export interface JwtAuthenticatorOptions extends AccessTokenOptions {
  /** The `aud` that tokens must name, exactly: the URL of this resource (RFC 8707). */
  readonly audience: string;
  /** The OAuth scopes that every token must have; none when absent. */
  readonly requiredScopes?: readonly string[];
  /** Milliseconds since 1970; the clock of the platform when absent. */
  readonly now?: () => number;
}

export type { CallerFacts as JwtPrincipal, JwtClaims } from './signed/caller.ts';
export type { Authenticator } from '../../src/contracts/authenticator.ts';

/** Only signatures of key pairs: a verifier that has a shared secret could also issue tokens. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const accessTypes: ReadonlySet<unknown> = new Set(['at+jwt', 'application/at+jwt']);
const untypedTypes: ReadonlySet<unknown> = new Set([undefined, 'jwt']);
const maxTokenLength = 16_384;
const maxKeysBytes = 65_536;
const keysTimeoutMs = 10_000;
const clockToleranceS = 30;

/**
 * Creates an authenticator for bearer tokens that are JWTs: their signature, issuer, audience and times are verified.
 *
 * A token without `exp` or `sub`, for another audience, of another type, issued in the future, or bound to a key (`cnf`) is
 * `token_invalid` (401). A token without a required
 * scope is `forbidden` (403, reason `insufficient_scope`). `unavailable` (reason `keys_unavailable`) when the keys cannot be loaded.
 *
 * @throws PinnaceError `invalid_argument` for a URL of the keys without https or without an `egress`.
 * @example
 * jwtAuthenticator({
 *   issuer: 'https://login.example',
 *   audience: 'https://agents.example/mcp',
 *   keys: 'https://login.example/jwks',
 *   egress,
 *   principalOf: ({ sub, org }) =>
 *     typeof org === 'string' ? { tenant: org, subject: sub, agents: ['helper'], scopes: ['run:create'] } : undefined,
 * });
 */
export function jwtAuthenticator(options: JwtAuthenticatorOptions): Authenticator {
  checkKnownOptions('authenticate by access tokens', options, {
    issuer: ['text', 'the "iss" of the tokens, such as "https://login.example.com"'],
    audience: ['text', 'the "aud" of the tokens: the URL of this endpoint'],
    keys: ['given', 'the URL of the public keys, or the keys as { keys: [ … ] }', /^jwks/],
    principalOf: ['function', 'a function (claims) => ({ tenant, subject, agents, scopes })'],
    ...optional('requiredScopes', 'now', 'egress', 'privateOrigins', 'requireType'),
  });
  const { issuer, audience, requiredScopes = [], requireType = true, principalOf, now = Date.now } = options;
  const keys = keysOf(options);
  return {
    async authenticate(request) {
      const token = bearerTokenOf(request, Infinity);
      if (token === undefined || !isJwt(token)) {
        throw new PinnaceError('authentication_required', 'Send an access token as "Authorization: Bearer …"');
      }
      if (token.length > maxTokenLength) throw new PinnaceError('token_invalid', 'The token is too long');
      const claims = await verify(token, { keys, issuer, audience, requireType, now: now() });
      const granted = new Set(
        [claims['scope'] ?? claims['scp'] ?? ''].flat().flatMap((words: unknown) =>
          typeof words === 'string' ? words.split(' ') : []
        ),
      );
      const missing = requiredScopes.filter((scope) => !granted.has(scope));
      if (missing.length > 0) throw lacksScope(requiredScopes);
      const facts = await principalOf(claims);
      if (!facts) throw notForUs();
      return createPrincipalOf(request, claims, facts);
    },
  };
}

interface Verification {
  readonly keys: JWTVerifyGetKey;
  readonly issuer: string;
  readonly audience: string;
  readonly requireType: boolean;
  readonly now: number;
}

async function verify(
  token: string,
  { keys, issuer, audience, requireType, now }: Verification,
): Promise<JwtClaims> {
  try {
    const { payload, protectedHeader: { typ } } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms,
      clockTolerance: clockToleranceS,
      currentDate: new Date(now),
      requiredClaims: ['exp', 'sub'],
    });
    requireAccessType(typ?.toLowerCase(), requireType);
    const { iat } = payload;
    if (iat !== undefined && !(iat <= now / 1000 + clockToleranceS)) {
      throw new PinnaceError(
        'token_invalid',
        'The token was issued in the future: compare the clock of its issuer with this one',
      );
    }
    if (payload['cnf'] !== undefined) {
      throw new PinnaceError('token_invalid', 'The token is bound to a key: it is no bearer token');
    }
    if (typeof payload.sub !== 'string' || payload.sub === '') {
      throw new PinnaceError('token_invalid', 'The token has no subject');
    }
    return payload as JwtClaims; // its required claims were checked
  } catch (thrown) {
    throw toRefusal(thrown);
  }
}

/** An ID token is signed by the same keys, and names the client that it was issued to as its audience. */
function requireAccessType(type: string | undefined, requireType: boolean): void {
  if (accessTypes.has(type) || (!requireType && untypedTypes.has(type))) return;
  const advice = requireType && untypedTypes.has(type) ? ', or set "requireType: false" at the endpoint' : '';
  throw new PinnaceError(
    'token_invalid',
    `The token is not an access token: its header must have "typ": "at+jwt" (RFC 9068)${advice}`,
  );
}

/** @throws PinnaceError `token_invalid` where a fact of the principal is missing, also where it is the text of a missing claim. */
function createPrincipalOf(request: Request, { act }: JwtClaims, facts: CallerFacts): Principal {
  const { tenant, agents, scopes, roles, actFor } = facts;
  const actor: unknown = facts.actor ?? actorOf(act);
  const all = [tenant, facts.subject, ...(actor === undefined ? [] : [actor])];
  if (!all.every(isPrincipalName) || ![roles ?? []].every(isRoles) || ![actFor ?? []].every(isActFor)) {
    throw notForUs();
  }
  const persons = actingFor(request, { ...facts, actor: actor as string | undefined }); // safe: checked above
  return createPrincipal({ via: 'http', tenant, ...persons, agents, scopes, ...(roles && { roles }) });
}

/** The actor of a delegated token (RFC 8693, section 4.1); one without a name is not left out, which refuses the token. */
function actorOf(act: unknown): unknown {
  if (act === undefined) return undefined;
  return typeof act === 'object' && act !== null && 'sub' in act ? act.sub : null;
}

/** One answer for a token of another issuer or audience, and for one whose claims name no caller. */
function notForUs(): PinnaceError {
  const message =
    'The token was not issued for this endpoint, is not valid now, or lacks a claim that names its caller';
  return new PinnaceError('token_invalid', message);
}

/** What the library says of a token is not repeated. */
function toRefusal(thrown: unknown): PinnaceError {
  if (thrown instanceof PinnaceError && thrown.status === 401) return thrown;
  if (thrown instanceof errors.JWTExpired) return new PinnaceError('token_expired', 'The token has expired');
  const isGeneric = !(thrown instanceof errors.JOSEError) || thrown.code === 'ERR_JOSE_GENERIC';
  const isOfKeys = isGeneric || thrown instanceof errors.JWKSTimeout || thrown instanceof errors.JWKSInvalid;
  if (!isOfKeys) return notForUs();
  return new PinnaceError('unavailable', 'Cannot verify the token: the keys of its issuer cannot be loaded', {
    cause: thrown,
    details: { reason: 'keys_unavailable' },
  });
}

function keysOf({ keys, egress, privateOrigins = [] }: JwtAuthenticatorOptions): JWTVerifyGetKey {
  if (typeof keys !== 'string') {
    if (Array.isArray(keys?.keys)) return createLocalJWKSet(keys);
    throw wrongArgument('authenticate by access tokens', 'keys', '"keys" must be a URL or { keys: [ … ] }');
  }
  const url = URL.parse(keys);
  const isAllowed = url !== null && (url.protocol === 'https:' || isPrivateOriginAllowed(url, privateOrigins));
  if (!egress || !isAllowed) {
    const why = isAllowed ? 'it needs an "egress"' : 'use https';
    throw new PinnaceError('invalid_argument', `Cannot load keys from a URL: ${why}`, {
      details: { reason: 'invalid_keys_url' },
    });
  }
  const terms = { origins: [url.origin], maxBytes: maxKeysBytes, redirects: 'refuse', privateOrigins } as const;
  return createRemoteJWKSet(url, {
    timeoutDuration: keysTimeoutMs,
    [customFetch]: async (address, { method, signal }) =>
      await egress.fetch(new Request(address, { method, headers: { accept: 'application/json' } }), {
        ...terms,
        signal,
      }),
  });
}

function lacksScope(scopes: readonly string[]): PinnaceError {
  return new PinnaceError('forbidden', 'The token lacks a scope that this endpoint requires', {
    details: { reason: 'insufficient_scope', scopes },
  });
}
