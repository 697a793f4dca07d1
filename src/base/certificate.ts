/** Certificates of servers that the platform does not trust: what is wrong with one, and how to trust it. */

import { PinnaceError } from './errors.ts';
import { visible } from './text.ts';

/** Why a certificate is not trusted. */
type Problem = 'unknown_issuer' | 'self_signed' | 'expired' | 'not_yet_valid' | 'wrong_host' | 'invalid';

/** Codes of Node, its `fetch`, Deno and Bun, and the texts of Deno's `fetch`. The first that matches counts. */
const problems: readonly (readonly [Problem, RegExp])[] = [
  ['expired', /^CERT_HAS_EXPIRED$|invalid peer certificate: (?:Expired|certificate expired)/],
  ['not_yet_valid', /^CERT_NOT_YET_VALID$|invalid peer certificate: (?:NotValidYet|certificate not valid yet)/],
  ['wrong_host', /^ERR_TLS_CERT_ALTNAME_INVALID$|invalid peer certificate: (?:NotValidForName|certificate not valid)/],
  ['self_signed', /^(?:DEPTH_ZERO_)?SELF_SIGNED_CERT\b|CaUsedAsEndEntity/],
  ['unknown_issuer', /^(?:UNABLE_TO_(?:VERIFY|GET_ISSUER)_\w+|SELF_SIGNED_CERT_IN_CHAIN)$|: UnknownIssuer/],
  ['invalid', /^CERT_[A-Z_]+$|^UNABLE_TO_DE\w+$|invalid peer certificate: /],
];

interface Failure {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly cert?: { readonly issuer?: { readonly CN?: unknown; readonly O?: unknown } };
}

/** How deep libraries wrap what a socket says. */
const deepest = 5;

/** Returns the error of a TLS handshake behind an error, with what is wrong; `undefined` for every other failure. */
function untrusted(error: unknown): { readonly problem: Problem; readonly failure: Failure } | undefined {
  let failure: Failure | undefined = typeof error === 'object' && error !== null ? error : undefined;
  for (let depth = 0; failure !== undefined && depth < deepest; depth++) {
    const { code, message, cause } = failure;
    const said = typeof code === 'string' ? code : typeof message === 'string' ? message : '';
    const problem = problems.find(([, pattern]) => pattern.test(said))?.[0];
    if (problem !== undefined) return { problem, failure };
    failure = typeof cause === 'object' && cause !== null ? cause : undefined;
  }
  return undefined;
}

/** What the message says of the server. */
export interface UntrustedServer {
  /** What failed: `Cannot send the request`. */
  readonly action: string;
  /** `its host "stock.internal"`. */
  readonly host: string;
  /** Whether the host is configuration: the issuer is then named. A host that a model chose could write to it there. */
  readonly isListed: boolean;
}

/** Returns the error `tls_untrusted` for a failed request whose server's certificate was not trusted; `undefined` for other failures. */
export function untrustedCertificate(error: unknown, server: UntrustedServer): PinnaceError | undefined {
  const found = untrusted(error);
  if (found === undefined) return undefined;
  const { problem, failure } = found;
  const issuer = server.isListed ? issuerOf(failure) : undefined;
  const message = `${server.action}: the certificate of ${server.host} ${descriptions[problem](issuer)}`;
  return new PinnaceError('unavailable', message, {
    cause: error,
    retryable: false,
    details: { reason: 'tls_untrusted', certificate: problem, ...(issuer !== undefined && { issuer }) },
  });
}

/** The name in the certificate is what its server wrote. */
function issuerOf({ cert }: Failure): string | undefined {
  const name = cert?.issuer?.CN ?? cert?.issuer?.O;
  return typeof name === 'string' && name !== '' ? visible(name).slice(0, 100).toWellFormed() : undefined;
}

const trust = 'start Node with NODE_EXTRA_CA_CERTS=ca.pem, Deno with --cert ca.pem or DENO_CERT=ca.pem';

const descriptions: Readonly<Record<Problem, (issuer: string | undefined) => string>> = {
  unknown_issuer: (issuer) => `is not trusted: its issuer${named(issuer)} is not known here; ${trust}`,
  self_signed: () => `is not trusted: it is signed by itself; give the host one of an authority of yours, and ${trust}`,
  expired: (issuer) => `has expired; its issuer${named(issuer)} has to renew it`,
  not_yet_valid: () => 'is not valid yet; check the clocks of both machines',
  wrong_host: () => 'is for other host names; use one of them, or let its owner issue one for this host',
  invalid: () => 'is not valid',
};

function named(issuer: string | undefined): string {
  return issuer === undefined ? '' : ` ${JSON.stringify(issuer)}`;
}
