/** The port to secrets. */

import type { SecretRef } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';

/**
 * Resolves a secret reference to its value and its destinations (`Secret.origins`). A secret is sent only to its origins: for another
 * one `resolve` rejects with `forbidden` and the reason `secret_origin_mismatch`, and the runtime and the egress check it again. A
 * secret whose definition declares no origins has none, unless the composition sets a default at the source. Rejects with `not_found`
 * for a missing secret, `forbidden` for a denied one, and `unavailable` when the source does not answer. Honors the signal. Errors
 * contain no more than the id and origins.
 */
export interface SecretSource {
  resolve(ref: SecretRef, options: { readonly scope: SecretScope; readonly signal: AbortSignal }): Promise<Secret>;
}

/** The requester of a secret and its destination. */
export interface SecretScope {
  readonly tenant: string;
  readonly agentId: string;
  readonly toolId?: string;
  /** The origin that would receive the value. Absent: a function of the composition would, and the secret must name `code`. */
  readonly origin?: string;
}

/** A text with secrets in it, part by part: `['Bearer ', secret]`. It is put together by the adapter that opens the socket. */
export type SecretText = readonly (string | Secret)[];
