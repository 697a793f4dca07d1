/** What proves to an endpoint who calls: a token, or a certificate with a key that signs. */

import { calculateJwkThumbprint, decodeJwt, type JWK } from 'jose';
import { checkOptions, wrongArgument } from '../../../src/base/check-options.ts';
import { PinnaceError } from '../../../src/base/errors.ts';
import { isSubjectHeader, type SessionCredential, subjectHeader } from '../signed/caller.ts';

/** A value, or a function that returns a fresh one before each request. */
type Source<T> = T | (() => T | Promise<T>);

/**
 * Returns the token for a request. `rejected` is the token that the endpoint has just refused (401): where another one comes back, the
 * request is repeated with it.
 */
export type BearerSource = (rejected?: string) => string | Promise<string>;

/** A token for `Authorization: Bearer …`, the cookies of the page's session, or a session certificate with its key. */
export type ClientCredentials =
  | { readonly bearer: string | BearerSource }
  | { readonly cookies: true }
  | { readonly certificate: CertificateSource; readonly key?: CryptoKey };

export type HeaderSource = Source<Readonly<Record<string, string>> | Headers>;

export interface Authorized {
  /** Signs requests; absent where a token is enough. */
  readonly credentials: Credentials | undefined;
  readonly usualHeaders: () => Promise<Headers>;
  /** The token of a request, or another one for one that was refused. */
  readonly bearer: ((rejected?: string) => Promise<string>) | undefined;
  /** Whether the browser adds its cookies. */
  readonly sendsCookies: boolean;
}

/** What proves who calls, and for whom. */
export interface CallerOptions {
  /**
   * What proves who calls: `{ bearer }`, a token or a function that returns one (and another for one that was
   * refused), `{ cookies: true }`, the cookies of the page's session
   * (`sessionAuthenticator`), or `{ certificate, key }`, which signs every request.
   * `certificate` and `key` beside it mean the same.
   */
  readonly credentials?: ClientCredentials;
  /**
   * Whom the requests are for, where the credentials may act for others (`actFor`): who owns what the requests create. Sent as
   * `Pinnace-Subject`, which the signature covers. The subject of the credentials when absent.
   */
  readonly subject?: string;
  /** Further headers of every request, or a function that returns them. A signature does not cover them. */
  readonly headers?: HeaderSource;
  /** The session certificate, or a function that returns a fresh one, alone or with its key. */
  readonly certificate?: CertificateSource;
  /** The private key of the session. */
  readonly key?: CryptoKey;
}

export function credentialsOf({ credentials, certificate, key, headers, subject }: CallerOptions): Authorized {
  const signing = credentials ?? (certificate === undefined ? undefined : { certificate, ...(key && { key }) });
  if (!signing) {
    throw new PinnaceError(
      'invalid_argument',
      'Cannot create the client: pass "credentials", { bearer: token }, { cookies: true } or { certificate, key }',
    );
  }
  checkCredentials(signing);
  if (subject !== undefined && !isSubjectHeader(subject)) {
    const why = '"subject" must be 1 to 256 visible ASCII characters, without commas';
    throw wrongArgument('create the client', 'subject', why);
  }
  return {
    bearer: 'bearer' in signing ? tokensOf(signing.bearer) : undefined,
    credentials: 'certificate' in signing ? createCredentials(signing) : undefined,
    sendsCookies: 'cookies' in signing,
    async usualHeaders() {
      const all = new Headers(typeof headers === 'function' ? await headers() : headers);
      if (subject !== undefined) all.set(subjectHeader, subject);
      return all;
    },
  };
}

/** Requests whose token has expired share one renewal, also those that learn of it later. */
function tokensOf(source: string | BearerSource): (rejected?: string) => Promise<string> {
  const ask = async (rejected?: string): Promise<string> =>
    requireToken(typeof source === 'function' ? await (rejected === undefined ? source() : source(rejected)) : source);
  let renewal: { readonly of: string; readonly token: Promise<string> } | undefined;
  return async (rejected) => {
    if (rejected === undefined) return await ask();
    const mine = renewal = renewal?.of === rejected ? renewal : { of: rejected, token: ask(rejected) };
    const token = await mine.token.catch(() => undefined);
    if ((token === undefined || token === rejected) && renewal === mine) renewal = undefined; // the next one asks again
    return await mine.token;
  };
}

