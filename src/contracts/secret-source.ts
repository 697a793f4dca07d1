/** The port to secrets. */

import type { SecretRef } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';

/**
 * Resolves a secret reference to its value and its destinations (`Secret.origins`). A secret goes to none but its origins: for
 * another one it is `forbidden` with the reason `secret_origin_mismatch`, and the runtime and the egress check it again. A secret
 * whose definition declares no origins has none, unless the composition says otherwise at the source. A missing secret is
 * `not_found`, a denied one `forbidden`, one whose source does not answer `unavailable`; honours the signal. No error names more
 * than the id and origins.
 */
export interface SecretSource {
  resolve(ref: SecretRef, options: { readonly scope: SecretScope; readonly signal: AbortSignal }): Promise<Secret>;
}

/** Who asks for a secret, and where it would go. */
export interface SecretScope {
  readonly tenant: string;
  readonly agentId: string;
  readonly toolId?: string;
  /** The origin that would receive the value. Absent: a function of the composition would, and the secret must name `code`. */
  readonly origin?: string;
}

/** A text with secrets in it, part by part: `['Bearer ', secret]`. It is put together by the adapter that opens the socket. */
export type SecretText = readonly (string | Secret)[];
