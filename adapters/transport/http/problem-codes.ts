/** Every code that a response can carry, for the OpenAPI document. */

import { type ErrorCode, errorCodes, type ProblemCode } from '../../../src/base/errors.ts';

/** The codes of the endpoint. The compiler compares them with the type. */
const ownCodes: Readonly<Record<Exclude<ProblemCode, ErrorCode>, true>> = {
  already_decided: true,
  approval_expired: true,
  authentication_required: true,
  body_not_allowed: true,
  body_timeout: true,
  body_too_large: true,
  certificate_expired: true,
  certificate_invalid: true,
  certificate_malformed: true,
  certificate_revoked: true,
  certificate_untrusted: true,
  component_missing: true,
  content_encoding_not_allowed: true,
  content_type_not_supported: true,
  digest_mismatch: true,
  digest_missing: true,
  idempotency_key_malformed: true,
  idempotency_key_missing: true,
  idempotency_key_reused: true,
  last_event_id_invalid: true,
  method_not_allowed: true,
  misdirected_request: true,
  origin_not_allowed: true,
  overloaded: true,
  precondition_required: true,
  replay_store_full: true,
  run_expired: true,
  run_in_progress: true,
  signature_expired: true,
  signature_from_future: true,
  signature_invalid: true,
  signature_malformed: true,
  signature_missing: true,
  signature_replayed: true,
  token_expired: true,
  token_invalid: true,
};

/** Every code of a problem. */
export const problemCodes: readonly ProblemCode[] = [
  ...errorCodes,
  ...Object.keys(ownCodes) as (keyof typeof ownCodes)[], // safe: the keys are the type's
];
