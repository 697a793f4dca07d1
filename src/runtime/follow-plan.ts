/** Starts and follows the plan of a run. Loaded on demand. */

import type { UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';
import type { PlanEnd, Plans, PlanStart, PlanUpdate } from '../contracts/plans.ts';
import { waitAtMost } from '../base/until-aborted.ts';
import { PinnaceError } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
import type { Principal } from '../base/principal.ts';
import { type Loss, lostChunks, lostError } from '../tools/call-ends.ts';
import { endOfAbort, failed } from './loop.ts';
import { type Loop, lossAt, type RunEnd } from './run-record.ts';
import type { RunRequest } from './run-request.ts';
import type { FollowedPlan, FollowingRun } from './run-context.ts';
import { noPlan, type PlanOwner } from './start-run.ts';

/** How long an aborted run waits for its plan to be cancelled. */
const settleMs = 2000;

/** Starts the plan that a request defines, or finds the one that it names. @throws PinnaceError as `takePlan`. */
export async function findPlan(
  plans: Plans,
  { request, planner, principal, agent, limits, key, span, signal }: PlanOwner & {
    readonly request: RunRequest;
    readonly planner: NonNullable<RunRequest['planner']>;
  },
): Promise<FollowedPlan> {
  const isOverHttp = principal.via === 'http';
  const { background = false, ...terms } = planner as Readonly<Record<string, unknown>>; // as the planner reads them
  if (typeof background !== 'boolean') throw noPlan('"background" must be true or false', 'plan_background');
  const isStarted = !('planId' in planner);
  const planId = isStarted ? await start(terms) : String(planner.planId);
  await plans.view(planId, principal);
  return followed(plans, { planId, principal, endsWithReader: isOverHttp && isStarted && !background });

  async function start(own: Readonly<Record<string, unknown>>): Promise<string> {
    const bounded = withBudget(own, request.budget);
    const given = { traceId: span.traceId, parentSpanId: span.spanId, ...bounded, ...startOf(request) };
    // As the key of the run, the plan's belongs to the issuer.
    const keyed = key === undefined ? {} : { idempotencyKey: `run:${principal.session?.issuer ?? ''}:${key}` };
    const bounds = [agent.limits, request.limits, isOverHttp ? limits : undefined];
    return (await plans.start(given, principal, { ...keyed, bounds, signal })).planId;
  }
}

/** The budget of a request is that of the plan that it starts, unless the plan's terms say another. */
function withBudget(
  planner: Readonly<Record<string, unknown>> | undefined,
  budget: RunRequest['budget'],
): Readonly<Record<string, unknown>> {
  const own = planner?.['budget'];
  return budget ? { ...planner, budget: isRecord(own) ? { ...budget, ...own } : own ?? budget } : { ...planner };
}

function followed(
  plans: Plans,
  { planId, principal, endsWithReader }: {
    readonly planId: string;
    readonly principal: Principal;
    readonly endsWithReader: boolean;
  },
): FollowedPlan {
  const left = new AbortController();
  const ended = Promise.withResolvers<void>();
  const cancel = (reason: unknown): Promise<void> => {
    const how = { reason: typeof reason === 'string' ? reason : 'cancelled' };
    const mustEnd = reason instanceof PinnaceError || reason === 'session_revoked' || reason === 'client_gone';
    return mustEnd ? plans.stop(planId, principal, how) : plans.cancel(planId, principal, how);
  };
  return {
    planId,
    follow: (run) => {
      // A run that ends by itself abandons nothing, and must not leave the plan's watchers behind.
      const stop = (): void => void (run.signal.reason === 'run_ended' && left.abort());
      run.signal.addEventListener('abort', stop, { once: true });
      const updates = plans.follow(planId, principal, { signal: left.signal });
      const onEnd = (): void => {
        ended.resolve();
        left.abort(); // the plan may go on; this run no longer watches it
      };
      return loopOf(updates, { ...run, planId, onEnd });
    },
    async abandon(reason) {
      const isLeft = (reason === 'client_gone' && !endsWithReader) || reason === 'runtime_closed' ||
        reason === 'run_ended';
      // A cancellation that fails leaves the plan to its deadline.
      const isCancelled = !isLeft && await cancel(reason).then(() => true, () => false);
      if (isCancelled) await waitAtMost(settleMs, ended.promise);
      left.abort();
    },
    async settled(signal) {
      await plans.outcome(planId, principal, { signal }).catch(() => undefined); // a plan that cannot be read counts no longer
    },
  };
}

/** How much of the chat so far goes to a plan. */
const maxMessages = 20;
const maxMessageLength = 4000;

function startOf({ agentId, chat: { messages }, context }: RunRequest): PlanStart {
  const last = messages.at(-1);
  const goal = textOf(last);
  if (last?.parts.some(({ type }) => type === 'file')) {
    throw noPlan('its last message has a file, and plans read only text', 'plan_attachment');
  }
  if (goal === '') throw noPlan('its last message has no text, which would be the goal', 'no_goal');
  const before = messages.slice(-maxMessages - 1, -1).map((message) => {
    return { role: message.role, said: textOf(message).slice(0, maxMessageLength).toWellFormed() };
  });
  return { agentId, goal, context: [...context, ...before.filter(({ said }) => said !== '')] };
}

function textOf(message: UIMessage | undefined): string {
  return (message?.parts ?? []).flatMap((part) => part.type === 'text' ? [part.text] : []).join('\n').trim();
}

function loopOf(
  updates: AsyncIterable<PlanUpdate>,
  { planId, usage, signal, traceId, onEnd }: FollowingRun & { readonly planId: string; readonly onEnd: () => void },
): Loop {
  const reader = updates[Symbol.asyncIterator]();
  let end: RunEnd | undefined;
  return {
    async read() {
      if (end) onEnd();
      if (end) return { end };
      const { done, value: update } = await reader.next();
      if (done) return { end: signal.aborted ? endOfAbort(signal) : leftEarly() };
      if (update.type === 'view') {
        const { view } = update;
        usage.steps = view.used.steps;
        usage.totalTokens = view.used.tokens;
        if (view.currency === undefined) delete usage.cost;
        else usage.cost = { amount: view.used.cost, currency: view.currency };
        return { chunks: [{ type: 'data-plan', id: planId, data: view }] };
      }
      end = toRunEnd(update.end, signal);
      return { chunks: endChunks(update.end, { planId, traceId, loss: lossAt(end) }) };
    },
  };
}

function leftEarly(): RunEnd {
  return failed(new PinnaceError('internal', 'The plan was left before its end'));
}

function endChunks(
  end: PlanEnd,
  { planId, traceId, loss }: { readonly planId: string; readonly traceId: string; readonly loss: Loss },
): readonly UIMessageChunk[] {
  if (end.state === 'suspended') return [];
  if (end.state === 'completed') return textChunks(end.text);
  return end.unknownCalls.flatMap(({ id, tool, input }): UIMessageChunk[] => {
    // Providers allow few characters in an id, and at most 40 of them.
    const toolCallId = `${planId.slice(5, 21)}_${id}`.replace(/[^\w-]/g, '_').slice(0, 40);
    const open = { toolCallId, tool, isComplete: true };
    const error = lostError(open, { loss, mayHaveActed: true });
    return [
      { type: 'tool-input-available', toolCallId, toolName: tool, input },
      ...lostChunks(open, { error, traceId }),
    ];
  });
}

function textChunks(text: string): readonly UIMessageChunk[] {
  const id = 'result';
  return [{ type: 'text-start', id }, { type: 'text-delta', id, delta: text }, { type: 'text-end', id }];
}

function toRunEnd(end: PlanEnd, signal: AbortSignal): RunEnd {
  if (signal.aborted) return endOfAbort(signal);
  switch (end.state) {
    case 'completed':
      return { type: 'completed', finishReason: 'stop' };
    case 'suspended':
      return { type: 'suspended', finishReason: 'other' };
    case 'cancelled':
      return { type: 'cancelled', reason: end.reason };
    case 'failed':
      return { type: 'failed', error: end.error };
    default:
      return end satisfies never;
  }
}
