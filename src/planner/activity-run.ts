/** Runs one activity: passes its task to the work function, and takes the outcome. */

import { reportHidden } from '../events/report.ts';
import { type Span, type SpanEnd, statusOfError } from '../events/span.ts';
import { trusted } from '../permission/label.ts';
import { type Account, remaining } from './account.ts';
import { type Creator, deniedCreates, noneDenied } from './authorize-create.ts';
import { type PlanEvents, spanIdOf } from './emit-plan.ts';
import { failure, toFailure } from './failure.ts';
import { readValue } from './plan-record.ts';
import type { PlanHost } from './plan-host.ts';
import type { PlanLimits } from './plan-limits.ts';
import { type Activity, type AgentState, type CallState, planDeadlineAt, type PlanState } from './plan-state.ts';
import type { AgentContext, AgentTask, BudgetLeft, Delivered, InboxItem, StepOutcome, ValueRef } from './run-agent.ts';

/** What the activities of one plan share. */
export interface PlanActivities {
  readonly state: PlanState;
  readonly host: PlanHost;
  /** Emits every activity. */
  readonly events: PlanEvents | undefined;
  /** Called later, never at once. `denied` are the actions that the agent may not do, by their place. */
  readonly onEnd: (run: ActivityRun, outcome: StepOutcome, denied: ReadonlyMap<number, string>) => void;
}

/** An activity under way. It creates its abort controller on first use: most activities of a large plan never need it. */
export class ActivityRun implements AgentContext {
  readonly activity: Activity;
  /** How many items of the inbox it was given. */
  readonly seen: number;
  readonly span: Span | undefined;
  readonly #plan: PlanActivities;
  readonly #endSpan: ((how: SpanEnd) => void) | undefined;
  #controller: AbortController | undefined;
  #reason: unknown;

  /** Starts the activity. */
  constructor(activity: Activity, plan: PlanActivities) {
    const inbox = activity.call ? [] : inboxOf(activity.agent, plan.state);
    const step = plan.events?.start(activity);
    this.activity = activity;
    this.seen = inbox.length;
    this.span = step?.span;
    this.#plan = plan;
    this.#endSpan = step?.end;
    this.#work(inbox).then((outcome) => this.#end(outcome), (thrown: unknown) => this.#fail(thrown));
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
    return readValue(this.#plan.host.storage, this.#planId, ref);
  }

  abort(reason: unknown): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }

  get #planId(): string {
    return this.#plan.state.created?.planId ?? '';
  }

  async #work(inbox: readonly InboxItem[]): Promise<StepOutcome> {
    const { activity, activity: { agent: { memory, context } } } = this;
    const read = (held: Delivered | undefined): unknown => held?.ref ? this.read(held.ref) : held?.value;
    const isStored = memory?.ref !== undefined || context?.ref !== undefined;
    const values = [read(memory), read(context)];
    const [memoryValue, contextValue] = isStored ? await Promise.all(values) : values;
    const task = toTask(activity, this.#plan, { inbox, memory: memoryValue, context: contextValue });
    return await this.#plan.host.runAgent(task, this);
  }

  /** Asks for permission to create sub-agents before the outcome is recorded. */
  async #end(result: StepOutcome): Promise<void> {
    const { state: { created }, host: { authorize }, events, onEnd } = this.#plan;
    const outcome = isOutcome(result) ? result : nonsense;
    this.#endSpan?.(endOf(outcome));
    if (!authorize || outcome.type !== 'next' || !created) return onEnd(this, outcome, noneDenied);
    const { agent } = this.activity;
    const { planId, owner } = created;
    const { id: address, spec: { agentId } } = agent;
    const creator: Creator = { planId, owner, address, ...(agentId !== undefined && { agentId }) };
    const denied = await deniedCreates(outcome, authorize, creator);
    for (const index of denied.keys()) events?.denied(agent, outcome.actions?.[index]);
    onEnd(this, outcome, denied);
  }

  #fail(thrown: unknown): void {
    if (this.#reason === undefined) reportActivity(this.#plan, this.activity, thrown);
    const error = toFailure(thrown);
    this.#endSpan?.({ status: statusOfError(error), error });
    this.#plan.onEnd(this, { type: 'failed', error, read: trusted }, noneDenied); // its text is ours
  }
}

