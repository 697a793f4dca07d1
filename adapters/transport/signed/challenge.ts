/** What a 401 answer tells a client besides its problem: what is wrong, what to sign, what time it is here. */

import type { PinnaceError } from '../../../src/base/errors.ts';
import {
  alwaysCovered,
  coveredWherePresent,
  scheme,
  signatureAlgorithm,
  signatureLabel,
  signatureTag,
} from './profile.ts';

/** Left out of what is asked for: who does not resume or change anything has none, and must not send it. */
const rarely: ReadonlySet<string> = new Set(['last-event-id', 'if-match']);

const wanted = [...alwaysCovered, ...coveredWherePresent.filter((name) => !rarely.has(name))];

/** The signature that the endpoint asks for (RFC 9421, section 5). */
export const acceptSignature = `${signatureLabel}=(${wanted.map((name) => `"${name}"`).join(' ')})` +
  `;created;expires;keyid;alg="${signatureAlgorithm}";tag="${signatureTag}"`;

/** Returns the headers to add to a problem answer: those of a challenge for 401, none for any other status. */
export function challengeHeaders({ status, code }: PinnaceError, now: number): Readonly<Record<string, string>> {
  if (status !== 401) return {};
  return {
    'www-authenticate': `${scheme} error="${code}"`,
    'accept-signature': acceptSignature,
    'date': new Date(now).toUTCString(),
  };
}
