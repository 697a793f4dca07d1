/** The errors of outgoing requests. None contains a URL, a header value or a body. */

import { untrustedCertificate } from '../../src/base/certificate.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import type { EgressOptions } from '../../src/contracts/egress.ts';

export function refused(reason: string, why: string, details: Readonly<Record<string, unknown>> = {}): PinnaceError {
  return new PinnaceError('forbidden', `Cannot send the request: ${why}`, { details: { reason, ...details } });
}

export function malformed(reason: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot send the request: ${why}`, { details: { reason } });
}

export function unreachable(reason: string, why: string, options: { readonly cause?: unknown } = {}): PinnaceError {
  return new PinnaceError('unavailable', `Cannot send the request: ${why}`, { details: { reason }, ...options });
}

/** The error of a response that cannot be used; a retry does not help. */
export function unusable(reason: string, why: string): PinnaceError {
  return new PinnaceError('unavailable', `Cannot use the answer: ${why}`, { retryable: false, details: { reason } });
}

/** Returns the host of a listed origin, which is configuration. Where any origin is allowed, a model may have chosen the URL: its host is not named. */
function hostOf({ host }: URL, { origins }: Pick<EgressOptions, 'origins'>): string {
  return origins === 'any' ? 'its host' : `its host ${JSON.stringify(host)}`;
}

/** The error of a request that got no response. `why` is what may be wrong, unless the platform names the cause. */
export function notSent(cause: unknown, url: URL, options: Pick<EgressOptions, 'origins'>, why: string): PinnaceError {
  if (cause instanceof PinnaceError) return cause;
  const host = hostOf(url, options);
  const certificate = { action: 'Cannot send the request', host, isListed: options.origins !== 'any' };
  return untrustedCertificate(cause, certificate) ?? denied(cause) ??
    unreachable('unreachable', `${host} ${why}`, { cause });
}

/** Deno names the permission that it lacks, and with it a host that a model may have chosen. */
function denied(cause: unknown): PinnaceError | undefined {
  if (!(cause instanceof Error) || cause.name !== 'NotCapable') return undefined;
  const [, permission = 'net', what = ''] = /^Requires (\w+) access(?: to "(ca|NODE_\w+)")?/.exec(cause.message) ?? [];
  const flag = `--allow-${permission}${what === '' ? '' : `=${what}`}`;
  return new PinnaceError('unavailable', `Cannot send the request: Deno runs without the permission ${flag}`, {
    cause,
    retryable: false,
    details: { reason: 'permission_missing', permission: flag },
  });
}
