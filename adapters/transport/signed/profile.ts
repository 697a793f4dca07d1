/** The numbers and names of a signed request: what client, issuer and authenticator must agree on. */

import { PinnaceError, type ProblemCode } from '../../../src/base/errors.ts';

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

export const nonceForm = /^[A-Za-z0-9_-]{16,64}$/;

/** What every signature covers. The scheme is not covered, because TLS may end before the endpoint. */
export const alwaysCovered: readonly string[] = ['@method', '@authority', '@path', '@query', 'authorization'];

/** What a signature also covers when the request has a body. */
export const coveredWithBody: readonly string[] = ['content-type', 'content-digest'];

export const coveredWherePresent: readonly string[] = [
  ...coveredWithBody,
  'idempotency-key',
  'if-match',
  'last-event-id',
  'pinnace-subject',
];

export const requiredParameters: readonly string[] = ['created', 'expires', 'nonce', 'keyid', 'alg', 'tag'];

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
  signature_nonce_invalid: 'Cannot accept the signature: its nonce must have 16 to 64 letters, digits, "-" or "_"',
  signature_parameter_missing: 'Cannot accept the signature: a parameter is missing',
} as const;

/** What claims of a certificate must be. */
const claimForms: Readonly<Record<string, string>> = {
  iss: 'the name of the issuer whose root key signed it',
  iat: 'whole seconds since 1970',
  nbf: 'whole seconds since 1970',
  exp: 'whole seconds since 1970',
  scope: 'one text, with spaces between the scopes',
  agents: '"*", or an array of agent ids',
  act: 'an object with "sub", who speaks for the subject',
  act_for: 'an array of subjects, or of prefixes that end with "*"',
  roles: 'an array of names',
};
const otherForm = 'a text of 1 to 256 characters without control characters';

export type RefusalReason = keyof typeof reasons;

export interface RefusalOptions {
  readonly reason?: RefusalReason;
  /** The claim that is wrong; with `isMissing`, one that is not there. */
  readonly claim?: string | undefined;
  readonly isMissing?: boolean;
  /** What the signature lacks: the names of components or of a parameter. */
  readonly lacks?: readonly string[];
  /** The time of the endpoint, when the cause may be a clock; sent as `details.serverTime`. */
  readonly nowSeconds?: number;
  readonly cause?: unknown;
}

/** Returns the error of a rejected request. It contains nothing that was received. */
export function refusal(code: RefusalCode, options: RefusalOptions = {}): PinnaceError {
  const { reason, nowSeconds, claim, lacks, cause } = options;
  const details = {
    ...((reason ?? nowSeconds ?? lacks) !== undefined && { reason: reason ?? code }),
    ...(claim !== undefined && { claim }),
    ...(lacks && { missing: lacks }),
    ...(nowSeconds !== undefined && { serverTime: new Date(nowSeconds * 1000).toISOString() }),
  };
  return new PinnaceError(code, textOf(code, options), {
    ...(Object.keys(details).length > 0 && { details }),
    ...(cause !== undefined && { cause }),
  });
}

function textOf(code: RefusalCode, { reason, claim, isMissing = false, lacks }: RefusalOptions): string {
  const names = lacks?.map((name) => `"${name}"`).join(', ');
  if (claim !== undefined) {
    const must = isMissing ? 'is missing' : `must be ${claimForms[claim] ?? otherForm}`;
    return `Cannot accept the certificate: its claim "${claim}" ${must}`;
  }
  if (reason === 'signature_parameter_missing') return `Cannot accept the signature: add its parameter ${names}`;
  if (names !== undefined) return `The signature must also cover ${names}: see Accept-Signature`;
  return reason === undefined ? refusals[code] : reasons[reason];
}

/** Left out of the requested components: most requests do not have these headers. */
const rarely: ReadonlySet<string> = new Set(['last-event-id', 'if-match', 'pinnace-subject']);

const wanted = [...alwaysCovered, ...coveredWherePresent.filter((name) => !rarely.has(name))];

/** The signature that the endpoint requests (RFC 9421, section 5), with a nonce to use. Any other new one does as well. */
function acceptSignature(): string {
  return `${signatureLabel}=(${wanted.map((name) => `"${name}"`).join(' ')})` +
    `;created;expires;nonce="${crypto.randomUUID()}";keyid;alg="${signatureAlgorithm}";tag="${signatureTag}"`;
}

/** Returns the headers to add to a problem response: a challenge for 401, none for any other status. */
export function challengeHeaders({ status, code }: PinnaceError, now: number): Readonly<Record<string, string>> {
  if (status !== 401) return {};
  return {
    'www-authenticate': `${scheme} error="${code}"`,
    'accept-signature': acceptSignature(),
    'date': new Date(now).toUTCString(),
  };
}
