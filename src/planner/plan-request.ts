/** The request of a plan. */

import * as v from 'valibot';
import { createTraceId } from '../events/trace-ids.ts';
import { readData } from '../base/json.ts';
import { invalid, type Issue, parse, toIssue } from '../base/parse.ts';
import { Money } from '../base/record-fields.ts';
import { createSlices, type Slices } from '../base/turns.ts';
import { Budget, DurationMs, Task } from './action.ts';
import type { PlanLimits } from './plan-limits.ts';

const Text = v.pipe(v.string(), v.minLength(1), v.maxLength(65_536));
const Count = v.pipe(v.number(), v.integer(), v.minValue(1));
const traceIdForm = /^(?:[0-9a-f]{32}|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$/;

/** A plan that is given rather than made: a graph of tasks. */
const GivenPlan = v.strictObject({
  tasks: v.pipe(v.array(Task), v.minLength(1)),
  /** The task whose result is the plan's; without one, the results of all by their keys. */
  result: v.optional(v.string()),
});

/** The same where the tasks are read later, in slices. */
const UnreadPlan = v.strictObject({ ...GivenPlan.entries, tasks: v.pipe(v.array(v.unknown()), v.minLength(1)) });

/** The most names in the `after` of all tasks of a given plan. */
const mostDependencies = 200_000;
/** The most issues of one error. */
const mostIssues = 20;

/** As `Budget`; the cost may have a currency. */
const PlanBudget = v.strictObject({
  ...Budget.entries,
  cost: v.optional(v.union([v.pipe(v.number(), v.minValue(0)), Money])),
});

/** A request as callers write it. */
export const PlanRequest = v.strictObject({
  goal: Text,
  context: v.optional(v.pipe(v.array(v.unknown()), v.maxLength(100)), []),
  constraints: v.optional(Text),
  maxDepth: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  maxParallelism: v.optional(Count),
  allowHumanIntervention: v.optional(v.boolean(), false),
  /** Milliseconds for the whole plan. */
  timeout: v.optional(DurationMs),
  /** Whether that time pauses while a question to a person is open. The operator's limit of total time continues. */
  pauseClockOnAsk: v.optional(v.boolean(), false),
  /** 32 hexadecimal digits, also written as a UUID. */
  traceId: v.optional(v.pipe(v.string(), v.regex(traceIdForm, 'must be 32 hexadecimal digits or a UUID'))),
  /** The span that the plan is within: 16 hexadecimal digits. */
  parentSpanId: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/, 'must be 16 hexadecimal digits'))),
  /** A cost without a currency is in the unit of `usage.cost`. */
  budget: v.optional(PlanBudget, {}),
  /** The agent of the registry that plans. */
  agentId: v.optional(v.string()),
  role: v.optional(v.pipe(v.string(), v.maxLength(200))),
  /** The agents that have handed the work on by tools, one to the other: there may be only so many. */
  callers: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(256))), v.maxLength(16))),
  plan: v.optional(GivenPlan),
});
const UnreadRequest = v.strictObject({ ...PlanRequest.entries, plan: v.optional(UnreadPlan) });
/** The request for a plan, as callers write it: fields with defaults are optional. */
export type PlanRequestInput = v.InferInput<typeof PlanRequest>;

/** A request with all defaults and within the limits: the first entry of a plan's journal. */
export interface PlanTerms extends Omit<v.InferOutput<typeof PlanRequest>, 'timeout' | 'plan' | 'budget'> {
  readonly budget: Budget;
  /** The currency of the budget's cost. */
  readonly currency?: string;
  readonly maxDepth: number;
  readonly maxParallelism: number;
  readonly traceId: string;
  /** Milliseconds since 1970. */
  readonly deadlineAt: number;
  /** The latest possible deadline, where the clock may pause. */
  readonly latestAt?: number;
  readonly stallAfter: number;
  readonly given: boolean;
  /** The task of a given plan whose result is the plan's. */
  readonly resultOf?: string;
}

/**
 * Reads a request. The graph of a given plan is read in slices: a dense one has hundreds of thousands of dependencies.
 *
 * @throws PinnaceError `invalid_argument` for one that breaks the schema, and for a plan whose tasks share a key, come after one
 * that does not exist, or wait for each other; `cancelled` when the signal aborts.
 */
