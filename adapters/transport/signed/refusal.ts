/** Why a signed request is refused: the codes, each with its status, and whether the same request signed anew may pass. */

import { PinnaceError } from '../../../src/errors.ts';

interface Refusal {
  readonly status: number;
  readonly retryable?: boolean;
  readonly message: string;
}

const refusals = {
  authentication_required: { status: 401, message: 'Send the certificate as "Authorization: GC-Session …"' },
  certificate_malformed: { status: 401, message: 'Cannot read the certificate: send one compact JWS' },
  certificate_untrusted: { status: 401, message: 'Cannot trust the certificate: no known root key signed it' },
  certificate_invalid: { status: 401, message: 'Cannot accept the certificate: it is not made for this endpoint' },
  certificate_expired: { status: 401, retryable: true, message: 'The certificate has expired: renew it' },
  certificate_revoked: { status: 401, message: 'The certificate, or its session or key, has been revoked' },
  signature_missing: { status: 401, message: 'Sign the request: send Signature and Signature-Input' },
  signature_malformed: { status: 401, message: 'Cannot read the signature: see Accept-Signature' },
  signature_invalid: { status: 401, message: 'The signature does not belong to this request and certificate' },
  signature_expired: { status: 401, retryable: true, message: 'The signature has expired: compare the clocks' },
  signature_from_future: {
    status: 401,
    retryable: true,
    message: 'The signature is not yet valid: compare the clocks',
  },
  signature_replayed: { status: 401, retryable: true, message: 'The signature was used before: sign with a new nonce' },
  component_missing: { status: 401, message: 'The signature must cover more of the request: see Accept-Signature' },
  digest_missing: { status: 400, message: 'Send a Content-Digest with sha-256 or sha-512' },
  digest_mismatch: { status: 400, message: 'The body is not the one of the Content-Digest' },
  body_not_allowed: { status: 400, message: 'This method takes no body' },
  body_too_large: { status: 413, message: 'Cannot read the body: it is larger than this endpoint takes' },
  content_encoding_not_allowed: { status: 415, message: 'Cannot read the body: send it without content-encoding' },
  misdirected_request: { status: 421, message: 'This endpoint does not serve this host' },
  replay_store_full: { status: 503, retryable: true, message: 'Cannot remember another signature now' },
  overloaded: { status: 503, retryable: true, message: 'Cannot check the request now' },
} as const satisfies Record<string, Refusal>;

/** Every code with which a signed request is refused. */
export type RefusalCode = keyof typeof refusals;

/** Gives the error of a refused request. It carries nothing that was received. */
export function refusal(code: RefusalCode, cause?: unknown): PinnaceError {
  const { status, message, retryable = false }: Refusal = refusals[code];
  return new PinnaceError(code, message, {
    status,
    retryable,
    ...(cause !== undefined && { cause }),
  });
}
