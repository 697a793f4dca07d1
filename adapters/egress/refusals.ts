/** The errors of the way out. None names a URL, a header value or a body. */

import { PinnaceError } from '../../src/base/errors.ts';
import type { EgressOptions } from '../../src/contracts/egress.ts';

/** The error of a request that may not go where it wants to. */
export function refused(reason: string, why: string, details: Readonly<Record<string, unknown>> = {}): PinnaceError {
  return new PinnaceError('forbidden', `Cannot send the request: ${why}`, { details: { reason, ...details } });
}

/** The error of a request that no server would understand as meant. */
export function malformed(reason: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot send the request: ${why}`, { details: { reason } });
}

/** The error of a host that did not answer, or may not be asked now. */
export function unreachable(reason: string, why: string, options: { readonly cause?: unknown } = {}): PinnaceError {
  return new PinnaceError('unavailable', `Cannot send the request: ${why}`, { details: { reason }, ...options });
}

/** The error of an answer that cannot be used; asking again gives the same. */
export function unusable(reason: string, why: string): PinnaceError {
  return new PinnaceError('unavailable', `Cannot use the answer: ${why}`, { retryable: false, details: { reason } });
}

/** Names the host of a listed origin, which is configuration. Where any origin goes, the URL may be a model's: its host is not named. */
export function hostOf({ host }: URL, { origins }: Pick<EgressOptions, 'origins'>): string {
  return origins === 'any' ? 'its host' : `its host ${JSON.stringify(host)}`;
}
