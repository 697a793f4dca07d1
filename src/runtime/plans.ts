/** Runs that follow a plan: what the runtime is given of a planner, and how a plan's stream becomes a run's. */

import type { UIMessage, UIMessageChunk } from '../contracts/ai-types.ts';
import { type ErrorData, PinnaceError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import { failed, type Loop, type Usage } from './loop/sdk-loop.ts';
import type { RunEnd } from './log/run-end.ts';
import type { RunRequest } from './run-request.ts';
import type { Span } from '../events/span.ts';

/** What the runtime is given of a planner. */
export interface Plans {
  /** Begins a plan, and gives its id; the same key with the same request is the same plan. */
  start(
    request: PlanErrand,
    principal: Principal,
    options: { readonly idempotencyKey?: string },
  ): Promise<{ readonly planId: string }>;
  /** Rejects with `not_found` for a plan that is not there for this principal. */
  view(planId: string, principal: Principal): Promise<unknown>;
  /**
   * `data-plan` parts, the result as text, and one end, after a `data-run` that says more of it. An abort ends the stream alone. With
   * `throughWaits` a question to a person ends nothing.
   */
  stream(
    planId: string,
    principal: Principal,
    options: { readonly signal: AbortSignal; readonly throughWaits?: boolean },
  ): ReadableStream<UIMessageChunk>;
  /** Cancels it, as somebody wants; the permission hook may refuse. */
  cancel(planId: string, principal: Principal, options: { readonly reason: string }): Promise<void>;
  /** Cancels it, whatever the caller may do: its agent or its session are no more, or its time is over. */
  stop(planId: string, principal: Principal, options: { readonly reason: string }): Promise<void>;
  /** Answers a question of a plan, which then goes on. */
  reply(planId: string, principal: Principal, reply: PlanReply): Promise<unknown>;
  /** Leaves all plans to other processes. */
  close(): Promise<void>;
}

/** What a person answers to a question; for a tool call, `{ approved, reason? }`. */
export interface PlanReply {
  readonly askId: string;
  readonly answer: unknown;
}

/** What a plan is asked for. The planner reads the terms of the request, and refuses what it does not know. */
interface PlanErrand extends Readonly<Record<string, unknown>> {
  readonly goal: string;
  readonly agentId: string;
  readonly context: readonly unknown[];
}

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
    follow: (signal, usage) => loopOf(plans.stream(planId, principal, { signal }), usage),
    abandon(reason) {
      if (reason === 'client_gone' || reason === 'runtime_closed' || reason === 'run_ended') return;
      const how = { reason: typeof reason === 'string' ? reason : 'cancelled' };
      const mustEnd = reason instanceof PinnaceError || reason === 'session_revoked';
      const ending = mustEnd ? plans.stop(planId, principal, how) : plans.cancel(planId, principal, how);
      void ending.catch(() => undefined); // its deadline ends it then
    },
  };

  async function begin(): Promise<string> {
    const errand = { traceId: span.traceId, parentSpanId: span.spanId, ...planner, ...errandOf(request) };
    // As the key of the run, the plan's belongs to the issuer.
    const options = key === undefined ? {} : { idempotencyKey: `run:${principal.session?.issuer ?? ''}:${key}` };
    return (await plans!.start(errand, principal, options)).planId; // there is one, as was seen above
  }
}

/** How much of the chat so far a plan is told. */
const messagesTold = 20;
const textTold = 4000;

function errandOf({ agentId, chat: { messages }, context }: RunRequest): PlanErrand {
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

/** The chunks of a plan's stream are the run's, but for those that open and close every run. */
function loopOf(stream: ReadableStream<UIMessageChunk>, usage: Pick<Usage, 'steps' | 'totalTokens'>): Loop {
  const reader = stream.getReader();
  let told: { readonly state?: unknown; readonly error?: ErrorData } = {};
  return {
    async read() {
      const { done, value: chunk } = await reader.read();
      if (done) return { end: failed(new PinnaceError('internal', 'The plan was left before its end')) };
      if (chunk.type === 'start') return { chunks: [] };
      if (chunk.type === 'data-run') {
        told = chunk.data as typeof told; // the planner's own
        return { chunks: [] };
      }
      if (chunk.type === 'data-plan') countUsed(chunk.data, usage);
      const end = endOf(chunk, told);
      return end ? { end } : { chunks: [chunk] };
    },
  };
}

/** A plan counts from its beginning, whichever run looks at it. */
function countUsed(view: unknown, usage: Pick<Usage, 'steps' | 'totalTokens'>): void {
  const { used } = view as { readonly used: { readonly steps: number; readonly tokens: number } }; // the planner's own
  usage.steps = used.steps;
  usage.totalTokens = used.tokens;
}

function endOf(
  chunk: UIMessageChunk,
  { state, error }: { readonly state?: unknown; readonly error?: ErrorData },
): RunEnd | undefined {
  switch (chunk.type) {
    case 'finish':
      return state === 'suspended'
        ? { type: 'suspended', finishReason: 'other' }
        : { type: 'completed', finishReason: 'stop' };
    case 'abort':
      return { type: 'cancelled', reason: chunk.reason ?? 'cancelled' };
    case 'error':
      return error ? { type: 'failed', error } : failed(new PinnaceError('internal', 'The plan has failed'));
    default:
      return undefined;
  }
}
