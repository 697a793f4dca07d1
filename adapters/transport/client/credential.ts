/** The certificate in use and the key that goes with it, renewed before it ends. */

import { calculateJwkThumbprint, decodeJwt, type JWK } from 'jose';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { SessionCredential } from '../issuer.ts';

/** A certificate, or a function that gives a fresh one, alone or with its new key. */
export type CertificateSource = string | (() => Promise<string | SessionCredential>);

/** What signs a request. Times are seconds. */
export interface Credential extends SessionCredential {
  readonly keyThumbprint: string;
  /** From here on a fresh certificate should be used. */
  readonly renewAt: number;
  readonly expiresAt: number;
}

/** Returns credentials. */
export interface Credentials {
  current(nowSeconds: number): Promise<Credential>;
  /** Makes the next call of `current` ask for a fresh one, where there is somebody to ask. */
  renew(): void;
}

/** Where credentials come from. */
export interface CredentialOptions {
  readonly certificate: CertificateSource;
  /** The private key; may be absent when the function gives one with each certificate. */
  readonly key?: CryptoKey | undefined;
}

/** Keeps one credential and asks for the next at two thirds of its life, once for all who need it. */
export function createCredentials({ certificate, key }: CredentialOptions): Credentials {
  let known: Credential | undefined;
  let stale = false;
  let asking: Promise<Credential> | undefined;

  async function ask(): Promise<Credential> {
    known = await readCredential(typeof certificate === 'string' ? certificate : await certificate(), key);
    stale = false;
    return known;
  }

  return {
    async current(nowSeconds) {
      const last = stale ? undefined : known;
      if (last !== undefined && (typeof certificate === 'string' || nowSeconds < last.renewAt)) return last;
      try {
        return await (asking ??= ask().finally(() => asking = undefined));
      } catch (error) {
        if (last !== undefined && nowSeconds < last.expiresAt) return last; // the next request asks again
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