/** Reports what an activity threw. A plan records a code and a fixed text of it. */
export function reportActivity(
  { host: { report }, state: { created } }: PlanActivities,
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

const nonsense: StepOutcome = {
  type: 'failed',
  read: trusted,
  error: failure('internal', 'Cannot use the outcome of an activity: it is none', { reason: 'wrong_outcome' }),
};

/** Types do not reach everyone. */
function isOutcome(outcome: StepOutcome | undefined): boolean {
  const type = outcome?.type;
  return type === 'done' || type === 'next' || type === 'output' || type === 'failed' || type === 'asks';
}

/** The inbox in its order; results that were awaited together in the order in which their agents were made. */
function inboxOf({ inbox, wait }: AgentState, { agents }: PlanState): readonly InboxItem[] {
  if (inbox.length < 2 || (wait.mode !== 'all' && wait.mode !== 'none')) return inbox.slice();
  const orderOf = (item: InboxItem): number => item.type === 'result' ? agents.get(item.from)?.order ?? 0 : -1;
  return inbox.toSorted((a, b) => orderOf(a) - orderOf(b));
}

function toTask(
  { agent, call, id }: Activity,
  { state, host: { limits: { reserve } } }: PlanActivities,
  given: { readonly inbox: readonly InboxItem[]; readonly memory: unknown; readonly context: unknown },
): AgentTask {
  const { created } = state;
  if (!created) throw new Error('A plan that has not begun has no activities');
  const { planId, terms: { traceId, callers, maxDepth, currency }, owner } = created;
  const { spec: { goal, agentId, role, constraints, tools, effect = 'pure' }, account, depth } = agent;
  const above = agentsAbove(agent);
  return {
    planId,
    traceId,
    owner,
    address: agent.id,
    depth,
    ...(agentId !== undefined && { agentId }),
    ...(role !== undefined && { role }),
    goal,
    context: (given.context ?? []) as readonly unknown[], // checked when the agent was made
    ...(constraints !== undefined && { constraints }),
    ...(tools !== undefined && { tools }),
    ...(above.length > 0 && { above }),
    ...(callers !== undefined && { callers }),
    step: agent.step,
    attempt: call?.attempt ?? agent.attempt,
    effect: call?.spec.effect ?? effect,
    idempotencyKey: `${planId}:${id}`,
    deadlineAt: deadlineOf(agent, planDeadlineAt(state)),
    ...(call && { call: toCall(call) }),
    ...(account.isMetered && { left: leftOf(account, reserve, currency) }),
    memory: given.memory,
    read: state.read,
    inbox: given.inbox,
    mayCreate: depth < maxDepth,
  };
}

/** What is left, with what the activity has set aside for itself. */
function leftOf(account: Account, reserve: PlanLimits['reserve'], currency: string | undefined): BudgetLeft {
  const { tokens, cost } = remaining(account);
  return {
    ...(tokens !== Infinity && { tokens: tokens + reserve.tokens }),
    ...(cost !== Infinity && { cost: cost + reserve.cost, ...(currency !== undefined && { currency }) }),
  };
}

/** The other agents that have made this one. */
function agentsAbove({ spec: { agentId }, parent }: AgentState): readonly string[] {
  const ids = new Set<string>();
  for (let above = parent; above; above = above.parent) {
    const id = above.spec.agentId;
    if (id !== undefined && id !== agentId) ids.add(id);
  }
  return [...ids];
}

function toCall({ spec: { callId, tool, input, ask }, edited: edit }: CallState): NonNullable<AgentTask['call']> {
  const { before: _, ...edited } = edit ?? { before: undefined };
  return {
    ...(callId !== undefined && { callId }),
    tool,
    input,
    approved: ask !== undefined,
    ...(edit && { edited }),
  };
}

/** An agent has no more time than those above it. */
function deadlineOf(agent: AgentState, ofPlan: number): number {
  let deadlineAt = ofPlan;
  for (let at: AgentState | undefined = agent; at; at = at.parent) {
    deadlineAt = Math.min(deadlineAt, at.spec.deadlineAt ?? Infinity);
  }
  return deadlineAt;
}
