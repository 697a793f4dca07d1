/** Certificates that were read before: reading one costs two signatures' worth of time. */

import { BoundedMap } from '../../../src/base/bounded-map.ts';
import { type Certificate, type CertificateOptions, readCertificate, requireCurrent } from './certificate.ts';

/** Returns the certificate of a token, or refuses it. */
export type VerifyCertificate = (token: string, options: CertificateOptions) => Promise<Certificate>;

/**
 * Remembers the certificates used last, at most `maxEntries`. Whatever can change is checked every time: a certificate that has
 * expired, or whose root key was removed, is refused although it is remembered.
 */
export function createCertificateCache(
  { maxEntries }: { readonly maxEntries: number },
): VerifyCertificate {
  const known = new BoundedMap<string, Certificate>(maxEntries);
  return async (token, options) => {
    const certificate = known.get(token) ?? await readCertificate(token, options);
    requireCurrent(certificate, options);
    known.set(token, certificate);
    return certificate;
  };
}
