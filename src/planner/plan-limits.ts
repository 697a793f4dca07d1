/** The bounds of plans. An operator sets them; a request can only narrow them. */

import type { PlanBounds } from '../contracts/plans.ts';

/** Times in milliseconds. */
export interface PlanLimits {
  /** How deep agents may be nested below the first. */
  readonly maxDepth: number;
  /** Model and tool calls at once. */
  readonly maxParallelism: number;
  /** Agents over the whole life of a plan. */
  readonly agents: number;
  /** Model and tool calls over the whole life of a plan. */
  readonly steps: number;
  /** From the start to the end, time that a person takes included. */
  readonly totalMs: number;
  /** How long a person may take to answer, where the question does not say. */
  readonly askMs: number;
  /** Calls at once by provider, over all plans of this instance. */
  readonly providers: Readonly<Record<string, number>>;
  /** What a call is taken to use until its usage is known. */
  readonly reserve: { readonly tokens: number; readonly cost: number };
  /** Repeats without progress before the plan counts as stalled. */
  readonly stallAfter: number;
  /** How long an owner outlasts a storage that is out of reach. */
  readonly storageGraceMs: number;
  /** A plan that waits for a timer this near keeps its owner. */
  readonly lingerMs: number;
  /** So many events lie between two snapshots of a plan's state, more where more agents live. */
  readonly snapshotEvents: number;
  /** Retention of a plan's records. */
  readonly retentionMs: number;
}

const dayMs = 86_400_000;

/** The smaller defaults of plans that are requested over HTTP: one request must not buy thousands of model calls. */
export const httpPlanLimits = { agents: 200, steps: 2_000, totalMs: dayMs } as const;

/** Returns the limits of a new plan: those of its planner, each lowered to the smallest of the bounds. */
export function limitsOfPlan(
  given: Partial<PlanLimits> | undefined,
  { via, bounds = [] }: { readonly via: 'in-process' | 'http'; readonly bounds?: readonly (PlanBounds | undefined)[] },
): PlanLimits {
  const limits = { ...defaultPlanLimits, ...(via === 'http' && httpPlanLimits), ...given };
  const least = (name: keyof PlanBounds): number =>
    bounds.reduce((most, bound) => Math.min(most, bound?.[name] ?? Infinity), limits[name]);
  return { ...limits, agents: least('agents'), steps: least('steps'), totalMs: least('totalMs') };
}

/** What holds where nothing else is said. */
export const defaultPlanLimits: PlanLimits = {
  maxDepth: 4,
  maxParallelism: 16,
  agents: 2_000,
  steps: 100_000,
  totalMs: 30 * dayMs,
  askMs: 30 * dayMs,
  providers: {},
  reserve: { tokens: 4000, cost: 0 },
  stallAfter: 3,
  storageGraceMs: 10_000,
  lingerMs: 30_000,
  snapshotEvents: 1000,
  retentionMs: 60 * dayMs,
};
