/** The texts of rejected requests: each code once, finer causes as reasons. */

import { PinnaceError, type ProblemCode } from '../../../src/base/errors.ts';
import { maxCertificateSeconds, maxSignatureSeconds } from './profile.ts';

const refusals = {
  authentication_required: 'Send the certificate as "Authorization: GC-Session …"',
  certificate_malformed: 'Cannot read the certificate: send one compact JWS',
  certificate_untrusted: 'Cannot trust the certificate: no root key of its "issuers" signed it',
  certificate_invalid: 'Cannot accept the certificate: it is not made for this endpoint',
  certificate_expired: 'The certificate has expired: renew it',
  certificate_revoked: 'The certificate, or its session or key, has been revoked',
  signature_missing: 'Sign the request: send Signature and Signature-Input',
  signature_malformed: 'Cannot read the signature: see Accept-Signature',
  signature_invalid: 'The signature does not belong to this request and certificate',
  signature_expired: 'The signature has expired: compare the clock of the signer with "serverTime"',
  signature_from_future: 'The signature is from the future: the clock of the signer is ahead of "serverTime"',
  signature_replayed: 'The signature was used before: sign with a new nonce',
  component_missing: 'The signature must cover more of the request: see Accept-Signature',
  digest_missing: 'Send a Content-Digest with sha-256 or sha-512',
  digest_mismatch: 'The body is not the one of the Content-Digest',
  body_not_allowed: 'This method takes no body',
  body_too_large: 'Cannot read the body: it is larger than this endpoint takes',
  body_timeout: 'Cannot receive the body: it comes too slowly, send it at once',
  content_encoding_not_allowed: 'Cannot read the body: send it without content-encoding',
  misdirected_request: 'This endpoint does not serve this host: use one that its "authorities" list',
  replay_store_full: 'Cannot remember another signature now',
  overloaded: 'Cannot check the request now',
} as const satisfies Partial<Record<ProblemCode, string>>;

/** Every code with which a signed request is rejected. */
export type RefusalCode = keyof typeof refusals;

/** The causes in `details.reason`, each with its own text. */
const reasons = {
  certificate_from_future: 'The certificate is not valid yet: compare the clock of its issuer with "serverTime"',
  certificate_lifetime_too_long:
    `The certificate is valid for too long: issue it for at most ${maxCertificateSeconds} s, from "iat" to "exp"`,
  certificate_lifetime_negative: 'The certificate ends before it starts: "exp" must be after "iat"',
  certificate_for_other_audience: 'The certificate is not made for this endpoint: its "aud" names another one',
  certificate_for_other_tenant: 'The certificate names a tenant that its issuer may not vouch for',
  certificate_claims_invalid: 'Cannot accept the certificate: a claim is missing, or is not what the profile asks for',
  certificate_deployment_not_allowed:
    'Cannot accept the certificate: to speak for the deployment it needs the scope "admin" and an issuer that may; ' +
    'leave out "deployment"',
  certificate_key_invalid: 'Cannot accept the certificate: "cnf.jwk" must be a public Ed25519 key and nothing else',
  certificate_type_invalid: 'Cannot accept the certificate: its header must name the type and algorithm of the profile',
  certificate_signature_invalid: 'Cannot accept the certificate: its root key did not sign it',
  signature_lifetime_too_long:
    `The signature is valid for too long: sign for at most ${maxSignatureSeconds} s, from "created" to "expires"`,
  signature_lifetime_negative: 'The signature ends before it starts: "expires" must be after "created"',
} as const;

/** Every cause. */
export type RefusalReason = keyof typeof reasons;

/** What a rejection carries besides its code. */
export interface RefusalOptions {
  readonly reason?: RefusalReason;
  /** The time of the endpoint, when the cause may be a clock; sent as `details.serverTime`. */
  readonly nowSeconds?: number;
  readonly cause?: unknown;
}

/** Returns the error of a rejected request. It contains nothing that was received. */
export function refusal(code: RefusalCode, { reason, nowSeconds, ...caused }: RefusalOptions = {}): PinnaceError {
  const serverTime = nowSeconds === undefined ? {} : { serverTime: new Date(nowSeconds * 1000).toISOString() };
  return new PinnaceError(code, reason === undefined ? refusals[code] : reasons[reason], {
    ...((reason ?? nowSeconds) !== undefined && { details: { reason: reason ?? code, ...serverTime } }),
    ...caused,
  });
}
