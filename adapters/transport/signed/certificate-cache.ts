/** Caches parsed certificates: parsing one costs as much as two signatures. */

import { BoundedMap } from '../../../src/base/bounded-map.ts';
import { type Certificate, type CertificateOptions, readCertificate, requireCurrent } from './certificate.ts';

/** Returns the certificate of a token, or rejects it. */
export type VerifyCertificate = (token: string, options: CertificateOptions) => Promise<Certificate>;

/**
 * Caches the certificates used last, at most `maxEntries`. Facts that can change are checked every time: a certificate that has
 * expired, or whose root key was removed, is rejected although it is cached.
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
