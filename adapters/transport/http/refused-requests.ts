/** Emits an event for each request that the endpoint itself refuses: by authentication, by a quota, or for its body. */

import { toPinnaceError } from '../../../src/base/errors.ts';
import type { Principal } from '../../../src/base/principal.ts';
import type { HostedRuntime } from '../../../src/runtime/runtime.ts';
import { traceOf } from './trace.ts';

/** What is known of refused requests. */
export interface RefusedRequests {
  /** The request has a verified caller. */
  verified(request: Request, principal: Principal): void;
  /** Authentication has refused the request. */
  unverified(request: Request, error: unknown): void;
  /** The request is answered with this error: emits where the endpoint is what refused. */
  answered(request: Request, error: unknown): void;
}

/** Creates what emits the events; each request has one at most. */
export function createRefusedRequests({ refused }: Pick<HostedRuntime, 'refused'>): RefusedRequests {
  const callers = new WeakMap<Request, Principal>();
  const emitted = new WeakSet<Request>();
  const emit = (request: Request, error: unknown): void => {
    if (emitted.has(request)) return;
    emitted.add(request);
    refused(error, { ...traceOf(request), principal: callers.get(request) });
  };
  return {
    verified: (request, principal) => void callers.set(request, principal),
    unverified: emit,
    answered(request, error) {
      if (isOfEndpoint(error)) emit(request, error);
    },
  };
}

const statuses: ReadonlySet<number> = new Set([408, 413, 429]);
const reasons: ReadonlySet<unknown> = new Set([
  'instance_quota',
  'instance_bodies',
  'instance_body_bytes',
  'runtime_closed',
]);

function isOfEndpoint(thrown: unknown): boolean {
  const { status, details } = toPinnaceError(thrown);
  return statuses.has(status) || reasons.has(details?.['reason']);
}
