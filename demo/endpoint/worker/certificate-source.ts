/** Certificates from the development issuer, for a key that never leaves this worker. */

import * as v from 'valibot';
import type { SessionCredential } from '../../../adapters/transport/signed/caller.ts';
import { PinnaceError } from '../../../src/base/errors.ts';

const Issued = v.object({ certificate: v.string() });

/** Returns what certificates come from, with a first one at hand. Rejects as `unavailable` where no issuer answers. */
export async function createCertificateSource(
  issuer: string,
  { fetch = globalThis.fetch }: { readonly fetch?: typeof globalThis.fetch } = {},
): Promise<() => Promise<SessionCredential>> {
  const { publicKey, privateKey: key } = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']);
  const { kty, crv, x } = await crypto.subtle.exportKey('jwk', publicKey);
  const body = JSON.stringify({ kty, crv, x });
  const load = async (): Promise<SessionCredential> => ({ certificate: await request(issuer, { body, fetch }), key });
  let first: SessionCredential | undefined = await load();
  return async () => {
    const credential = first ?? await load();
    first = undefined;
    return credential;
  };
}

async function request(
  issuer: string,
  { body, fetch }: { readonly body: string; readonly fetch: typeof globalThis.fetch },
): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  try {
    const response = await fetch(issuer, { method: 'POST', headers, body, redirect: 'error' });
    if (response.ok) return v.parse(Issued, await response.json()).certificate;
    throw noIssuer(response.status);
  } catch (error) {
    throw error instanceof PinnaceError ? error : noIssuer(error);
  }
}

function noIssuer(cause: unknown): PinnaceError {
  const message = 'Cannot sign requests: this page has no certificate issuer';
  return new PinnaceError('unavailable', message, { retryable: false, details: { reason: 'no_issuer' }, cause });
}
