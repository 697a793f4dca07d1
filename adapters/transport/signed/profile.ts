/** The numbers and names of a signed request: what client, issuer and authenticator must agree on. */

/** The scheme of the `Authorization` header. */
export const scheme = 'GC-Session';

/** The `typ` of a certificate, compared exactly so that no other kind of token passes for one. */
export const certificateType = 'gc-session+jwt';

/** How a certificate may be signed: one algorithm under its new name (RFC 9864) and its old one. */
export const certificateAlgorithms = ['Ed25519', 'EdDSA'];

/** The longest certificate, in characters. */
export const maxCertificateLength = 4096;

/** The longest life of a certificate, from `iat` to `exp`. */
export const maxCertificateSeconds = 900;

/** The label of the signature in `Signature` and `Signature-Input`. */
export const signatureLabel = 'gc';

/** The `alg` parameter of the signature. */
export const signatureAlgorithm = 'ed25519';

/** The `tag` parameter of the signature: its only purpose. */
export const signatureTag = 'agents-worker-v1';

/** The longest `Signature` and `Signature-Input` header, in characters. */
export const maxSignatureHeaderLength = 2048;

/** The longest life of a signature, from `created` to `expires`. */
export const maxSignatureSeconds = 60;

/** How far two clocks may be apart. */
export const clockSkewSeconds = 30;

/** The form of a nonce. */
export const nonceForm = /^[A-Za-z0-9_-]{16,64}$/;

/** What every signature covers. The scheme is not covered, because TLS may end before the endpoint. */
export const alwaysCovered: readonly string[] = ['@method', '@authority', '@path', '@query', 'authorization'];

/** What a signature also covers when the request has a body. */
export const coveredWithBody: readonly string[] = ['content-type', 'content-digest'];

/** What a signature covers wherever the header is present. */
export const coveredWherePresent: readonly string[] = [
  ...coveredWithBody,
  'idempotency-key',
  'if-match',
  'last-event-id',
  'pinnace-subject',
];

/** The parameters that every signature has. */
export const requiredParameters: readonly string[] = ['created', 'expires', 'nonce', 'keyid', 'alg', 'tag'];
