/** Hands a task to another agent, as a plan of that agent alone. Loaded with the first call of a tool of type `agent`. */

import { fromData, PinnaceError } from '../base/errors.ts';
import { createPrincipal, type Principal } from '../base/principal.ts';
import type { PlanEnd, PlanProgress, PlanStart, PlanUpdate } from '../contracts/plans.ts';
import { parseLabel, unlabelled } from '../permission/label.ts';
import type { AgentToolOptions } from './agent-tool.ts';
import { type Delegation, type Reserve, unboundDelegation } from './run-scope.ts';
import type { ToolContext } from './tool.ts';

/** How many agents may hand work on, one to the other. */
const maxDepth = 4;

/** A task and the agent that gets it. */
export interface Handed {
  readonly agentId: string;
  readonly task: string;
}

/** Returns the agent's answer as text. @throws PinnaceError as the agent does, and `budget_exceeded` where nothing is left for it. */
export async function callAgent(handed: Handed, context: ToolContext, options: AgentToolOptions): Promise<unknown> {
  const delegation = context.delegation ?? unboundDelegation([]);
  requireDepth(delegation, handed);
  const reserve = delegation.reserve();
  try {
    if (reserve?.tokens === 0) throw nothingLeft('tokens');
    if (reserve?.cost === 0) throw nothingLeft('cost');
    return await followPlan(handed, { context, delegation, reserve, ...options });
  } finally {
    reserve?.release();
  }
}

interface Following extends AgentToolOptions {
  readonly context: ToolContext;
  readonly delegation: Delegation;
  readonly reserve: Reserve | undefined;
}

async function followPlan(handed: Handed, following: Following): Promise<unknown> {
  const { context: { signal, principal: caller, toolCallId, inputLabel }, delegation, liveTexts } = following;
  const plans = following.plans();
  const principal = asDelegate(caller, handed.agentId);
  signal.throwIfAborted();
  const { planId } = await plans.start(startOf(handed, following), principal, { read: inputLabel ?? unlabelled });
  // AI SDK clients show a preliminary output until the next one, or the final one, takes its place.
  const show = (output: string): void =>
    delegation.show({ type: 'tool-output-available', toolCallId, output, preliminary: true });
  const silence = liveTexts.listen(planId, inGrowingPieces(show));
  /** The work has no use without the call that waits for it. */
  const stop = (): void => void plans.stop(planId, principal, { reason: 'caller_ended' }).catch(() => undefined);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await answerOf(plans.follow(planId, principal, { signal, throughWaits: true }), { planId, ...following });
  } catch (error) {
    stop();
    throw error;
  } finally {
    silence();
    signal.removeEventListener('abort', stop);
  }
}

/** The tool's definition names the agent, so its caller needs no right of its own to run it. No other agent is reached so. */
function asDelegate(caller: Principal, agentId: string): Principal {
  const agents = caller.agents === '*' ? '*' : [...new Set([...caller.agents, agentId])];
  return createPrincipal({ ...caller, agents, via: 'in-process' });
}

function startOf({ agentId, task }: Handed, { context: { span }, delegation, reserve, limits }: Following): PlanStart {
  return {
    goal: task,
    agentId,
    context: [],
    maxDepth: 0,
    allowHumanIntervention: true,
    callers: delegation.callers,
    timeout: limits.totalMs,
    budget: { steps: limits.steps + limits.toolCalls, ...budgetOf(reserve) },
    ...(span && { traceId: span.traceId, parentSpanId: span.spanId }),
  };
}

function budgetOf(reserve: Reserve | undefined): Readonly<Record<string, unknown>> {
  const { tokens = Infinity, cost: amount = Infinity, currency } = reserve ?? {};
  return {
    ...(tokens !== Infinity && { tokens }),
    ...(amount !== Infinity && { cost: currency === undefined ? amount : { amount, currency } }),
  };
}

/** Shows the plan in the caller's stream as it changes, with questions to people, and returns its result as text. */
async function answerOf(
  updates: AsyncIterable<PlanUpdate>,
  { planId, delegation, context: { toolCallId, label } }: Following & { readonly planId: string },
): Promise<string> {
  const counted = { tokens: 0, cost: 0 };
  for await (const update of updates) {
    if (update.type === 'end') {
      label?.(parseLabel(update.read));
      return textOf(update.end);
    }
    const { view } = update;
    delegation.used(newlyUsed(view, counted));
    delegation.show({ type: 'data-plan', id: planId, data: { ...view, toolCallId } });
  }
  throw stopped();
}

/** What the plan has used since the last view. */
function newlyUsed({ used: { tokens, cost }, currency }: PlanProgress, counted: { tokens: number; cost: number }) {
  const more = { tokens: tokens - counted.tokens, amount: cost - counted.cost };
  Object.assign(counted, { tokens, cost });
  return { tokens: more.tokens, cost: currency === undefined ? undefined : { amount: more.amount, currency } };
}

function textOf(end: PlanEnd): string {
  if (end.state === 'completed') return end.text;
  throw end.state === 'failed' ? fromData(end.error) : stopped();
}

function stopped(): PinnaceError {
  return new PinnaceError('cancelled', 'The agent was stopped before its answer');
}

function requireDepth({ callers }: Delegation, { agentId }: Handed): void {
  if (callers.length <= maxDepth) return;
  throw new PinnaceError(
    'budget_exceeded',
    `Cannot hand the task to agent "${agentId}": ${maxDepth} agents have handed it on already`,
    { details: { reason: 'agent_depth', maxDepth } },
  );
}

function nothingLeft(reason: 'tokens' | 'cost'): PinnaceError {
  const what = reason === 'tokens' ? 'tokens' : 'money';
  return new PinnaceError('budget_exceeded', `Cannot hand the task on: the run has no ${what} left for it`, {
    details: { reason },
  });
}

/**
 * Passes a growing text on whenever it has grown by an eighth, so that all that is passed on stays in proportion to it. The last word
 * is held back, so partial secrets cannot leak.
 */
function inGrowingPieces(show: (text: string) => void): (text: string) => void {
  let shown = 0;
  return (text) => {
    if (text.length < shown) shown = 0; // the next step
    const whole = text.slice(0, text.search(/\s\S*$/) + 1);
    if (whole.length - shown < Math.max(40, shown / 8)) return;
    shown = whole.length;
    show(whole);
  };
}
