/** The plan of an answer: its current view, and the answers to its questions. */

import { isEnded, isOver } from '../../plan/state/plan-data.ts';
import type { PlanPart } from '../../plan/state/plan-data.ts';
import { batch, signal } from '@preact/signals';
import { scriptedLabel } from '../../kit/model-name.ts';
import type { AssistantMessage, Part } from './message.ts';
import type { PlanReply, PlanView } from '../../plan/state/plan-data.ts';

/** A plan part. */
export function createPlanPart(
  view: PlanView,
  { at = 0, replies = {} }: {
    readonly at?: number | undefined;
    readonly replies?: Readonly<Record<string, PlanReply>>;
  } = {},
): PlanPart {
  return { type: 'plan', planId: view.planId, view: signal(view), at: signal(at), replies: signal(replies) };
}

/** Updates the plan in the answer, or adds it. The scripted demo uses no tokens. */
export function receivePlan(
  { parts, model }: AssistantMessage,
  received: PlanView,
  { at, add }: { readonly at: number; readonly add: (part: Part) => void },
): void {
  const view = model === scriptedLabel ? withoutTokens(received) : received;
  const known = parts.value.find((part): part is PlanPart => part.type === 'plan' && part.planId === view.planId);
  const part = known ?? createPlanPart(view);
  batch(() => {
    part.view.value = view;
    part.at.value = at;
  });
  if (!known) add(part);
}

function withoutTokens(view: PlanView): PlanView {
  const tasks = view.tasks.map((task) => task.used ? { ...task, used: { ...task.used, tokens: 0 } } : task);
  return { ...view, tasks, used: { ...view.used, tokens: 0 } };
}

/** Shows the answer's plan as cancelled: stopping the run stops its plan before the final view arrives. */
export function cancelPlan(message: AssistantMessage): void {
  const part = planOf(message);
  if (!part || isOver(part.view.value)) return;
  const view = part.view.value;
  const tasks = view.tasks.map((task) => isEnded(task) ? task : { ...task, status: 'cancelled' as const });
  const { waiting = 0, ready = 0, cancelled = 0 } = view.counts;
  const counts = { ...view.counts, waiting: 0, ready: 0, cancelled: cancelled + waiting + ready };
  part.view.value = { ...view, state: 'cancelled', tasks, counts, questions: [] };
}

/** The plan that the answer shows last. */
export function planOf({ parts }: AssistantMessage): PlanPart | undefined {
  return parts.value.findLast((part): part is PlanPart => part.type === 'plan');
}

/** The plan with which the answer can continue: its end was not received. */
export function planToFollow(message: AssistantMessage): PlanPart | undefined {
  const part = planOf(message);
  return part && !isOver(part.view.value) ? part : undefined;
}
