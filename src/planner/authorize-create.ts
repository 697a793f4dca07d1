/** Asks whether an agent may create the sub-agents that it wants. */

import { PinnaceError } from '../base/errors.ts';
import { callHook } from '../permission/authorize.ts';
import { createPrincipal } from '../base/principal.ts';
import type { Authorization, Authorize } from '../contracts/authenticator.ts';
import type { SpanContext } from '../events/span.ts';
import type { ActionInput, TaskInput } from './action.ts';
import type { PlanOwner, StepOutcome } from './run-agent.ts';

/** The creator of a sub-agent, and its principal. */
export interface Creator {
  readonly planId?: string;
  readonly owner: PlanOwner;
  /** `1` for the tasks of a given plan; the empty text for the first agent, which the owner creates. */
  readonly address: string;
  readonly agentId?: string;
}

/** What is known of a sub-agent before it is made. */
export type CreateFacts = Pick<TaskInput, 'goal' | 'agentId' | 'role' | 'tools'>;

/** Decides on one sub-agent, called before it is made. An error and the decision `ask` both deny. */
export type AuthorizeCreate = (creator: Creator, child: CreateFacts) => Authorization | Promise<Authorization>;

/** Asks the permission hook about sub-agents: the action `planner.create` on the agent that is to do the work. */
export function authorizeByHook(authorize: Authorize): AuthorizeCreate {
  return ({ owner, agentId }, child) => {
    const resource = { type: 'agent', id: child.agentId ?? agentId ?? '' };
    const principal = createPrincipal({ ...owner, via: 'in-process' });
    return authorize('planner.create', principal, resource, {
      input: child,
      ...(agentId !== undefined && { agentId }),
    });
  };
}

/** Nothing is denied. */
export const noneDenied: ReadonlyMap<number, string> = new Map();

/** The actions of a step that are denied, by their place, each with the reason. */
export async function deniedCreates(
  outcome: StepOutcome,
  authorize: AuthorizeCreate,
  creator: Creator,
): Promise<ReadonlyMap<number, string>> {
  const actions = outcome.type === 'next' ? outcome.actions ?? [] : [];
  const denied = new Map<number, string>();
  for (const [index, action] of actions.entries()) {
    const reason = isCreate(action) ? await reasonAgainst(authorize, creator, action) : undefined;
    if (reason !== undefined) denied.set(index, reason);
  }
  return denied;
}

/**
 * Checks the first agents of a plan: its root, and its tasks where they are given.
 *
 * @throws PinnaceError `forbidden` for the first that is denied.
 */
export async function requireFirst(
  { first, tasks }: { readonly first: CreateFacts; readonly tasks: readonly CreateFacts[] },
  { authorize, owner, spanContext }: {
    readonly authorize: AuthorizeCreate;
    readonly owner: PlanOwner;
    /** Where a refusal is emitted. */
    readonly spanContext: SpanContext;
  },
): Promise<void> {
  const { agentId } = first;
  const mayCreate = async (creator: Creator, child: CreateFacts): Promise<void> => {
    const reason = await reasonAgainst(authorize, creator, child);
    if (reason === undefined) return;
    emitDenied(spanContext, child.agentId ?? agentId);
    throw new PinnaceError('forbidden', `Cannot start the plan: ${reason}`, { details: { reason: 'not_authorized' } });
  };
  await mayCreate({ owner, address: '' }, first);
  const leader = { owner, address: '1', ...(agentId !== undefined && { agentId }) };
  for (const task of tasks) await mayCreate(leader, task);
}

/** Emits that an agent was not created. */
export function emitDenied(spanContext: SpanContext, agentId = ''): void {
  const { code, message, retryable, details } = new PinnaceError('forbidden', 'Cannot create the agent', {
    details: { reason: 'not_authorized' },
  });
  spanContext.emit({
    action: 'planner.create',
    target: { type: 'agent', id: agentId.slice(0, 128) },
    status: 'denied',
    error: { code, message, retryable, ...(details && { details }) },
  });
}

/** Actions are not parsed yet: a model may have said anything. */
function isCreate(action: ActionInput | undefined): action is ActionInput & { type: 'create' } {
  return action?.type === 'create';
}

async function reasonAgainst(
  authorize: AuthorizeCreate,
  creator: Creator,
  { goal, agentId, role, tools }: CreateFacts,
): Promise<string | undefined> {
  const child = {
    goal,
    ...(agentId !== undefined && { agentId }),
    ...(role !== undefined && { role }),
    ...(tools !== undefined && { tools }),
  };
  const ruling = await callHook(() => authorize(creator, child));
  return ruling.decision === 'allow' ? undefined : ruling.reason;
}