export async function readPlanRequest(
  input: unknown,
  { limits, now, signal }: { limits: PlanLimits; now: number; signal?: AbortSignal | undefined },
): Promise<{ readonly terms: PlanTerms; readonly tasks: readonly Task[] }> {
  const { timeout = limits.totalMs, plan, ...request } = parse(UnreadRequest, readData(input), {
    what: 'the plan request',
  });
  const { cost, ...counts } = request.budget;
  const budget = {
    ...counts,
    ...(cost !== undefined && { cost: typeof cost === 'object' ? cost.amount : cost }),
    agents: Math.min(request.budget.agents ?? Infinity, limits.agents),
    steps: Math.min(request.budget.steps ?? Infinity, limits.steps),
  };
  const terms: PlanTerms = {
    ...request,
    budget,
    ...(typeof cost === 'object' && { currency: cost.currency }),
    maxDepth: Math.min(request.maxDepth ?? Infinity, limits.maxDepth),
    maxParallelism: Math.min(request.maxParallelism ?? Infinity, limits.maxParallelism),
    traceId: request.traceId?.replaceAll('-', '').toLowerCase() ?? createTraceId(),
    deadlineAt: now + Math.min(timeout, limits.totalMs),
    ...(request.pauseClockOnAsk && { latestAt: now + limits.totalMs }),
    stallAfter: limits.stallAfter,
    given: plan !== undefined,
    ...(plan?.result !== undefined && { resultOf: plan.result }),
  };
  if (!plan) return { terms, tasks: [] };
  const most = budget.agents - 1;
  if (plan.tasks.length > most) throw refuse('plan.tasks', `must be at most ${most}`);
  if (terms.maxDepth < 1) throw refuse('maxDepth', 'must be 1 at least, for tasks are agents below the first');
  const slices = createSlices(signal);
  const tasks = await readTasks(plan.tasks, slices);
  return { terms, tasks: await orderTasks(tasks, { result: plan.result, slices }) };
}

/** Parses the tasks; names in `after` are kept once. */
async function readTasks(given: readonly unknown[], slices: Slices): Promise<readonly Task[]> {
  const tasks: Task[] = [];
  const issues: Issue[] = [];
  let dependencies = 0;
  for (const [index, task] of given.entries()) {
    const result = v.safeParse(Task, task);
    if (result.success) {
      const { output } = result;
      tasks.push(output.after.length > 1 ? { ...output, after: [...new Set(output.after)] } : output);
      dependencies += output.after.length;
    } else {
      for (const { path, message } of result.issues.map(toIssue)) {
        issues.push({ path: ['plan.tasks', index, ...(path ? [path] : [])].join('.'), message });
      }
    }
    if (dependencies > mostDependencies) {
      throw refuse('plan.tasks', `must have at most ${mostDependencies} dependencies`, 'too_many_dependencies');
    }
    if (issues.length >= mostIssues) break;
    await slices.next(1 + (result.success ? result.output.after.length : 0));
  }
  if (issues.length > 0) throw invalid('the plan request', issues);
  return tasks;
}

/** Returns the tasks in an order in which each comes after those that it needs, otherwise as they were given. */
async function orderTasks(
  tasks: readonly Task[],
  { result, slices }: { readonly result: string | undefined; readonly slices: Slices },
): Promise<readonly Task[]> {
  const places = new Map<string, number>();
  for (const [place, { key }] of tasks.entries()) places.set(key, place);
  if (places.size < tasks.length) throw refuse('plan.tasks', 'must have different keys');
  if (result !== undefined && !places.has(result)) throw refuse('plan.result', 'must be the key of a task');
  if (tasks.every(({ after }) => after.length === 0)) return tasks;
  const waitsFor = tasks.map(({ after }) => after.length);
  const dependents: number[][] = tasks.map(() => []);
  for (const [place, { key, after }] of tasks.entries()) {
    for (const name of after) {
      const before = dependents[places.get(name) ?? -1];
      if (!before) throw refuse('plan.tasks', `must come after tasks of the plan only, unlike "${key}"`);
      before.push(place);
    }
    await slices.next(after.length);
  }
  const ordered = tasks.filter(({ after }) => after.length === 0);
  for (const { key } of ordered) { // grows while it is walked
    const next = dependents[places.get(key)!]!; // both have each task
    for (const place of next) if (--waitsFor[place]! === 0) ordered.push(tasks[place]!);
    await slices.next(next.length);
  }
  if (ordered.length < tasks.length) throw refuse('plan.tasks', 'must not wait for each other');
  return ordered;
}

function refuse(path: string, message: string, reason?: string): Error {
  return invalid('the plan request', [{ path, message }], reason);
}
