/** Runs one activity: passes its task to the work function, and takes the outcome. */

import type { Storage } from '../../contracts/storage.ts';
import { type AuthorizeCreate, type Creator, deniedCreates, noneDenied } from '../decide/authorize-create.ts';
import { failure, toFailure } from '../model/failure.ts';
import { readValue } from '../journal/outline.ts';
import { planDeadlineAt } from '../model/plan-clock.ts';
import type { Activity, AgentState, CallState, PlanState } from '../model/plan-state.ts';
import { type Report, reportHidden } from '../../events/report.ts';
import { type Span, type SpanEnd, statusOfError } from '../../events/span.ts';
import { spanIdOf } from '../model/span-id.ts';
import type { PlanEvents } from './emit-plan.ts';
import { type Account, remaining } from '../model/account.ts';
import type { PlanLimits } from '../model/plan-limits.ts';
import type {
  AgentContext,
  AgentTask,
  BudgetLeft,
  Delivered,
  InboxItem,
  RunAgent,
  StepOutcome,
  ValueRef,
} from './run-agent.ts';

/** An activity under way. */
export interface ActivityRun {
  readonly activity: Activity;
  /** How many items of the inbox it was given. */
  readonly seen: number;
  abort(reason: unknown): void;
}

/** What running needs. */
export interface ActivityRunOptions {
  readonly state: PlanState;
  readonly storage: Storage;
  readonly runAgent: RunAgent;
  readonly authorize: AuthorizeCreate | undefined;
  readonly report: Report;
  /** What each activity has set aside. */
  readonly reserve: PlanLimits['reserve'];
  /** Emits every activity. */
  readonly events: Pick<PlanEvents, 'start' | 'denied'> | undefined;
  /** `denied` are the actions that the agent may not do, by their place. */
  readonly onEnd: (run: ActivityRun, outcome: StepOutcome, denied: ReadonlyMap<number, string>) => void;
}

/** Starts an activity; `onEnd` receives its outcome later, never at once. */
export function startActivity(activity: Activity, options: ActivityRunOptions): ActivityRun {
  const { state, runAgent, onEnd } = options;
  const { agent } = activity;
  const inbox = activity.call ? noItems : inboxOf(agent, state);
  const step = options.events?.start(activity);
  const given = { storage: options.storage, planId: state.created?.planId ?? '', seen: inbox.length, span: step?.span };
  const run = new Run(activity, given);
  const needsReading = agent.memory?.ref !== undefined || agent.context?.ref !== undefined;
  const work = needsReading ? readFirst(run, activity, options, inbox).then((task) => runAgent(task, run)) : attempt(
    runAgent,
    toTask(activity, options, { inbox, memory: agent.memory?.value, context: agent.context?.value }),
    run,
  );
  work.then(
    (result) => {
      const outcome = isOutcome(result) ? result : nonsense;
      step?.end(endOf(outcome));
      return endRun(run, outcome, options);
    },
    (thrown: unknown) => {
      if (!run.isAborted) reportActivity(options, activity, thrown);
      const error = toFailure(thrown);
      step?.end({ status: statusOfError(error), error });
      onEnd(run, { type: 'failed', error }, noneDenied);
    },
  );
  return run;
}

/** Reports what an activity threw. A plan records a code and a fixed text of it. */
export function reportActivity(
  { report, state: { created } }: Pick<ActivityRunOptions, 'report' | 'state'>,
  { agent, call }: Activity,
  error: unknown,
): void {
  const plan = created && { planId: created.planId, traceId: created.terms.traceId };
  const { id, step } = agent;
  reportHidden(report, error, { kind: 'plan', id, ...plan, step, attempt: (call ?? agent).attempt });
}

function endOf(outcome: StepOutcome): SpanEnd {
  const { type, usage } = outcome;
  const error = type === 'failed' ? toFailure(outcome.error) : null;
  return { status: error ? statusOfError(error) : 'ok', error, payload: { outcome: type, tokens: usage?.tokens } };
}

/** Asks for permission to create sub-agents before the outcome is recorded. */
function endRun(run: Run, outcome: StepOutcome, options: ActivityRunOptions): void | Promise<void> {
  const { authorize, onEnd } = options;
  if (!authorize || outcome.type !== 'next') return onEnd(run, outcome, noneDenied);
  return endAuthorized(run, outcome, { ...options, authorize });
}

async function endAuthorized(
  run: Run,
  outcome: StepOutcome & { readonly type: 'next' },
  { state, authorize, events, onEnd }: ActivityRunOptions & { readonly authorize: AuthorizeCreate },
): Promise<void> {
  const { agent } = run.activity;
  const denied = await deniedCreates(outcome, authorize, creatorOf(agent, state));
  for (const index of denied.keys()) events?.denied(agent, outcome.actions?.[index]);
  onEnd(run, outcome, denied);
}

function creatorOf({ id, spec }: AgentState, { created }: PlanState): Creator {
  if (!created) throw new Error('A plan that has not begun has no activities');
  const { planId, owner } = created;
  return { planId, owner, address: id, ...(spec.agentId !== undefined && { agentId: spec.agentId }) };
}

const noItems: readonly InboxItem[] = [];
const nonsense: StepOutcome = {
  type: 'failed',
  error: failure('internal', 'Cannot use the outcome of an activity: it is none', { reason: 'wrong_outcome' }),
};

/** Types do not reach everyone. */
function isOutcome(outcome: StepOutcome | undefined): boolean {
  const type = outcome?.type;
  return type === 'done' || type === 'next' || type === 'output' || type === 'failed';
}

