/** The plans of an endpoint: read and steered over signed requests by their owners. */

import type { CallOptions } from './call-options.ts';
import type { PlanView } from '../../../src/planner/plan-view.ts';

/** The plans of an endpoint. A plan of another owner is `not_found`. Repeating a call changes nothing. */
export interface RemotePlans {
  /** The state of the plan, with its tasks. */
  view(planId: string, options?: CallOptions): Promise<PlanView>;
  /** Starts no more activities until `resume`. Deadlines keep running. */
  pause(planId: string, options?: CallOptions): Promise<void>;
  resume(planId: string, options?: CallOptions): Promise<void>;
  /** Cancels the plan, or with an `address` one agent and its sub-agents. */
  cancel(
    planId: string,
    options?: CallOptions & { readonly address?: string; readonly reason?: string },
  ): Promise<void>;
}

/** Sends one request and returns the JSON of the response. */
type Call = (method: string, path: string, options: CallOptions & { readonly body?: unknown }) => Promise<unknown>;

/** Creates the plans of a remote endpoint. */
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
