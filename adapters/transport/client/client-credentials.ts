/** What proves to an endpoint who calls: a token, or a certificate with a key that signs. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { type CertificateSource, createCredentials, type Credentials } from './credential.ts';

/** A value, or a function that returns a fresh one before each request. */
type Source<T> = T | (() => T | Promise<T>);

/** A token for `Authorization: Bearer …`, or a session certificate with its key. */
export type ClientCredentials =
  | { readonly bearer: Source<string> }
  | { readonly certificate: CertificateSource; readonly key?: CryptoKey };

/** Headers of every request. */
export type HeaderSource = Source<Readonly<Record<string, string>> | Headers>;

/** How requests are authorized. */
export interface Authorized {
  /** Signs requests; absent where a token is enough. */
  readonly credentials: Credentials | undefined;
  /** Headers of every request. */
  readonly usualHeaders: () => Promise<Headers>;
}

/** Reads the credentials of a client. @throws PinnaceError `invalid_argument` without any. */
export function credentialsOf(
  { credentials, certificate, key, headers }: {
    readonly credentials?: ClientCredentials;
    readonly certificate?: CertificateSource;
    readonly key?: CryptoKey;
    readonly headers?: HeaderSource;
  },
): Authorized {
  const signing = credentials ?? (certificate === undefined ? undefined : { certificate, ...(key && { key }) });
  if (!signing) {
    throw new PinnaceError(
      'invalid_argument',
      'Cannot make a client: pass "credentials", { bearer: token } or { certificate, key }',
    );
  }
  const bearer = 'bearer' in signing ? signing.bearer : undefined;
  return {
    credentials: 'certificate' in signing ? createCredentials(signing) : undefined,
    async usualHeaders() {
      const all = new Headers(typeof headers === 'function' ? await headers() : headers);
      if (bearer !== undefined) {
        all.set('authorization', `Bearer ${typeof bearer === 'function' ? await bearer() : bearer}`);
      }
      return all;
    },
  };
}