/** The inbox in its order; results that were awaited together in the order in which their agents were made. */
function inboxOf({ inbox, wait }: AgentState, { agents }: PlanState): readonly InboxItem[] {
  if (inbox.length === 0) return noItems;
  if (inbox.length === 1 || (wait.mode !== 'all' && wait.mode !== 'none')) return inbox.slice();
  const orderOf = (item: InboxItem): number => item.type === 'result' ? agents.get(item.from)?.order ?? 0 : -1;
  return inbox.toSorted((a, b) => orderOf(a) - orderOf(b));
}

/** A function that throws at once is as good as one that rejects. */
function attempt(runAgent: RunAgent, task: AgentTask, context: AgentContext): Promise<StepOutcome> {
  try {
    return runAgent(task, context);
  } catch (error) {
    return Promise.reject(error);
  }
}

async function readFirst(
  context: AgentContext,
  activity: Activity,
  options: TaskOptions,
  inbox: readonly InboxItem[],
): Promise<AgentTask> {
  const { agent } = activity;
  const read = async (held: Delivered | undefined): Promise<unknown> =>
    held?.ref ? await context.read(held.ref) : held?.value;
  const [memory, given] = await Promise.all([read(agent.memory), read(agent.context)]);
  return toTask(activity, options, { inbox, memory, context: given });
}

/** Creates its abort controller on first use: most activities of a large plan never need it. */
class Run implements ActivityRun, AgentContext {
  readonly activity: Activity;
  readonly seen: number;
  readonly #storage: Storage;
  readonly #planId: string;
  readonly span: Span | undefined;
  #controller: AbortController | undefined;
  #reason: unknown;

  constructor(
    activity: Activity,
    { storage, planId, seen, span }: { storage: Storage; planId: string; seen: number; span: Span | undefined },
  ) {
    this.activity = activity;
    this.span = span;
    this.seen = seen;
    this.#storage = storage;
    this.#planId = planId;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  get spanId(): string {
    return spanIdOf(this.#planId, this.activity.agent.id);
  }

  get parentSpanId(): string | undefined {
    const { parent } = this.activity.agent;
    return parent && spanIdOf(this.#planId, parent.id);
  }

  read(ref: ValueRef): Promise<unknown> {
    return readValue(this.#storage, this.#planId, ref);
  }

  get isAborted(): boolean {
    return this.#reason !== undefined;
  }

  abort(reason: unknown): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

type TaskOptions = Pick<ActivityRunOptions, 'state' | 'reserve'>;

/** A task as it is built: what is optional is set where it is there, for copying parts of objects is what would take the time. */
type TaskDraft = { -readonly [K in keyof AgentTask]: AgentTask[K] };

function toTask(
  { agent, call, id }: Activity,
  { state, reserve }: TaskOptions,
  given: { readonly inbox: readonly InboxItem[]; readonly memory: unknown; readonly context: unknown },
): AgentTask {
  const { created } = state;
  if (!created) throw new Error('A plan that has not begun has no activities');
  const { spec } = agent;
  const { planId, terms, owner } = created;
  const task: TaskDraft = {
    planId,
    traceId: terms.traceId,
    owner,
    address: agent.id,
    depth: agent.depth,
    goal: spec.goal,
    context: given.context === undefined ? none : given.context as readonly unknown[], // checked when the agent was made
    step: agent.step,
    attempt: call?.attempt ?? agent.attempt,
    effect: call?.spec.effect ?? spec.effect ?? 'pure',
    idempotencyKey: `${planId}:${id}`,
    deadlineAt: deadlineOf(agent, planDeadlineAt(state)),
    memory: given.memory,
    inbox: given.inbox,
    mayCreate: agent.depth < terms.maxDepth,
  };
  if (spec.agentId !== undefined) task.agentId = spec.agentId;
  if (spec.role !== undefined) task.role = spec.role;
  if (spec.constraints !== undefined) task.constraints = spec.constraints;
  if (spec.tools !== undefined) task.tools = spec.tools;
  const above = agentsAbove(agent);
  if (above !== undefined) task.above = above;
  if (terms.callers !== undefined) task.callers = terms.callers;
  if (call) task.call = toCall(call);
  if (agent.account.isMetered) task.left = leftOf(agent.account, reserve, terms.currency);
  return task;
}

const none: readonly unknown[] = [];

/** What is left, with what the activity has set aside for itself. */
function leftOf(account: Account, reserve: PlanLimits['reserve'], currency: string | undefined): BudgetLeft {
  const { tokens, cost } = remaining(account);
  return {
    ...(tokens !== Infinity && { tokens: tokens + reserve.tokens }),
    ...(cost !== Infinity && { cost: cost + reserve.cost, ...(currency !== undefined && { currency }) }),
  };
}

/** The other agents that have made this one: in large plans mostly none, and nothing is made for them. */
function agentsAbove({ spec: { agentId }, parent }: AgentState): readonly string[] | undefined {
  let ids: string[] | undefined;
  for (let above = parent; above; above = above.parent) {
    const id = above.spec.agentId;
    if (id !== undefined && id !== agentId && !ids?.includes(id)) (ids ??= []).push(id);
  }
  return ids;
}

function toCall({ spec: { callId, tool, input, ask } }: CallState): NonNullable<AgentTask['call']> {
  return { ...(callId !== undefined && { callId }), tool, input, approved: ask !== undefined };
}

/** An agent has no more time than those above it. */
export function deadlineOf(agent: AgentState, ofPlan: number): number {
  let deadlineAt = ofPlan;
  for (let at: AgentState | undefined = agent; at; at = at.parent) {
    deadlineAt = Math.min(deadlineAt, at.spec.deadlineAt ?? Infinity);
  }
  return deadlineAt;
}
