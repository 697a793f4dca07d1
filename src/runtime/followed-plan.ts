/** The plan of a request. Its code is loaded with the first request for one. */

import { PinnaceError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Agent, LimitOverrides } from '../base/schema.ts';
import type { Span } from '../events/span.ts';
import type { Usage } from './model-budget.ts';
import type { Loop } from './run-record.ts';

/** A plan that a run follows. */
export interface FollowedPlan {
  readonly planId: string;
  /** Returns the run's loop, which adds up what the plan uses. */
  follow(run: FollowingRun): Loop;
  /**
   * Cancels the plan of an aborted run. A plan whose reader has left goes on in process, and over HTTP where its request had
   * `background`. Resolves when the run may end: the cancellation is recorded and the loop has shown it, or it took too long.
   */
  abandon(reason: unknown): Promise<void>;
  /** Resolves when the plan has ended or waits for a person, also after its run: it counts as a run until then. */
  settled(signal: AbortSignal): Promise<void>;
}

/** The run that follows a plan. */
export interface FollowingRun {
  readonly signal: AbortSignal;
  readonly traceId: string;
  readonly usage: Pick<Usage, 'steps' | 'totalTokens' | 'cost'>;
}

/** Who starts or follows a plan, and where. */
export interface PlanOwner {
  readonly principal: Principal;
  /** The agent that plans: its record allows plans over HTTP, and bounds them. */
  readonly agent: Pick<Agent, 'id' | 'plans' | 'limits'>;
  /** The limits of runs that the composition has set, which bound plans over HTTP. */
  readonly limits: LimitOverrides | undefined;
  /** The idempotency key of the run. */
  readonly key: string | undefined;
  readonly span: Pick<Span, 'traceId' | 'spanId'>;
  /** Aborts when the caller leaves before the run has started. */
  readonly signal: AbortSignal;
}

/** The error for a request whose plan cannot be started. */
export function noPlan(why: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot plan: ${why}`, { details: { reason } });
}
