/** The current certificate with its key, renewed before it expires. */

import { calculateJwkThumbprint, decodeJwt, type JWK } from 'jose';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { SessionCredential } from '../issuer.ts';

/** A certificate, or a function that returns a fresh one, alone or with its new key. */
export type CertificateSource = string | (() => Promise<string | SessionCredential>);

/** What signs a request. Times are seconds. */
export interface Credential extends SessionCredential {
  readonly keyThumbprint: string;
  /** Renew the certificate from this time on. */
  readonly renewAt: number;
  readonly expiresAt: number;
}

/** The credentials of a client. */
export interface Credentials {
  current(nowSeconds: number): Promise<Credential>;
  /** Makes the next call of `current` fetch a fresh certificate, where the source is a function. */
  renew(): void;
}

/** Where credentials come from. */
export interface CredentialOptions {
  readonly certificate: CertificateSource;
  /** The private key; may be absent when the function returns one with each certificate. */
  readonly key?: CryptoKey | undefined;
}

/** Holds one credential and fetches the next at two thirds of its lifetime, once for all callers that wait. */
export function createCredentials({ certificate, key }: CredentialOptions): Credentials {
  let known: Credential | undefined;
  let stale = false;
  let renewing: Promise<Credential> | undefined;

  async function renew(): Promise<Credential> {
    known = await readCredential(typeof certificate === 'string' ? certificate : await certificate(), key);
    stale = false;
    return known;
  }

  return {
    async current(nowSeconds) {
      const last = stale ? undefined : known;
      if (last !== undefined && (typeof certificate === 'string' || nowSeconds < last.renewAt)) return last;
      try {
        return await (renewing ??= renew().finally(() => renewing = undefined));
      } catch (error) {
        if (last !== undefined && nowSeconds < last.expiresAt) return last; // the next request tries again
        throw error;
      }
    },
    renew() {
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