const form = /^[\x21-\x7e]+$/;

/** What the function of a client returns: an expired session often has no token. */
function requireToken(token: string | undefined): string {
  if (token && form.test(token)) return token;
  throw wrongArgument('send the request', 'bearer', '"bearer" returned no token');
}

function checkCredentials(credentials: ClientCredentials): void {
  const action = 'create the client';
  checkOptions(action, { credentials }, {
    credentials: ['object', '{ bearer: token }, { cookies: true } or { certificate, key }'],
  });
  if ('cookies' in credentials) {
    const { cookies }: { readonly cookies: unknown } = credentials;
    if (cookies === true) return;
    throw wrongArgument(action, 'cookies', '"cookies" must be true');
  }
  const name = 'certificate' in credentials ? 'certificate' : 'bearer';
  const given: unknown = Reflect.get(credentials, name);
  if (typeof given === 'function') return;
  checkOptions(action, credentials, {
    [name]: [
      'text',
      name === 'bearer' ? 'a token, or a function that returns one' : 'a text, or a function',
      /^(token|apiKey)$/,
    ],
  });
  if (form.test(String(given))) return;
  throw wrongArgument(action, name, `"${name}" must be visible ASCII characters without spaces, and without "Bearer"`);
}

/** A certificate, or a function that returns a fresh one, alone or with its new key. */
export type CertificateSource = string | (() => Promise<string | SessionCredential>);

interface Credential extends SessionCredential {
  readonly keyThumbprint: string;
  /** Renew the certificate from this time on. */
  readonly renewAt: number;
  readonly expiresAt: number;
}

type Credentials = ReturnType<typeof createCredentials>;

interface CredentialOptions {
  readonly certificate: CertificateSource;
  /** The private key; may be absent when the function returns one with each certificate. */
  readonly key?: CryptoKey | undefined;
}

/** Holds one credential and fetches the next at two thirds of its lifetime, once for all callers that wait. */
function createCredentials({ certificate, key }: CredentialOptions) {
  let known: Credential | undefined;
  let stale = false;
  let renewing: Promise<Credential> | undefined;

  async function renew(): Promise<Credential> {
    known = await readCredential(typeof certificate === 'string' ? certificate : await certificate(), key);
    stale = false;
    return known;
  }

  return {
    async current(nowSeconds: number): Promise<Credential> {
      const last = stale ? undefined : known;
      if (last !== undefined && (typeof certificate === 'string' || nowSeconds < last.renewAt)) return last;
      try {
        return await (renewing ??= renew().finally(() => renewing = undefined));
      } catch (error) {
        if (last !== undefined && nowSeconds < last.expiresAt) return last; // the next request tries again
        throw error;
      }
    },
    /** Makes the next call of `current` fetch a fresh certificate, where the source is a function. */
    renew(): void {
      stale = true;
    },
  };
}

async function readCredential(given: string | SessionCredential, key: CryptoKey | undefined): Promise<Credential> {
  const { certificate, key: signingKey } = typeof given === 'string' ? { certificate: given, key } : given;
  if (signingKey === undefined) throw unusable('there is no key to sign with');
  const { cnf, iat = 0, exp = Infinity } = claimsOf(certificate);
  if (cnf?.jwk === undefined) throw unusable('the certificate names no key');
  const keyThumbprint = await calculateJwkThumbprint(cnf.jwk);
  return { certificate, key: signingKey, keyThumbprint, expiresAt: exp, renewAt: iat + (exp - iat) * 2 / 3 };
}

function claimsOf(
  certificate: string,
): { readonly cnf?: { readonly jwk?: JWK }; readonly iat?: number; readonly exp?: number } {
  try {
    return decodeJwt<{ cnf?: { jwk?: JWK } }>(certificate);
  } catch (error) {
    throw unusable('the certificate is no JWT', error);
  }
}

function unusable(why: string, cause?: unknown): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot sign requests: ${why}`, { cause });
}
