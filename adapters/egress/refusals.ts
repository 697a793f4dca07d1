/** The errors of outgoing requests. None contains a URL, a header value or a body. */

import { PinnaceError } from '../../src/base/errors.ts';
import type { EgressOptions } from '../../src/contracts/egress.ts';

/** The error of a request to a target that is not allowed. */
export function refused(reason: string, why: string, details: Readonly<Record<string, unknown>> = {}): PinnaceError {
  return new PinnaceError('forbidden', `Cannot send the request: ${why}`, { details: { reason, ...details } });
}

/** The error of a malformed request. */
export function malformed(reason: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot send the request: ${why}`, { details: { reason } });
}

/** The error of a host that did not respond, or whose circuit is open. */
export function unreachable(reason: string, why: string, options: { readonly cause?: unknown } = {}): PinnaceError {
  return new PinnaceError('unavailable', `Cannot send the request: ${why}`, { details: { reason }, ...options });
}

/** The error of a response that cannot be used; a retry does not help. */
export function unusable(reason: string, why: string): PinnaceError {
  return new PinnaceError('unavailable', `Cannot use the answer: ${why}`, { retryable: false, details: { reason } });
}

/** Returns the host of a listed origin, which is configuration. Where any origin is allowed, a model may have chosen the URL: its host is not named. */
export function hostOf({ host }: URL, { origins }: Pick<EgressOptions, 'origins'>): string {
  return origins === 'any' ? 'its host' : `its host ${JSON.stringify(host)}`;
}
