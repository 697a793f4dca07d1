/** The seam between runs and plans: a run starts a plan or finds one, follows it to its end, and passes on replies and cancellation. */

import type { ErrorData } from '../base/errors.ts';
import type { ArgumentFacts, Principal } from '../base/principal.ts';

/** Plans for runs. A plan of another tenant is `not_found`. */
export interface Plans {
  /** Starts a plan and returns its id. The same key with the same request returns the same plan. */
  start(
    request: PlanStart,
    principal: Principal,
    options: {
      readonly idempotencyKey?: string;
      /** Each lowers the limits of the planner for this plan. */
      readonly bounds?: readonly (PlanBounds | undefined)[];
      readonly signal?: AbortSignal;
      /** Who has said the request, and who may read it. Absent: the caller. */
      readonly read?: ArgumentFacts;
    },
  ): Promise<{ readonly planId: string }>;
  /** Waits until the plan has ended or is suspended, wherever it runs. An abort ends the waiting. */
  outcome(planId: string, principal: Principal, options: { readonly signal?: AbortSignal }): Promise<unknown>;
  /** Returns the current view. Rejects with `not_found` for a plan that this principal cannot read. */
  view(planId: string, principal: Principal): Promise<PlanProgress>;
  /**
   * Yields every change, and the end last. The end of a suspended plan is `suspended`; with `throughWaits` the plan is followed
   * through its waits. After an abort nothing more is yielded; the plan continues.
   */
  follow(planId: string, principal: Principal, options: FollowOptions): AsyncIterable<PlanUpdate>;
  /** Cancels the plan for a caller; the permission hook may refuse. */
  cancel(planId: string, principal: Principal, options: { readonly reason: string }): Promise<void>;
  /** Cancels the plan without asking the permission hook: its agent or session was revoked, or it timed out. */
  stop(planId: string, principal: Principal, options: { readonly reason: string }): Promise<void>;
  /** Answers a question; the plan then continues. `edited` is what the person has changed of the call, checked already. */
  reply(planId: string, principal: Principal, reply: EditingReply): Promise<unknown>;
  /** The events behind `after`, some at a time; none when there are no more. */
  events(
    planId: string,
    principal: Principal,
    options: { readonly after: number },
  ): Promise<readonly { readonly seq: number; readonly event: { readonly type: string } }[]>;
  /** Reads a large value by its reference. */
  read(
    planId: string,
    principal: Principal,
    ref: { readonly name: string; readonly length: number; readonly preview: string },
  ): Promise<unknown>;
  /** Claims a plan that is due. Resolves to whether it was claimed here. */
  wake(planId: string): Promise<boolean>;
  /** Releases all plans to other processes. */
  close(options?: { readonly handOver?: boolean }): Promise<void>;
}

/** What bounds a plan besides the limits of its planner; times in milliseconds. */
export interface PlanBounds {
  readonly agents?: number | undefined;
  readonly steps?: number | undefined;
  readonly totalMs?: number | undefined;
}

/** A request for a plan. The planner parses its other fields and rejects unknown ones. */
export interface PlanStart extends Readonly<Record<string, unknown>> {
  readonly goal: string;
  readonly agentId: string;
  readonly context: readonly unknown[];
}

/** A person's answer to a question; for a tool call `{ approved, reason? }`. */
export interface PlanReply {
  readonly askId: string;
  readonly answer: unknown;
}

/** The answer to an approval, with the input of the person. */
export interface EditingReply extends PlanReply {
  readonly edited?: { readonly input: unknown; readonly digest: string; readonly paths: readonly string[] } | undefined;
}

/** How a plan is followed. */
export interface FollowOptions {
  /** Ends the following, not the plan. */
  readonly signal?: AbortSignal | undefined;
  /** Continues while the plan is suspended. */
  readonly throughWaits?: boolean | undefined;
}

/** The data of a `data-plan` part, as far as a run reads it. */
export interface PlanProgress {
  readonly traceId: string;
  /** Counted from the plan's start, whichever run follows it. */
  readonly used: { readonly steps: number; readonly tokens: number; readonly cost: number };
  /** The currency of the cost; absent where part of it has no price, or another currency. */
  readonly currency?: string | undefined;
}

/** A change of a plan, or its end. */
export type PlanUpdate =
  | { readonly type: 'view'; readonly view: PlanProgress }
  /** `read`: who has said what the agents of the plan have read, and who may read it. */
  | { readonly type: 'end'; readonly end: PlanEnd; readonly read: ArgumentFacts };

/** The end of a plan, or of following it. `unknownCalls` are calls that may have acted and have no result. */
export type PlanEnd =
  /** `cites` are the addresses of the agents whose work the result rests on. */
  | { readonly state: 'completed'; readonly text: string; readonly cites: readonly string[] }
  | { readonly state: 'suspended' }
  | { readonly state: 'cancelled'; readonly reason: string; readonly unknownCalls: readonly PlanCallFacts[] }
  | { readonly state: 'failed'; readonly error: ErrorData; readonly unknownCalls: readonly PlanCallFacts[] };

/** A tool call of an agent of a plan. */
export interface PlanCallFacts {
  /** Unique within the plan: `1-2#3.1`. */
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
}
