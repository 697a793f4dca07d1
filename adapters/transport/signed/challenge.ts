/** The headers of a 401 response: what is wrong, what to sign, and the time of the endpoint. */

import type { PinnaceError } from '../../../src/base/errors.ts';
import {
  alwaysCovered,
  coveredWherePresent,
  scheme,
  signatureAlgorithm,
  signatureLabel,
  signatureTag,
} from './profile.ts';

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
