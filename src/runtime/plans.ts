/** Runs that follow a plan. */

import type { UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';
import type { PlanEnd, Plans, PlanStart, PlanUpdate } from '../contracts/plans.ts';
import { PinnaceError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import { failed, type Loop, type Usage } from './loop/sdk-loop.ts';
import type { RunEnd } from './log/run-end.ts';
import type { RunRequest } from './run-request.ts';
import type { Span } from '../events/span.ts';

/** A plan that a run follows. */
export interface FollowedPlan {
  readonly planId: string;
  /** Gives the run's loop, which counts up what the plan uses. */
  follow(signal: AbortSignal, usage: Pick<Usage, 'steps' | 'totalTokens'>): Loop;
  /** Ends the plan with its run, unless only its reader has gone: a plan goes on by itself. */
  abandon(reason: unknown): void;
}

/**
 * Begins the plan that a request asks for, or finds the one that it names; `undefined` where it asks for none.
 *
 * @throws PinnaceError `invalid_argument` for terms that the planner does not take, for a last message without text, and where there
 * is no planner; `not_found` for an unknown plan.
 */
export async function takePlan(
  plans: Plans | undefined,
  request: RunRequest,
  { principal, key, span }: { principal: Principal; key: string | undefined; span: Pick<Span, 'traceId' | 'spanId'> },
): Promise<FollowedPlan | undefined> {
  const { planner } = request;
  if (planner === undefined) return undefined;
  if (!plans) throw refused('this runtime has no planner', 'no_planner');
  const planId = 'planId' in planner ? String(planner.planId) : await begin();
  await plans.view(planId, principal);
  return {
    planId,
    follow: (signal, usage) => loopOf(plans.follow(planId, principal, { signal }), { planId, usage }),
    abandon(reason) {
      if (reason === 'client_gone' || reason === 'runtime_closed' || reason === 'run_ended') return;
      const how = { reason: typeof reason === 'string' ? reason : 'cancelled' };
      const mustEnd = reason instanceof PinnaceError || reason === 'session_revoked';
      const ending = mustEnd ? plans.stop(planId, principal, how) : plans.cancel(planId, principal, how);
      void ending.catch(() => undefined); // its deadline ends it then
    },
  };

  async function begin(): Promise<string> {
    const start = { traceId: span.traceId, parentSpanId: span.spanId, ...planner, ...startOf(request) };
    // As the key of the run, the plan's belongs to the issuer.
    const options = key === undefined ? {} : { idempotencyKey: `run:${principal.session?.issuer ?? ''}:${key}` };
    return (await plans!.start(start, principal, options)).planId; // there is one, as was seen above
  }
}

/** How much of the chat so far a plan is told. */
const messagesTold = 20;
const textTold = 4000;

function startOf({ agentId, chat: { messages }, context }: RunRequest): PlanStart {
  const goal = textOf(messages.at(-1));
  if (goal === '') throw refused('its last message has no text, which would be the goal', 'no_goal');
  const before = messages.slice(-messagesTold - 1, -1).map((message) => {
    return { role: message.role, said: textOf(message).slice(0, textTold) };
  });
  return { agentId, goal, context: [...context, ...before.filter(({ said }) => said !== '')] };
}

function textOf(message: UIMessage | undefined): string {
  return (message?.parts ?? []).flatMap((part) => part.type === 'text' ? [part.text] : []).join('\n').trim();
}

function refused(why: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot plan: ${why}`, { details: { reason } });
}

/** The loop of a run that follows a plan: its chunks, then its end. */
function loopOf(
  updates: AsyncIterable<PlanUpdate>,
  { planId, usage }: { readonly planId: string; readonly usage: Pick<Usage, 'steps' | 'totalTokens'> },
): Loop {
  const reader = updates[Symbol.asyncIterator]();
  let end: RunEnd | undefined;
  return {
    async read() {
      if (end) return { end };
      const { done, value: update } = await reader.next();
      if (done) return { end: failed(new PinnaceError('internal', 'The plan was left before its end')) };
      if (update.type === 'view') {
        const { view } = update;
        usage.steps = view.used.steps;
        usage.totalTokens = view.used.tokens;
        return { chunks: [{ type: 'data-plan', id: planId, data: view }] };
      }
      end = toRunEnd(update.end);
      return { chunks: update.end.state === 'completed' ? textChunks(update.end.text) : [] };
    },
  };
}

function textChunks(text: string): readonly UIMessageChunk[] {
  const id = 'result';
  return [{ type: 'text-start', id }, { type: 'text-delta', id, delta: text }, { type: 'text-end', id }];
}

function toRunEnd(end: PlanEnd): RunEnd {
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
