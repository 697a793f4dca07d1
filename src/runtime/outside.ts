/** What principals do beside runs: where it is told of, and the one way to do it. */

import { createTraceId } from '../events/trace-ids.ts';
import { guarded } from '../permission/guarded.ts';
import { traceAt } from '../events/span.ts';
import type { RuntimeOptions } from './pipeline.ts';
import type { HostedRuntime } from './runtime.ts';

/** Gives the place and the guard of `HostedRuntime`. */
export function createOutside(
  options: Pick<RuntimeOptions, 'authorize' | 'recorder' | 'emit' | 'now'>,
): Pick<HostedRuntime, 'place' | 'guard'> {
  const place: HostedRuntime['place'] = ({ tenant, subject }, trace) => {
    const { traceId, parentSpanId } = trace ?? { traceId: createTraceId() };
    return traceAt({ traceId, parentSpanId, tenant, actor: { type: 'user', id: subject } }, options);
  };
  return {
    place,
    guard({ principal, trace, ...deed }, work) {
      const at = place(principal, trace);
      const actor = { type: 'user', id: principal.subject } as const;
      return guarded({ ...deed, principal, actor, place: at }, options, () => work(at));
    },
  };
}
