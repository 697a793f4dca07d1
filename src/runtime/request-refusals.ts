/** What was refused before it started: runs are counted, requests emit few enough events that a flood hides nothing else. */

import { toData, toPinnaceError } from '../base/errors.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Emit } from '../events/events.ts';
import { summaryOf } from '../events/payload-summary.ts';
import { actorOf } from '../events/span.ts';
import type { HostedRuntime } from './runtime.ts';

/** At most so many events a second: of callers that no authenticator has verified, and of all others. */
const mostUnverified = 5;
const mostVerified = 100;

/**
 * Returns the function that emits `request.refused`: one event a second for each tenant, code and reason. The next one counts those
 * that were left out (`coalesced`). Nothing of the request itself is in it, and it is never part of the audit.
 */
export function createRequestRefusals(
  { emit, now }: { readonly emit: Emit; readonly now: () => number },
): HostedRuntime['refused'] {
  let second = NaN;
  let emitted = new Set<string>();
  let unverified = 0;
  let coalesced = new Map<string, number>();
  let before = new Map<string, number>();
  return (thrown, { traceId, parentSpanId, principal }) => {
    const current = Math.floor(now() / 1000);
    if (current !== second) {
      // Counts of causes that had an event in neither of two seconds are dropped: the metrics have all.
      [second, emitted, unverified, before, coalesced] = [current, new Set(), 0, coalesced, new Map()];
    }
    const error = toData(thrown);
    const tenant = principal?.tenant;
    const cause = JSON.stringify([tenant ?? null, error.code, error.details?.['reason'] ?? null]);
    const isFull = principal ? emitted.size - unverified >= mostVerified : unverified >= mostUnverified;
    if (emitted.has(cause) || isFull) {
      if (emitted.has(cause)) coalesced.set(cause, (coalesced.get(cause) ?? 0) + 1);
      return;
    }
    emitted.add(cause);
    if (!principal) unverified++;
    emit({
      traceId,
      parentSpanId,
      tenant,
      actor: principal ? actorOf(principal) : { type: 'system', id: 'endpoint' },
      action: 'request.refused',
      target: { type: 'endpoint', id: 'http' },
      status: 'denied',
      latency: 0,
      error,
      payloadSummary: summaryOf({ coalesced: before.get(cause) }),
    });
  };
}

/** Adds to the metric of refused runs, under the error's code and its reason, which are fixed words. */
export function countRefusedRun(metrics: Metrics, thrown: unknown): void {
  const { code, details } = toPinnaceError(thrown);
  const reason = details?.['reason'];
  const isWord = typeof reason === 'string' && /^[a-z_]{1,64}$/.test(reason);
  metrics.count('pinnace_runs_refused_total', { code, reason: isWord ? reason : code });
}
