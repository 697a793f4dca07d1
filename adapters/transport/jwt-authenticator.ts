/** `pinnace/transport/jwt-authenticator`: access tokens of an authorization server (RFC 9068), for clients that sign in by OAuth. */

import { checkOptions, wrongArgument } from '../../src/base/check-options.ts';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
} from 'jose';
import { PinnaceError, type ProblemCode } from '../../src/base/errors.ts';
import { createPrincipal, type Principal } from '../../src/base/principal.ts';
import { isPrivateOriginAllowed, type PrivateOrigins } from '../../src/base/private-origins.ts';
import type { Authenticator } from '../../src/contracts/authenticator.ts';
import type { Egress } from '../../src/contracts/egress.ts';
import { bearerTokenOf, isJwt } from './bearer-token.ts';

/** The claims of a token that was verified. */
export type JwtClaims = JWTPayload & { readonly iss: string; readonly sub: string; readonly exp: number };

/** What a token stands for. */
export type JwtPrincipal = Pick<Principal, 'tenant' | 'subject' | 'agents' | 'scopes'>;

/** Which tokens are accepted. */
export interface JwtAuthenticatorOptions {
  /** The `iss` of tokens, exactly: the authorization server. */
  readonly issuer: string;
  /** The `aud` that tokens must name, exactly: the URL of this resource (RFC 8707). */
  readonly audience: string;
  /** The public keys: a set, or its https URL (`jwks_uri`), which needs an `egress`. They are loaded again after 10 minutes, and for an unknown key. */
  readonly keys: JSONWebKeySet | string;
  /** The way to the URL of the keys. */
  readonly egress?: Egress;
  /** Allows a URL of the keys on a private network, as that of `modelSource`. */
  readonly privateOrigins?: PrivateOrigins;
  /** The OAuth scopes that every token must have; none when absent. */
  readonly requiredScopes?: readonly string[];
  /**
   * Returns whom a token stands for; `undefined` refuses it. Take `subject` from `sub`, and choose scopes: a token's own `scope` is the
   * authorization server's text, not one of Pinnace.
   */
  readonly principalOf: (claims: JwtClaims) => Promise<JwtPrincipal | undefined> | JwtPrincipal | undefined;
  /** Milliseconds since 1970; the clock of the platform when absent. */
  readonly now?: () => number;
}

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
const types: ReadonlySet<unknown> = new Set([undefined, 'at+jwt', 'application/at+jwt', 'jwt']);
const maxTokenLength = 16_384;
const maxKeysBytes = 65_536;
const keysTimeoutMs = 10_000;
const clockToleranceS = 30;

/**
 * Creates an authenticator for bearer tokens that are JWTs: their signature, issuer, audience and times are verified.
 *
 * A token without `exp` or `sub`, for another audience, or bound to a key (`cnf`) is `token_invalid` (401). A token without a required
 * scope is `forbidden` (403, reason `insufficient_scope`). `unavailable` (reason `keys_unavailable`) when the keys cannot be loaded.
 *
 * @throws PinnaceError `invalid_argument` for a URL of the keys without https or without an `egress`.
 * @example
 * jwtAuthenticator({
 *   issuer: 'https://login.example',
 *   audience: 'https://agents.example/mcp',
 *   keys: 'https://login.example/jwks',
 *   egress,
 *   principalOf: ({ sub, org }) => ({ tenant: String(org), subject: sub, agents: ['helper'], scopes: ['run:create'] }),
 * });
 */
export function jwtAuthenticator(options: JwtAuthenticatorOptions): Authenticator {
  checkOptions('authenticate by access tokens', options, {
    issuer: ['text', 'the "iss" of the tokens, such as "https://login.example.com"'],
    audience: ['text', 'the "aud" of the tokens: the URL of this endpoint'],
    keys: ['given', 'the URL of the public keys, or the keys as { keys: [ … ] }', /^jwks/],
    principalOf: ['function', 'a function (claims) => ({ tenant, subject, agents, scopes })'],
  });
  const { issuer, audience, requiredScopes = [], principalOf, now = Date.now } = options;
  const keys = keysOf(options);
  return {
    async authenticate(request) {
      const token = bearerTokenOf(request, Infinity);
      if (token === undefined || !isJwt(token)) {
        throw refused('authentication_required', 'Send an access token as "Authorization: Bearer …"');
      }
      if (token.length > maxTokenLength) throw refused('token_invalid', 'The token is too long');
      const claims = await verify(token, keys, {
        issuer,
        audience,
        algorithms,
        clockTolerance: clockToleranceS,
        currentDate: new Date(now()),
        requiredClaims: ['exp', 'sub'],
      });
      const granted = new Set(typeof claims['scope'] === 'string' ? claims['scope'].split(' ') : []);
      const missing = requiredScopes.filter((scope) => !granted.has(scope));
      if (missing.length > 0) throw lacksScope(requiredScopes);
      const facts = await principalOf(claims);
      if (!facts) throw refused('token_invalid', 'The token stands for no caller of this endpoint');
      const { tenant, subject, agents, scopes } = facts;
      return createPrincipal({ via: 'http', tenant, subject, agents, scopes });
    },
  };
}

async function verify(
  token: string,
  keys: JWTVerifyGetKey,
  options: Parameters<typeof jwtVerify>[2],
): Promise<JwtClaims> {
  try {
    const { payload, protectedHeader: { typ } } = await jwtVerify(token, keys, options);
    if (!types.has(typ?.toLowerCase())) throw refused('token_invalid', 'The token is not an access token');
    if (payload['cnf'] !== undefined) {
      throw refused('token_invalid', 'The token is bound to a key: it is no bearer token');
    }
    if (typeof payload.sub !== 'string' || payload.sub === '') {
      throw refused('token_invalid', 'The token has no subject');
    }
    return payload as JwtClaims; // its required claims were checked
  } catch (thrown) {
    throw toRefusal(thrown);
  }
}

/** What the library says of a token is not repeated. */
function toRefusal(thrown: unknown): PinnaceError {
  if (thrown instanceof PinnaceError && thrown.status === 401) return thrown;
  if (thrown instanceof errors.JWTExpired) return refused('token_expired', 'The token has expired');
  const isGeneric = !(thrown instanceof errors.JOSEError) || thrown.code === 'ERR_JOSE_GENERIC';
  const isOfKeys = isGeneric || thrown instanceof errors.JWKSTimeout || thrown instanceof errors.JWKSInvalid;
  if (!isOfKeys) return refused('token_invalid', 'The token was not issued for this endpoint, or is not valid now');
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

function refused(code: ProblemCode, message: string): PinnaceError {
  return new PinnaceError(code, message, { status: 401 });
}

function lacksScope(scopes: readonly string[]): PinnaceError {
  return new PinnaceError('forbidden', 'The token lacks a scope that this endpoint requires', {
    details: { reason: 'insufficient_scope', scopes },
  });
}
