/** The plans of an endpoint: looked at and steered over signed requests by those for whom they work. */

import type { CallOptions } from './call-options.ts';
import type { PlanView } from '../../../src/planner/view/plan-view.ts';

/** The plans of an endpoint. A plan that works for somebody else is `not_found`; asking for something again changes nothing. */
export interface RemotePlans {
  /** How the plan stands, with its tasks. */
  view(planId: string, options?: CallOptions): Promise<PlanView>;
  /** Starts no more activities, until `resume`. Deadlines go on. */
  pause(planId: string, options?: CallOptions): Promise<void>;
  resume(planId: string, options?: CallOptions): Promise<void>;
  /** Cancels the plan, or with an `address` one agent and all below it. */
  cancel(
    planId: string,
    options?: CallOptions & { readonly address?: string; readonly reason?: string },
  ): Promise<void>;
}

/** Sends one request, and gives the JSON of its answer. */
type Call = (method: string, path: string, options: CallOptions & { readonly body?: unknown }) => Promise<unknown>;

/** Creates the plans of the endpoint that is called. */
export function createRemotePlans(call: Call): RemotePlans {
  const pathOf = (planId: string): string => `/v1/plans/${encodeURIComponent(planId)}`;
  return {
    view: async (planId, given = {}) => await call('GET', pathOf(planId), given) as PlanView, // the endpoint's schema says so
    pause: async (planId, given = {}) => void await call('POST', `${pathOf(planId)}/pause`, given),
    resume: async (planId, given = {}) => void await call('POST', `${pathOf(planId)}/resume`, given),
    cancel: async (planId, { signal, ...body } = {}) =>
      void await call('POST', `${pathOf(planId)}/cancel`, { signal, body }),
  };
}
